"""Ends a greenlet's wait at its deadline, with one timer for a whole turn instead of one for each read."""

import math
from time import perf_counter
from typing import Any

import gevent

from locust_agents.outcome import Outcome
from locust_agents.patience import Deadline

# Deadlines that what arrives does not move: a stream that never pauses must meet them too.
_ABSOLUTE = frozenset((Outcome.TURN_TIMEOUT, Outcome.ABANDONED))


class TimeUp(Exception):
    """A deadline passed, or waiting has no sense any more; carries what that means, and why if it was no deadline."""

    def __init__(self, outcome: Outcome, why: str | None = None) -> None:
        self.outcome = outcome
        self.why = why


class Alarm:
    """Throws TimeUp into the greenlet that made it, wherever it waits then. Seconds count from `started`.

    Deadlines move with every token, and nearly always away: the timer is wound again only for one that comes sooner,
    and otherwise when it has rung too early.
    """

    def __init__(self, started: float) -> None:
        self._started = started
        self._sleeper = gevent.getcurrent()
        self._timer: Any = None
        self._rings_s = math.inf
        self._deadline: Deadline | None = None
        self._told: TimeUp | None = None
        self._is_over = False

    def set(self, deadline: Deadline) -> None:
        """Replaces the deadline; one that has passed rings at the next wait, or here where no wait may come."""
        if self._told is not None:
            raise self._told
        self._deadline = deadline
        deadline_s, outcome = deadline
        if deadline_s < self._rings_s:
            self._wind(deadline_s)
        if outcome in _ABSOLUTE and perf_counter() - self._started >= deadline_s:
            raise TimeUp(outcome)

    def ring(self, time_up: TimeUp) -> None:
        """Ends the wait from another greenlet, at the loop's next turn; after `stop` it does nothing."""
        if not self._is_over:
            self._told = time_up
            self._wind(-math.inf)

    def stop(self) -> None:
        """Rings no more."""
        self._is_over = True
        self._unwind()

    def _unwind(self) -> None:
        if self._timer is not None:
            self._timer.close()
            self._timer = None

    def _wind(self, at_s: float) -> None:
        self._unwind()
        self._rings_s = at_s
        self._timer = gevent.get_hub().loop.timer(max(0.0, at_s - (perf_counter() - self._started)))
        self._timer.start(self._ring)

    def _ring(self) -> None:
        if self._told is not None:
            self._sleeper.throw(self._told)
            return
        assert self._deadline is not None
        deadline_s, outcome = self._deadline
        self._rings_s = math.inf
        if perf_counter() - self._started >= deadline_s:
            self._sleeper.throw(TimeUp(outcome))
        elif deadline_s < math.inf:
            self._wind(deadline_s)
