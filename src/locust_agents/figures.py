"""Statistics in which nobody who waited is forgotten: a wait that did not end counts as "more than this"."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# Below so many values a percentile says nothing that the maximum does not say better.
ENOUGH = {"p95": 20, "p99": 100}
_SHARES = {"p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99}


@dataclass(frozen=True, slots=True)
class Wait:
    """A measured value; `is_more` when it had not ended yet (censored): the true one is larger."""

    value: float
    is_more: bool = False


def statistic(values: Sequence[Wait], stat: str) -> Wait | None:
    """p50, p90, p95, p99 (nearest rank), max, min or mean; None of nothing.

    A censored value stands at what is known of it, and never makes a figure smaller than it is without it. The mean
    of a set with one is itself "more than".
    """
    if not values:
        return None
    found = max((_plain(some, stat) for some in (values, ended(values)) if some), key=_size)
    return Wait(found.value, any(wait.is_more for wait in values)) if stat == "mean" else found


def _plain(values: Sequence[Wait], stat: str) -> Wait:
    if stat == "mean":
        return Wait(math.fsum(wait.value for wait in values) / len(values))
    ordered = sorted(values, key=_size)
    if stat in ("max", "min"):
        return ordered[-1 if stat == "max" else 0]
    return ordered[math.ceil(_SHARES[stat] * len(ordered)) - 1]


def _size(wait: Wait) -> tuple[float, bool]:
    return wait.value, wait.is_more


def tail(count: int) -> str:
    """What stands for the slowest of so many: their p99 where there are enough of them, else the worst."""
    return "p99" if is_enough(count, "p99") else "worst"


def is_enough(count: int, stat: str) -> bool:
    """Whether so many values make that percentile worth stating."""
    return count >= ENOUGH.get(stat, 1)


def ended(values: Iterable[Wait]) -> list[Wait]:
    """The values that are whole."""
    return [wait for wait in values if not wait.is_more]


def union_s(spans: Iterable[tuple[float, float]]) -> float:
    """Seconds that at least one of the spans covers."""
    total, until = 0.0, -math.inf
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total
