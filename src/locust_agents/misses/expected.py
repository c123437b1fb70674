"""How many prompt tokens of a turn the server could have found in its cache, and so what reuse is out of."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

Starts = Sequence[tuple[str, int | None]]
"""The prefixes of a request that other sessions may share, shortest first: a name, and its tokens where known."""

# A prefill whose end was seen so shortly before a turn was taken may not have been stored: the two moments are read off
# two streams, each up to a server's turn of its loop late.
_CLOSE_S = 0.25
# Turns that are looked through for a twin; those before them are long done.
_REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class Twin:
    """A session that was still computing a prefix, of so many tokens, as another one asked for it."""

    session: str
    tokens: int | None


@dataclass(slots=True)
class _Prefill:
    session: str
    names: tuple[str, ...]
    taken_s: float
    over_s: float = inf


@dataclass(slots=True)
class Prefixes:
    """Which shared starts had been computed when. Times are seconds on the process's own clock."""

    _ready_s: dict[str, float] = field(default_factory=dict)
    _heads: dict[str, bytes] = field(default_factory=dict)
    _prefills: deque[_Prefill] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))

    def taken(self, session: str, starts: Starts, at_s: float) -> None:
        """The server has begun to work on a turn that begins so."""
        if starts and not self.was_ready(starts[-1][0], at_s):
            self._prefills.append(_Prefill(session, tuple(name for name, _ in starts), at_s))

    def computed(self, session: str, starts: Starts, at_s: float) -> None:
        """Its prompt was computed to its end at `at_s`, and with it every start of it."""
        self.over(session, at_s)
        for name, _ in starts:
            self.prefilled(name, at_s)

    def over(self, session: str, at_s: float) -> None:
        """Nothing of this session is in prefill any more, whether it came to its end or was left."""
        for prefill in self._prefills:
            if prefill.session == session:
                prefill.over_s = min(prefill.over_s, at_s)

    def prefilled(self, start: str, at_s: float) -> None:
        """A prompt that begins with this start was computed to its end at `at_s`."""
        self._ready_s[start] = min(at_s, self._ready_s.get(start, at_s))

    def was_ready(self, start: str, taken_s: float) -> bool:
        """Whether its prefill had ended before a turn was taken by the server at `taken_s`."""
        return self._ready_s.get(start, inf) <= taken_s

    def shared(self, starts: Starts, taken_s: float) -> int | None:
        """Expected tokens of a session's first turn: the longest of its starts that was ready; None where unknown."""
        return next((tokens for name, tokens in reversed(starts) if self.was_ready(name, taken_s)), 0)

    def twin(self, session: str, starts: Starts, taken_s: float) -> Twin | None:
        """Who else was computing the longest of these starts as this session's turn was taken."""
        others = [prefill for prefill in self._prefills if prefill.session != session]
        busy = [prefill for prefill in others if prefill.taken_s < taken_s < prefill.over_s + _CLOSE_S]
        found = ((name, tokens, prefill) for name, tokens in reversed(starts) for prefill in busy)
        return next((Twin(prefill.session, tokens) for name, tokens, prefill in found if name in prefill.names), None)

    def head_before(self, profile: str, head: bytes) -> bytes | None:
        """The head that a request of this profile had before this one, None for the first."""
        before, self._heads[profile] = self._heads.get(profile), head
        return before


def continued(prompt_tokens: int | None, completion_tokens: int | None, answer_was_kept: bool) -> int | None:
    """Expected tokens of the next turn of a session whose turn had this usage, None where the server gave none.

    `answer_was_kept` is True when the answer ended properly and was sent back word for word (live replies).
    """
    if prompt_tokens is None or not answer_was_kept:
        return prompt_tokens
    return prompt_tokens + (completion_tokens or 0)
