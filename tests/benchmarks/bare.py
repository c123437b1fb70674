"""The least that a client can do, for scale: a gevent socket, lines split, `json.loads` on each data line."""

import json
import socket
from dataclasses import dataclass
from time import perf_counter
from urllib.parse import urlsplit

from tests.benchmarks import payload


@dataclass(frozen=True, slots=True)
class BareStream:
    """What one stream gave: events that are JSON, and the first of them with the perf_counter value of its read."""

    events: int
    first_at: float
    first_line: bytes

    @property
    def first_error_s(self) -> float:
        """How much later than its send the first token was seen."""
        return self.first_at - int(json.loads(self.first_line)["choices"][0]["delta"]["content"]) / 1e9


def read(url: str) -> BareStream:
    """One request and its whole answer. Cuts nothing but lines, so only answers without chunks are understood."""
    place = urlsplit(url)
    events, first_at, first_line, pending = 0, 0.0, b"", b""
    with socket.create_connection((place.hostname or "", place.port or 80)) as sock:
        sock.sendall(_REQUEST)
        while data := sock.recv(65536):
            at = perf_counter()
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                if line.startswith(b"data: {"):
                    json.loads(line[6:])
                    if not events:
                        first_at, first_line = at, line[6:]
                    events += 1
    return BareStream(events, first_at, first_line)


def _request() -> bytes:
    body = json.dumps({"model": "default_model", "messages": [{"role": "user", "content": "x"}], "stream": True})
    head = f"POST {payload.PATH}/v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    return (head + body).encode()


_REQUEST = _request()
