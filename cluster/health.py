"""Decides over HTTP, and alone does so, whether a server is up and whether it can answer a turn."""

import errno
import json
import os
import select
import socket
import ssl
import time
from collections.abc import Generator, Iterator, Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from itertools import cycle, islice
from math import ceil
from urllib.parse import urlsplit

from locust_agents.cluster.heartbeat import Sign
from locust_agents.cluster.policy import Health, TurnResult

WORDS = ("return", "value", "class", "import", "result", "self", "name", "list")
"""Words that are one token each, with the space before them, in tokenizers trained on code."""

STEP_S = 10.0
"""How long a single read or write may block once the socket is ready for it."""

STEPS = 2.2
"""Prefill steps in the ready turn: two whole ones, and some room for a tokenizer that joins words."""


def health(url: str, timeout_s: float) -> Health:
    """What GET /health says. WELL only means that the generation thread lives: it may still be loading, or hang."""
    connection = _connection(url, timeout_s)
    try:
        connection.request("GET", urlsplit(url).path + "/health")
        status = connection.getresponse().status
    except (OSError, HTTPException):
        return Health.SILENT
    finally:
        connection.close()
    return Health.DEAD if status == 503 else Health.WELL


def sign(url: str, timeout_s: float, headers: Mapping[str, str] | None = None) -> Sign:
    """The same of a server that is in use, ours or not: a refusal is told from silence, and 503 from 503."""
    connection = _connection(url, timeout_s)
    try:
        connection.request("GET", urlsplit(url).path + "/health", headers=dict(headers or {}))
        response = connection.getresponse()
        body = response.read(4096)
    except ConnectionRefusedError:
        return Sign.REFUSED
    except (OSError, HTTPException):
        return Sign.SLOW
    finally:
        connection.close()
    if response.status in (502, 503):
        return Sign.DEAD if b'"unavailable"' in body else Sign.UNWELL
    return Sign.ABSENT if 400 <= response.status < 500 else Sign.WELL


def ready_turn(
    url: str, model_name: str, prefill_step_size: int, timeout_s: float, tick_s: float = 0.25
) -> Iterator[TurnResult | None]:
    """Sends a real streamed turn of two prefill steps and eight tokens.

    Yields None at least every `tick_s` while the answer is on its way, so that the caller can look after other things,
    and the result last.
    """
    yield from _turn(url, ready_body(model_name, prefill_step_size), {}, timeout_s, tick_s)


def probe_turn(
    url: str, model_name: str, timeout_s: float, tick_s: float = 0.05, headers: Mapping[str, str] | None = None
) -> Generator[TurnResult | None]:
    """Asks for a sign of life: a streamed turn of a few words and one token, in ticks as `ready_turn`.

    Let it end: a server that batches nothing (--kv-bits, two ranks) may hang for good when it is left in the middle.
    """
    return _turn(url, probe_body(model_name), headers or {}, timeout_s, tick_s)


def probe_body(model_name: str) -> bytes:
    """The request's JSON, the same each time, so that it takes one place in the prompt cache at most."""
    return _body(model_name, "Are you there?", max_tokens=1)


def ready_body(model_name: str, prefill_step_size: int) -> bytes:
    """The request's JSON, about 2.2 prefill steps long; no `seed`, since that would keep it out of the batch."""
    prompt = " ".join(islice(cycle(WORDS), ceil(STEPS * prefill_step_size)))
    return _body(model_name, prompt, max_tokens=8)


def judge(status: int, answer: bytes) -> TurnResult:
    """Whether the bytes are a whole answer: status 200, a finish_reason and [DONE]."""
    text = answer.decode(errors="replace")
    if status != 200:
        return TurnResult(False, f"status {status}, {_shorten(text)}", refused=True)
    data = [line.removeprefix("data:").strip() for line in text.splitlines() if line.startswith("data:")]
    try:
        events = [dict(json.loads(item)) for item in data if item != "[DONE]"]
    except (ValueError, TypeError):
        return TurnResult(False, f"an event that is no JSON object, {_shorten(text)}", refused=True)
    finished = any(choice.get("finish_reason") for event in events for choice in event.get("choices", ()))
    tokens = [event["usage"]["prompt_tokens"] for event in events if event.get("usage")]
    if not finished or "[DONE]" not in data:
        return TurnResult(False, f"the answer ends too early, {_shorten(text)}")
    return TurnResult(True, prompt_tokens=tokens[-1] if tokens else None)


def _body(model_name: str, prompt: str, max_tokens: int) -> bytes:
    body = {
        "model": model_name,
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    return json.dumps(body).encode()


def _turn(
    url: str, body: bytes, headers: Mapping[str, str], timeout_s: float, tick_s: float
) -> Generator[TurnResult | None]:
    deadline_s = time.monotonic() + timeout_s
    connection = _connection(url, min(timeout_s, STEP_S))
    fields = {"Content-Type": "application/json", "Connection": "close", **headers}
    answer = b""
    try:
        yield from _connect(connection, deadline_s, tick_s)
        connection.request("POST", urlsplit(url).path + "/v1/chat/completions", body, fields)
        yield from _until(connection.sock.fileno(), select.POLLIN, deadline_s, tick_s)
        response = connection.getresponse()
        while not response.isclosed():
            yield from _until(response.fileno(), select.POLLIN, deadline_s, tick_s)
            chunk = response.read1(65_536)
            if not chunk:
                break
            answer += chunk
        yield judge(response.status, answer)
    except (OSError, HTTPException) as error:
        yield TurnResult(False, f"{error or type(error).__name__}")
    finally:
        connection.close()


def _connect(connection: HTTPConnection, deadline_s: float, tick_s: float) -> Generator[None]:
    """As `connection.connect`, but in ticks: a host that is off says nothing for minutes."""
    found = socket.getaddrinfo(connection.host, connection.port, type=socket.SOCK_STREAM)
    family, kind, protocol, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    connection.sock = sock = socket.socket(family, kind, protocol)
    sock.setblocking(False)
    code = sock.connect_ex(address)
    if code == errno.EINPROGRESS:
        yield from _until(sock.fileno(), select.POLLOUT, deadline_s, tick_s)
        code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if code:
        raise OSError(code, os.strerror(code))
    sock.settimeout(connection.timeout)
    if isinstance(connection, HTTPSConnection):
        connection.sock = ssl.create_default_context().wrap_socket(sock, server_hostname=connection.host)


def _until(descriptor: int, event: int, deadline_s: float, tick_s: float) -> Generator[None]:
    waiting = select.poll()  # select() cannot watch descriptors above 1023, of which a large swarm has many
    waiting.register(descriptor, event)
    while not waiting.poll(tick_s * 1000):
        if time.monotonic() >= deadline_s:
            raise TimeoutError("no whole answer in time")
        yield None


def _connection(url: str, timeout_s: float) -> HTTPConnection:
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    return kind(parts.hostname or "", parts.port, timeout=timeout_s)


def _shorten(text: str) -> str:
    return repr(text[-200:]) if text else "no text"
