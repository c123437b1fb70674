"""Decides when each scripted byte leaves: every send has an absolute deadline, and its stamp is taken at the write."""

import asyncio
import json
import socket
import struct
import time
from collections import defaultdict, deque
from collections.abc import Iterable
from typing import BinaryIO, cast

from locust_agents.cluster.replay.scripts import Script
from locust_agents.cluster.replay.wire import Answer, Head, fill_stamp, parse_head, plain_answer, to_answer

_MAX_HEAD_BYTES = 65536
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER with no time to linger: the close sends RST


class Replay:
    """What the connections share: the answers left for each path, the log of requests, and when to quit."""

    def __init__(self, scripts: Iterable[Script], log: BinaryIO | None, stamp: bool, max_requests: int | None) -> None:
        self.connections: set[Connection] = set()
        self.quit = asyncio.Event()
        self.stamp = stamp
        self._log = log
        self._left = max_requests
        self._answers: defaultdict[str, deque[Answer]] = defaultdict(deque)
        self._fitting: defaultdict[str, list[tuple[list[bytes], Answer]]] = defaultdict(list)
        for script in scripts:
            if script.when:
                self._fitting[script.path].append(([text.encode() for text in script.when], to_answer(script, stamp)))
            else:
                self._answers[script.path].append(to_answer(script, stamp))

    @property
    def spent(self) -> bool:
        """Whether all the requests that it was allowed have come; it refuses new connections then."""
        return self._left is not None and self._left <= 0

    def looks_into(self, head: Head) -> bool:
        """Whether the body has a say in what is answered."""
        return head.method == "POST" and bool(self._fitting.get(head.path) or self._fitting.get(""))

    def fitting(self, head: Head, body: bytes) -> Answer:
        """The answer for a body: the first script whose texts it holds, else the next in turn."""
        scripts = self._fitting.get(head.path) or self._fitting.get("") or []
        found = (answer for texts, answer in scripts if all(text in body for text in texts))
        return next(found, None) or self.take(head)

    def take(self, head: Head) -> Answer:
        """The next answer for this path; the last one is given for ever. A GET that no script names uses none up."""
        waiting = self._answers.get(head.path) or (self._answers.get("") if head.method == "POST" else None)
        if waiting:
            return waiting.popleft() if len(waiting) > 1 else waiting[0]
        if head.method == "POST":
            return plain_answer(404, {"error": "no script for this path"})
        return plain_answer(200, {"status": "ok"})

    def note(self, head: Head, body: bytes, at_ns: int) -> None:
        """Logs a request before its answer begins: whoever saw the answer finds the request."""
        if self._log is not None:
            line = [at_ns, head.method, head.path, head.headers, len(body)]
            self._log.write(json.dumps(line).encode() + b"\n" + body)
        if self._left is not None:
            self._left -= 1

    def open_beside(self, connection: "Connection") -> int:
        """How many other answers have begun and not ended."""
        return sum(other.is_answering for other in self.connections if other is not connection)

    def leave(self, connection: "Connection") -> None:
        """Forgets a closed connection; the last one of a server that takes no more ends it."""
        self.connections.discard(connection)
        if self.spent and not self.connections:
            self.quit.set()


class Connection(asyncio.Protocol):
    """Reads one request, then plays its answer as a chain of timers, each set to a date and never to a delay."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport
        self._buffer = bytearray()
        self._head: Head | None = None
        self._answer: Answer | None = None
        self._next: int | None = None
        self._start_s = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._full = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Sends small writes at once, and tells us as soon as the kernel takes less than it was given."""
        self._transport = cast(asyncio.Transport, transport)
        self._socket().setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._transport.set_write_buffer_limits(high=0)
        self._replay.connections.add(self)
        if self._replay.spent:
            self.abort()

    def data_received(self, data: bytes) -> None:
        """Collects the request; what follows it on the same connection is thrown away."""
        if self._next is not None:
            return
        self._buffer += data
        if self._head is None and not self._read_head():
            return
        assert self._head is not None
        if self._answer is not None and not self._answer.read_body:
            self._transport.pause_reading()
            self._begin(self._head, b"")
        elif len(self._buffer) >= self._head.body_length:
            body = bytes(self._buffer[: self._head.body_length])
            self._answer = self._answer or self._replay.fitting(self._head, body)
            self._begin(self._head, body)

    def pause_writing(self) -> None:
        """The client reads slowly: a stamp made now would be older than its write."""
        self._full = True

    def resume_writing(self) -> None:
        """The kernel has it all; what is due by now leaves at once."""
        self._full = False
        self._play()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  (asyncio's signature)
        """The end, whoever made it."""
        if self._timer is not None:
            self._timer.cancel()
        self._answer = None
        self._replay.leave(self)

    @property
    def is_answering(self) -> bool:
        """Its answer has begun, and there is more of it to come."""
        return self._next is not None and self._answer is not None

    def abort(self) -> None:
        """Ends the connection, whatever is still to come."""
        self._transport.abort()

    def _read_head(self) -> bool:
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found:
            if len(head) > _MAX_HEAD_BYTES:
                self.abort()
            return False
        try:
            self._head = parse_head(bytes(head))
        except ValueError:
            self.abort()
            return False
        self._buffer = rest
        self._answer = None if self._replay.looks_into(self._head) else self._replay.take(self._head)
        return True

    def _begin(self, head: Head, body: bytes) -> None:
        now_ns = time.monotonic_ns()
        put_off_s = self._answer.per_open_s * self._replay.open_beside(self) if self._answer else 0.0
        self._start_s = now_ns / 1e9 + put_off_s  # the loop's own clock is time.monotonic
        self._next = 0
        self._replay.note(head, body, now_ns)
        self._play()

    def _play(self) -> None:
        while self._answer is not None and self._next is not None and not self._full:
            if self._next == len(self._answer.frames):
                self._end(self._answer)
                return
            at_s, frame = self._answer.frames[self._next]
            due_s = self._start_s + at_s
            if due_s > self._loop.time():
                self._timer = self._loop.call_at(due_s, self._play)
                return
            self._next += 1
            self._write(frame)

    def _write(self, frame: bytes) -> None:
        if frame:
            self._transport.write(fill_stamp(frame, time.monotonic_ns()) if self._replay.stamp else frame)

    def _end(self, answer: Answer) -> None:
        self._answer = None
        if answer.ending == "reset":
            self._socket().setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self.abort()
        elif answer.ending != "hang":
            self._transport.close()

    def _socket(self) -> socket.socket:
        return cast(socket.socket, self._transport.get_extra_info("socket"))
