"""Figures over time: what happened goes into spans of equal length, which grow when there would be too many of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Generic, Protocol, Self, TypeVar

from locust_agents import figures
from locust_agents.answers import itl
from locust_agents.figures import Wait

MOST = 240
"""Spans; a chart has few more pixels than that for each."""
_FIRST_S = 2.0
WINDOW_S = 30.0
"""A line's point is of the turns of so many seconds, or of its span where that is longer."""
Figure = float | None


class Adds(Protocol):
    """What a span holds."""

    def __add__(self, other: Self, /) -> Self: ...


T = TypeVar("T", bound=Adds)


@dataclass(slots=True)
class Waits:
    """Waits in buckets of 2 %; `more` are those that had not ended, which stand at what is known of them."""

    ended: dict[int, int] = field(default_factory=dict)
    more: dict[int, int] = field(default_factory=dict)
    worst: Figure = None
    worst_more: Figure = None

    def add(self, wait: Wait) -> None:
        """One more turn."""
        key, buckets = itl.bucket(wait.value), self.more if wait.is_more else self.ended
        buckets[key] = buckets.get(key, 0) + 1
        if wait.is_more:
            self.worst_more = larger(wait.value, self.worst_more)
        else:
            self.worst = larger(wait.value, self.worst)

    def __add__(self, other: "Waits") -> "Waits":
        return Waits(
            itl.merge([self.ended, other.ended]),
            itl.merge([self.more, other.more]),
            larger(self.worst, other.worst),
            larger(self.worst_more, other.worst_more),
        )

    def quantile_s(self, stat: str, share: float) -> Figure:
        """None where there are too few turns to state it; a wait that did not end never makes it smaller."""
        both = itl.merge([self.ended, self.more])
        if not both or not figures.is_enough(sum(both.values()), stat):
            return None
        return larger(itl.quantile_s(both, share), itl.quantile_s(self.ended, share))


@dataclass(slots=True)
class Share:
    """A part of a whole, or a sum and how many it is of."""

    part: float = 0.0
    whole: float = 0.0

    def add(self, part: float, whole: float = 1.0) -> None:
        """More of both."""
        self.part += part
        self.whole += whole

    def __add__(self, other: "Share") -> "Share":
        return Share(self.part + other.part, self.whole + other.whole)

    @property
    def ratio(self) -> Figure:
        """None of nothing."""
        return self.part / self.whole if self.whole else None


class Timeline(Generic[T]):
    """At most MOST spans of one kind. Asking for the figures costs what has changed since they were asked before."""

    def __init__(self, empty: Callable[[], T], figures_of: Callable[[T, T], Sequence[Figure]]) -> None:
        """`figures_of` is given a span, and all of the window that ends with it."""
        self.length_s = _FIRST_S
        self._empty = empty
        self._figures_of = figures_of
        self._spans: list[T] = []
        self._rows: list[Sequence[Figure]] = []

    def at(self, at_s: float) -> T:
        """The span of a moment, to be added to."""
        while at_s >= self.length_s * MOST:
            self._widen()
        number = max(0, int(at_s / self.length_s))
        while len(self._spans) <= number:
            self._spans.append(self._empty())
        del self._rows[number:]
        return self._spans[number]

    def rows(self) -> list[Sequence[Figure]]:
        """The middle of each span in seconds, then its figures."""
        for number in range(len(self._rows), len(self._spans)):
            middle_s = (number + 0.5) * self.length_s
            self._rows.append((middle_s, *self._figures_of(self._spans[number], self._window(number))))
        return self._rows

    def _window(self, number: int) -> T:
        first = max(0, number + 1 - ceil(WINDOW_S / self.length_s))
        whole = self._empty()
        for span in self._spans[first : number + 1]:
            whole = whole + span
        return whole

    def _widen(self) -> None:
        if len(self._spans) % 2:
            self._spans.append(self._empty())
        self._spans = [first + second for first, second in zip(self._spans[::2], self._spans[1::2], strict=True)]
        self.length_s *= 2
        self._rows.clear()


def larger(one: Figure, other: Figure) -> Figure:
    """None only where both are."""
    known = [value for value in (one, other) if value is not None]
    return max(known) if known else None
