"""How long a client waits, and for what: the deadline that is next, counted on tokens rather than bytes."""

import math
from dataclasses import dataclass

from locust_agents.outcome import Ending, Outcome
from locust_agents.stream import Answer


@dataclass(frozen=True, slots=True)
class Timeouts:
    """A client's limits in seconds; None waits for ever."""

    connect_s: float | None = 10.0
    headers_s: float | None = 300.0
    first_token_s: float | None = 300.0
    silence_s: float | None = 300.0
    turn_s: float | None = None


@dataclass(frozen=True, slots=True)
class Leave:
    """When a behaviour walks away on purpose: after seconds from the start, or after so many chunks."""

    after_s: float | None = None
    after_chunks: int | None = None


Deadline = tuple[float, Outcome]
"""Seconds from the turn's start (infinite: waits for ever), and how the turn has ended if it passes."""


@dataclass(frozen=True, slots=True)
class Patience:
    """A client's timeouts, whether comments (`: keepalive`) restart them, and a planned departure."""

    timeouts: Timeouts
    comments_reset: bool = False
    leave: Leave = Leave()

    def connecting(self) -> Deadline:
        """While the connection is made."""
        return self._or_sooner(_after(0.0, self.timeouts.connect_s), Outcome.CONNECT_TIMEOUT)

    def waiting(self, sent_s: float) -> Deadline:
        """Between the request's last byte and the answer's headers."""
        timeouts = self.timeouts
        soonest = min(_after(sent_s, timeouts.headers_s), _after(sent_s, timeouts.first_token_s))
        return self._or_sooner(soonest, Outcome.FIRST_TOKEN_TIMEOUT)

    def reading(self, sent_s: float, headers_s: float, answer: Answer) -> Deadline:
        """While the body is read; called before each read."""
        token_s = answer.last_token_s
        since_s = sent_s if token_s is None else token_s
        if self.comments_reset:
            since_s = headers_s if answer.last_byte_s is None else answer.last_byte_s
        if token_s is None:
            return self._or_sooner(_after(since_s, self.timeouts.first_token_s), Outcome.FIRST_TOKEN_TIMEOUT)
        return self._or_sooner(_after(since_s, self.timeouts.silence_s), Outcome.STALLED)

    def has_left(self, answer: Answer) -> bool:
        """The answer has as many chunks as the behaviour wanted to see."""
        return self.leave.after_chunks is not None and answer.chunks >= self.leave.after_chunks

    def ending(self, outcome: Outcome) -> Ending:
        """The words for a deadline that passed."""
        return Ending(outcome, self._words(outcome))

    def _words(self, outcome: Outcome) -> str:
        timeouts = self.timeouts
        match outcome:
            case Outcome.CONNECT_TIMEOUT:
                return f"no connection within {timeouts.connect_s} s"
            case Outcome.FIRST_TOKEN_TIMEOUT:
                return " or ".join(self._nothing_came())
            case Outcome.STALLED:
                return f"no token for {timeouts.silence_s} s"
            case Outcome.TURN_TIMEOUT:
                return f"no end within {timeouts.turn_s} s"
            case _:
                return "the behaviour left, as planned"

    def _nothing_came(self) -> list[str]:
        """One outcome, two deadlines: that of the headers is named where it is the shorter one."""
        headers_s, token_s = self.timeouts.headers_s, self.timeouts.first_token_s
        shorter = headers_s is not None and (token_s is None or headers_s < token_s)
        headers = [f"no headers within {headers_s} s"] if shorter else []
        return headers + ([] if token_s is None else [f"no token within {token_s} s"])

    def _or_sooner(self, deadline_s: float, outcome: Outcome) -> Deadline:
        turn_s, leave_s = self.timeouts.turn_s, self.leave.after_s
        if turn_s is not None and turn_s < deadline_s:
            deadline_s, outcome = turn_s, Outcome.TURN_TIMEOUT
        if leave_s is not None and leave_s <= deadline_s:
            deadline_s, outcome = leave_s, Outcome.ABANDONED
        return deadline_s, outcome


def _after(since_s: float, limit_s: float | None) -> float:
    return math.inf if limit_s is None else since_s + limit_s
