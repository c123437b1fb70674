"""Decides how a server is spoken to over HTTP: one call, one connection. Nothing else of the cluster does so."""

import errno
import os
import select
import socket
import ssl
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

STEP_S = 10.0
"""How long a single read or write of `post` may block once the socket is ready for it."""

UNHEARD = (OSError, HTTPException)
"""What a call raises when no answer came."""

_READ_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Page:
    """An answer; `server` is its header of that name, `body` as much as was asked for."""

    status: int
    server: str
    body: bytes


def get(url: str, path: str, timeout_s: float, headers: Mapping[str, str] | None = None, most_bytes: int = 0) -> Page:
    """One GET; raises one of `UNHEARD`. Connecting and each read may take `timeout_s`."""
    connection = _connection(url, timeout_s)
    try:
        connection.request("GET", urlsplit(url).path + path, headers=dict(headers or {}))
        response = connection.getresponse()
        body = response.read(most_bytes) if most_bytes else b""
        return Page(response.status, response.headers.get("Server", ""), body)
    finally:
        connection.close()


def post(
    url: str, path: str, body: bytes, headers: Mapping[str, str], timeout_s: float, tick_s: float
) -> Generator[Page | None]:
    """One POST: yields None at least every `tick_s` while it is under way, and the whole answer last.

    Raises one of `UNHEARD`, a TimeoutError after `timeout_s` in all. Closing it hangs up.
    """
    deadline_s = time.monotonic() + timeout_s
    connection = _connection(url, min(timeout_s, STEP_S))
    fields = {"Content-Type": "application/json", "Connection": "close", **headers}
    answer = b""
    try:
        yield from _connect(connection, deadline_s, tick_s)
        connection.request("POST", urlsplit(url).path + path, body, fields)
        yield from _until(connection.sock.fileno(), select.POLLIN, deadline_s, tick_s)
        response = connection.getresponse()
        while not response.isclosed():
            yield from _until(response.fileno(), select.POLLIN, deadline_s, tick_s)
            chunk = response.read1(_READ_BYTES)
            if not chunk:
                break
            answer += chunk
        yield Page(response.status, response.headers.get("Server", ""), answer)
    finally:
        connection.close()


def why(error: Exception) -> str:
    """The error's own words, its class where it has none."""
    return str(error) or type(error).__name__


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
