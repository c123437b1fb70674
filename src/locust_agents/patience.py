"""How long a client waits, and for what: the deadline that is next, counted on tokens rather than bytes."""

import math
from dataclasses import dataclass

from locust_agents.answers.stream import Answer
from locust_agents.outcome import Ending, Outcome


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
    """When a behaviour walks away on purpose, the first that comes true.

    `after_s` from the turn's start; `after_chunks` that have come; `in_prefill`: a prefill comment has come and no
    token yet (a server without comments is not left); `after_silence_s` since the last token: while a tool call is
    written no byte comes.
    """

    after_s: float | None = None
    after_chunks: int | None = None
    in_prefill: bool = False
    after_silence_s: float | None = None


Deadline = tuple[float, Outcome]
"""Seconds from the turn's start (infinite: waits for ever), and how the turn has ended if it passes."""


@dataclass(frozen=True, slots=True)
class Patience:
    """A client's timeouts, whether comments (`: keepalive`) restart them, and a planned departure.

    `counts_from_headers`: the limit of the first token begins with the answer's headers, as in every client that was
    measured (Codex waits for headers without end, and 300 s from then on); else with the request's last byte.
    """

    timeouts: Timeouts
    comments_reset: bool = False
    leave: Leave = Leave()
    counts_from_headers: bool = False

    def connecting(self) -> Deadline:
        """While the connection is made."""
        return self._or_sooner(_after(0.0, self.timeouts.connect_s), Outcome.CONNECT_TIMEOUT)

    def waiting(self, sent_s: float) -> Deadline:
        """Between the request's last byte and the answer's headers."""
        soonest_s = _after(sent_s, self.timeouts.headers_s)
        if not self.counts_from_headers:
            soonest_s = min(soonest_s, _after(sent_s, self.timeouts.first_token_s))
        return self._or_sooner(soonest_s, Outcome.FIRST_TOKEN_TIMEOUT)

    def reading(self, sent_s: float, headers_s: float, answer: Answer) -> Deadline:
        """While the body is read; called before each read."""
        token_s = answer.last_token_s
        if self.comments_reset:
            since_s = headers_s if answer.last_byte_s is None else answer.last_byte_s
        elif token_s is not None:
            since_s = token_s
        else:
            since_s = headers_s if self.counts_from_headers else sent_s
        if token_s is None:
            return self._or_sooner(_after(since_s, self.timeouts.first_token_s), Outcome.FIRST_TOKEN_TIMEOUT)
        silence_s = self.leave.after_silence_s
        quiet_s = None if silence_s is None else token_s + silence_s
        return self._or_sooner(_after(since_s, self.timeouts.silence_s), Outcome.STALLED, quiet_s)

    def has_left(self, answer: Answer) -> bool:
        """What has come is what the behaviour wanted to see."""
        leave = self.leave
        if leave.in_prefill and answer.progress and answer.first_token_s is None:
            return True
        return leave.after_chunks is not None and answer.chunks >= leave.after_chunks

    def ending(self, outcome: Outcome, has_headers: bool) -> Ending:
        """The words for a deadline that passed, before the answer's headers or after."""
        return Ending(outcome, self._words(outcome, has_headers))

    def _words(self, outcome: Outcome, has_headers: bool) -> str:
        timeouts = self.timeouts
        match outcome:
            case Outcome.CONNECT_TIMEOUT:
                return f"no connection within {timeouts.connect_s} s"
            case Outcome.FIRST_TOKEN_TIMEOUT:
                return self._no_token() if has_headers else self._no_headers()
            case Outcome.STALLED:
                return f"no {'byte' if self.comments_reset else 'token'} for {timeouts.silence_s} s"
            case Outcome.TURN_TIMEOUT:
                return f"no end within {timeouts.turn_s} s"
            case _:
                return "the behaviour left, as planned"

    def _no_headers(self) -> str:
        """One outcome, two limits: that of the headers is named where it is the one that passed."""
        headers_s, token_s = self.timeouts.headers_s, self.timeouts.first_token_s
        is_shorter = headers_s is not None and (token_s is None or headers_s < token_s)
        if is_shorter or self.counts_from_headers:
            return f"no headers within {headers_s} s"
        return f"no token within {token_s} s"

    def _no_token(self) -> str:
        token_s = self.timeouts.first_token_s
        if self.comments_reset:
            return f"no byte for {token_s} s, and no token yet"
        return f"no token within {token_s} s" + (" of the headers" if self.counts_from_headers else "")

    def _or_sooner(self, deadline_s: float, outcome: Outcome, quiet_s: float | None = None) -> Deadline:
        """`quiet_s`: when the behaviour leaves if nothing comes until then."""
        turn_s, leave_s = self.timeouts.turn_s, self.leave.after_s
        if turn_s is not None and turn_s < deadline_s:
            deadline_s, outcome = turn_s, Outcome.TURN_TIMEOUT
        if leave_s is not None and leave_s <= deadline_s:
            deadline_s, outcome = leave_s, Outcome.ABANDONED
        if quiet_s is not None and quiet_s <= deadline_s:
            deadline_s, outcome = quiet_s, Outcome.ABANDONED
        return deadline_s, outcome


def _after(since_s: float, limit_s: float | None) -> float:
    return math.inf if limit_s is None else since_s + limit_s
