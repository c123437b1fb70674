"""A clock that jumps to whatever is due next, and a server on it: the transport's hours pass in no time.

The transport, its alarm and `http.client` run as they are; only the clock, the loop's timers and the socket are played.
"""

import io
import math
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import gevent
import pytest

from locust_agents.cluster.replay import Script
from locust_agents.cluster.replay.wire import to_answer
from locust_agents.locustfiles import alarm, asking, curve, transport

# No loop's timer is finer; below the resolution of a float, a wait for the rest of a deadline would never end.
_FINEST_S = 1e-6


class FastClock:
    """Stands for `perf_counter` and for the loop that makes timers."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.requests: list[bytearray] = []
        """What was sent on each connection."""
        self._timers: list[_Timer] = []

    def timer(self, after_s: float) -> "_Timer":
        """As gevent's loop makes one; it rings when somebody waits beyond its time."""
        return _Timer(self._timers, self.now_s + max(after_s, _FINEST_S))

    def wait_until(self, at_s: float) -> None:
        """Rings what is due until then, in order; what a ring throws ends the wait."""
        while self._timers and (first := min(self._timers, key=lambda timer: timer.at_s)).at_s <= at_s:
            self._timers.remove(first)
            self.now_s = max(self.now_s, first.at_s)
            first.ring()
        assert at_s < math.inf, "the server says nothing more and the client would wait for ever"
        self.now_s = max(self.now_s, at_s)


class _Timer:
    def __init__(self, timers: list["_Timer"], at_s: float) -> None:
        self.at_s = at_s
        self._timers = timers
        self.ring: Callable[[], None]

    def start(self, ring: Callable[[], None]) -> None:
        self.ring = ring
        self._timers.append(self)

    def close(self) -> None:
        if self in self._timers:
            self._timers.remove(self)


class _Line:
    """The client's end of a connection over which a script is played, as far as the transport asks a socket."""

    def __init__(self, clock: FastClock, scripts: Sequence[Script]) -> None:
        script = scripts[min(len(clock.requests), len(scripts) - 1)]
        self._sent = bytearray()
        clock.requests.append(self._sent)
        self._clock = clock
        self._ending = script.ending
        self._frames: list[tuple[float, bytes]] = list(to_answer(script, stamp=False).frames)
        self._asked_s = 0.0

    def setsockopt(self, *_: object) -> None: ...

    def connect(self, _: object) -> None: ...

    def sendall(self, data: bytes) -> None:
        self._sent += data
        self._asked_s = self._clock.now_s

    def close(self) -> None: ...

    def makefile(self, _: str) -> io.BufferedReader:
        return io.BufferedReader(_File(self))

    def recv(self, most: int) -> bytes:
        if not self._frames:
            self._clock.wait_until(math.inf if self._ending == "hang" else self._clock.now_s)
            return b""
        at_s, data = self._frames[0]
        self._clock.wait_until(self._asked_s + at_s)
        self._frames[0] = (at_s, data[most:])
        if not data[most:]:
            del self._frames[0]
        return data[:most] or self.recv(most)


class _File(io.RawIOBase):
    """The same, as `http.client` reads it."""

    def __init__(self, line: _Line) -> None:
        self._line = line

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._line.recv(len(buffer))
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def playing(*scripts: Script) -> Iterator[FastClock]:
    """Connection k of the transport leads to script k, on the clock given; the last one is played for ever."""
    clock = FastClock()
    made = SimpleNamespace(**{**vars(socket), "socket": lambda *_: _Line(clock, scripts)})
    loop = SimpleNamespace(get_hub=lambda: SimpleNamespace(loop=clock), getcurrent=gevent.getcurrent)
    with pytest.MonkeyPatch.context() as patch:
        for module in (alarm, asking, curve, transport):
            patch.setattr(module, "perf_counter", lambda: clock.now_s)
        patch.setattr(alarm, "gevent", loop)
        patch.setattr(transport, "socket", made)
        yield clock
