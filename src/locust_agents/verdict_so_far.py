"""Whether a limit is broken so far, kept up as turns end: by counting on which side of the bound each value fell.

A nearest-rank percentile is on the right side of a bound where enough values are, so no value has to be kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil
from typing import Protocol

from locust_agents import metrics
from locust_agents.answers import itl
from locust_agents.figures import Wait
from locust_agents.limits import METRICS, Limit
from locust_agents.outcome import Outcome
from locust_agents.records import TurnRecord

# A mean that is this close to its bound may be on either side of it: sums differ by the order of their parts.
_ULPS = 1e-9


class Tally(Protocol):
    """One limit, for the records that it is meant for."""

    def take(self, record: TurnRecord) -> None:
        """One more of them."""

    def is_broken(self) -> bool:
        """What `verdict.judge` would find; of a mean that is all but at its bound, true."""


def tally(limit: Limit) -> Tally:
    """Of no record yet."""
    return _OfShare(limit) if limit.metric in metrics.SHARES else _OfValues(limit)


@dataclass(slots=True)
class _Side:
    """How many values there are, how many of them keep the bound, and their sum."""

    number: int = 0
    right: int = 0
    total: float = 0.0

    def add(self, value: float, is_right: bool, times: int) -> None:
        self.number += times
        self.right += times * is_right
        self.total += times * value


@dataclass(slots=True)
class _OfValues:
    """A figure may be broken by all values, or by those that had ended alone: the others never make it smaller."""

    limit: Limit
    every: _Side = field(default_factory=_Side)
    ended: _Side = field(default_factory=_Side)

    def take(self, record: TurnRecord) -> None:
        for wait, times in _values(self.limit.metric, record):
            is_right = _is_right(self.limit, wait.value)
            self.every.add(wait.value, is_right, times)
            if not wait.is_more:
                self.ended.add(wait.value, is_right, times)

    def is_broken(self) -> bool:
        return any(side.number and self._breaks(side) for side in (self.every, self.ended))

    def _breaks(self, side: _Side) -> bool:
        stat = self.limit.stat or "max"
        if stat in ("max", "min"):
            return side.right < side.number
        if stat == "mean":
            mean, slack = side.total / side.number, abs(self.limit.bound) * _ULPS
            return not _is_right(self.limit, mean + slack if METRICS[self.limit.metric].at_most else mean - slack)
        # Of too few values, of which the worst is judged, this is the worst.
        return side.right < ceil(int(stat[1:]) / 100 * side.number)


@dataclass(slots=True)
class _OfShare:
    """Sums of whole numbers, so that their ratio is the very one that is judged at the end."""

    limit: Limit
    part: int = 0
    whole: int = 0

    def take(self, record: TurnRecord) -> None:
        if self.limit.metric == "reuse":
            cached, expected = metrics.reused(record) or (0, 0)
            self.part += cached
            self.whole += expected
            return
        found = metrics.SHARES[self.limit.metric]([record])
        if found is not None:
            self.part += round(found)
            self.whole += 1

    def is_broken(self) -> bool:
        return bool(self.whole) and not _is_right(self.limit, self.part / self.whole)


def _values(metric: str, record: TurnRecord) -> Iterator[tuple[Wait, int]]:
    """What a record has of a metric, and how often."""
    if metric != "itl":
        yield from ((wait, 1) for wait in metrics.waits([record], metric))
    elif record.outcome is Outcome.OK:
        yield from ((Wait(itl.gap_s(bucket)), times) for bucket, times in record.itl_hist.items())


def _is_right(limit: Limit, value: float) -> bool:
    return value <= limit.bound if METRICS[limit.metric].at_most else value >= limit.bound
