"""Sends one request and stamps what comes back, phase by phase. The stamps are taken before anything is decoded."""

import http.client
import socket
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from locust_agents.answers.stream import Answer, StreamReader
from locust_agents.answers.whole_answer import BodyReader
from locust_agents.locustfiles.alarm import Alarm, TimeUp
from locust_agents.outcome import Ending, Outcome
from locust_agents.patience import Patience

Api = Literal["chat", "completions"]

_PATHS: Mapping[Api, str] = {"chat": "/v1/chat/completions", "completions": "/v1/completions"}
# One read takes whatever has arrived, up to this; waiting for a full buffer would make every token late.
_READ_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Target:
    """A server, its name already resolved, so that no turn waits for the resolver."""

    base: SplitResult
    family: socket.AddressFamily
    address: tuple[str, int]

    def path(self, api: Api) -> str:
        """Where this server is asked for it."""
        return f"{self.base.path}{_PATHS[api]}"


def resolve(base_url: str) -> Target:
    """Looks the name up, IPv4 first; raises OSError where there is no such name."""
    base = urlsplit(base_url.rstrip("/"))
    port = base.port or (443 if base.scheme == "https" else 80)
    found = socket.getaddrinfo(base.hostname, port, type=socket.SOCK_STREAM)
    family, _, _, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    return Target(base, family, (str(address[0]), int(address[1])))


@dataclass(slots=True)
class Exchange:
    """One attempt, as far as it has come. Seconds are counted from `started`, a perf_counter value.

    The reader is that of what is asked for: a `BodyReader` where the request says that it wants no stream.
    """

    started: float
    api: Api = "chat"
    connect_s: float | None = None
    sent_s: float | None = None
    headers_s: float | None = None
    http_status: int | None = None
    request_bytes: int = 0
    ending: Ending = Ending()
    reader: StreamReader | BodyReader = field(default_factory=StreamReader)
    alarm: Alarm | None = None

    @property
    def answer(self) -> Answer:
        """What was said."""
        return self.reader.answer

    def closed(self, is_early: bool = False) -> None:
        """The server has closed, `is_early`: before the length that it had announced. A stream tells that itself."""
        if is_early and isinstance(self.reader, BodyReader):
            self.reader.cut()
        else:
            self.reader.close()

    def give_up(self, outcome: Outcome, why: str) -> None:
        """Ends it from another greenlet, since the server is known to answer no more; one that is over stays so."""
        if self.alarm is not None:
            self.alarm.ring(TimeUp(outcome, why))

    def now_s(self) -> float:
        """Seconds since the start."""
        return perf_counter() - self.started


Notice = Callable[[Exchange], None]


def perform(
    exchange: Exchange, target: Target, headers: Mapping[str, str], body: bytes, patience: Patience, notice: Notice
) -> None:
    """Fills `exchange` from connect to the end; network errors and deadlines become its `ending`, never raised.

    `notice` is called after each read. What does get raised (a greenlet's end) leaves what was measured in place.
    """
    connection = _connection(target)
    exchange.alarm = alarm = Alarm(exchange.started)
    try:
        alarm.set(patience.connecting())
        _connect(exchange, connection, target)
        alarm.set(patience.waiting(exchange.now_s()))
        _send(exchange, connection, target, headers, body)
        alarm.set(patience.waiting(exchange.sent_s or 0.0))
        _read(exchange, connection, patience, notice, alarm)
    except TimeUp as time_up:
        why = time_up.why
        passed = patience.ending(time_up.outcome, exchange.headers_s is not None)
        exchange.ending = passed if why is None else Ending(time_up.outcome, why)
    except http.client.IncompleteRead:  # in mid-chunk
        exchange.closed(is_early=True)
    except (OSError, http.client.HTTPException) as error:
        if exchange.http_status is None or exchange.http_status < 300:
            exchange.ending = _ending_of(error, exchange)
        else:
            exchange.closed()  # a refusal is what the turn ended with, however its words were broken off
    finally:
        alarm.stop()
        connection.close()


def _connection(target: Target) -> http.client.HTTPConnection:
    host, port = target.base.hostname or "", target.address[1]
    if target.base.scheme == "https":
        return http.client.HTTPSConnection(host, port)
    return http.client.HTTPConnection(host, port)


def _connect(exchange: Exchange, connection: http.client.HTTPConnection, target: Target) -> None:
    sock = socket.socket(target.family, socket.SOCK_STREAM)
    connection.sock = sock
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.connect(target.address)
    if target.base.scheme == "https":
        context = ssl.create_default_context()
        connection.sock = context.wrap_socket(sock, server_hostname=target.base.hostname)
    exchange.connect_s = exchange.now_s()


def _send(
    exchange: Exchange,
    connection: http.client.HTTPConnection,
    target: Target,
    headers: Mapping[str, str],
    body: bytes,
) -> None:
    exchange.request_bytes = len(body)
    wanted = "text/event-stream" if exchange.answer.is_streamed else "application/json"
    fields = {"Content-Type": "application/json", "Accept": wanted, **headers}
    connection.request("POST", target.path(exchange.api), body, fields)
    exchange.sent_s = exchange.now_s()


def _read(
    exchange: Exchange, connection: http.client.HTTPConnection, patience: Patience, notice: Notice, alarm: Alarm
) -> None:
    sock = connection.sock  # http.client lets go of it when the answer has no length
    response = connection.getresponse()
    started, sent_s = exchange.started, exchange.sent_s or 0.0
    exchange.headers_s = headers_s = exchange.now_s()
    exchange.http_status = response.status
    answer, reader = exchange.answer, exchange.reader
    read: Callable[[int], bytes] = response.read1
    try:
        while not answer.is_over:
            alarm.set(patience.reading(sent_s, headers_s, answer))
            data = read(_READ_BYTES)
            at_s = perf_counter() - started
            if not data:
                break
            reader.feed(data, at_s)
            notice(exchange)
            if patience.has_left(answer):
                raise TimeUp(Outcome.ABANDONED)
            if not response.chunked and response.length is None:
                # the first read took what had come with the headers; from here on the socket itself is cheaper
                read = sock.recv
        exchange.closed(is_early=bool(response.length))
    finally:
        response.close()
    if not answer.is_streamed:
        notice(exchange)  # its only token came with its end


def _ending_of(error: Exception, exchange: Exchange) -> Ending:
    text = str(error) or type(error).__name__
    if isinstance(error, ConnectionError) and not isinstance(error, ConnectionRefusedError):
        return Ending(Outcome.RESET, text)
    if isinstance(error, http.client.HTTPException):
        return Ending(Outcome.BAD_PROTOCOL, f"not HTTP: {type(error).__name__}: {text}"[:200])
    if exchange.connect_s is not None:
        return Ending(Outcome.RESET, text)
    # the system's own patience, after one or two minutes, where the client's is longer
    return Ending(Outcome.CONNECT_TIMEOUT if isinstance(error, TimeoutError) else Outcome.REFUSED, text)
