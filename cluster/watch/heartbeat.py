"""Decides when a server in use is asked for its /health, and which answers mean that it will never answer a turn."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from time import perf_counter

EVERY_S = 10.0
ANSWER_S = 5.0
"""How long an answer may take. A slow one is no death: a long prefill can keep Python's threads from their turn."""

MOST_BAD = 2
"""Refusals in a row, EVERY_S apart: one may be a gateway's hiccup, or a full listen backlog."""


class Sign(Enum):
    """What GET /health came to. DEAD is 503 in mlx_lm.server's words, UNWELL in others, or a gateway's 502.

    WELL proves no more than a generation thread that lives: it may hang.
    """

    WELL = "well"
    DEAD = "generation thread died"
    UNWELL = "out of order"
    REFUSED = "connection refused"
    SLOW = "no answer"
    ABSENT = "no such page"


@dataclass(frozen=True, slots=True)
class State:
    """What must be remembered between two answers: how many bad ones in a row, and whether asking is of any use."""

    bad: int = 0
    is_useful: bool = True
    verdict: str | None = None


def judge(state: State, sign: Sign, url: str) -> State:
    """The next state; its verdict, once there is one, stays."""
    bad = state.bad + 1 if sign in (Sign.UNWELL, Sign.REFUSED) else 0
    return State(bad, sign is not Sign.ABSENT, state.verdict or _verdict(sign, bad, url))


def _verdict(sign: Sign, bad: int, url: str) -> str | None:
    if sign is Sign.DEAD:
        return "the server's generation thread died (/health says 503): read rank 0's log, then start the server again"
    if bad < MOST_BAD:
        return None
    if sign is Sign.REFUSED:
        return (
            f"nothing listens at {url} any more ({bad} connections refused in a row): read its log, and start it again"
        )
    return f"the server at {url} is out of order (/health said so {bad} times in a row): start it again"


class Heartbeat:
    """One server's. `look` never waits: a thread (a greenlet under Locust) asks, one at a time."""

    def __init__(
        self,
        url: str,
        ask: Callable[[float], Sign],
        note: Callable[[str, Mapping[str, object]], None],
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        """`ask` gets how many seconds it may take. `note` gets `health` when the answer is not what it was before."""
        self._url = url
        self._ask = ask
        self._note = note
        self._clock = clock
        self._state = State()
        self._last = Sign.WELL
        self._asked_s = clock()
        self._asking: threading.Thread | None = None
        self._found: Sign | None = None

    def look(self) -> str | None:
        """Why the server will answer no more turns, in one sentence that stays; None otherwise."""
        if self._asking is not None:
            self._take()
        elif self._state.is_useful and self._clock() - self._asked_s >= EVERY_S:
            self._asked_s = self._clock()
            self._asking = threading.Thread(target=self._hear, daemon=True)
            self._asking.start()
        return self._state.verdict

    def _hear(self) -> None:
        self._found = self._ask(ANSWER_S)

    def _take(self) -> None:
        found, self._found = self._found, None
        if found is None:
            return
        self._asking = None
        self._state = judge(self._state, found, self._url)
        if found is not self._last:
            self._note("health", {"says": found.value, "seconds": round(self._clock() - self._asked_s, 3)})
            self._last = found
