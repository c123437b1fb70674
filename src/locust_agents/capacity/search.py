"""Decides which values a search for capacity tries and what it has found; how one is judged is decided elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, log2

# Values nearer to each other than this part of the smaller one are not told apart: no step is worth its minutes then.
_FINENESS = 32


class Verdict(StrEnum):
    """What a value made of the limits; undecided where even its last repetition was too noisy to call."""

    KEEPS = "keeps"
    BREAKS = "breaks"
    UNDECIDED = "undecided"


Known = Mapping[int, Verdict]


@dataclass(frozen=True, slots=True)
class Found:
    """`breaks` is the least value that breaks the limits, `keeps` the largest below it that keeps them.

    `undecided` are those between the two, in order; `odd` are above `breaks` and kept the limits all the same.
    """

    keeps: int | None
    breaks: int | None
    undecided: tuple[int, ...]
    odd: tuple[int, ...]


def found(known: Known) -> Found:
    """What is known so far. One that breaks the limits counts against all above it, whatever those did."""
    breaks = min(_all(known, Verdict.BREAKS), default=None)
    below = [value for value in _all(known, Verdict.KEEPS) if breaks is None or value < breaks]
    keeps = max(below, default=None)
    undecided = (value for value in _all(known, Verdict.UNDECIDED) if breaks is None or value < breaks)
    return Found(
        keeps,
        breaks,
        tuple(sorted(value for value in undecided if keeps is None or value > keeps)),
        tuple(sorted(value for value in _all(known, Verdict.KEEPS) if breaks is not None and value > breaks)),
    )


def next_value(lowest: int, highest: int, known: Known) -> int | None:
    """The value to try next, None where nothing more is to be found out.

    Doubled until one breaks the limits, then halved between that and the largest that kept them. Undecided ones are
    left out of the middle: below the first of them, then above the last.
    """
    if not known:
        return lowest
    now, top = found(known), max(known)
    if now.breaks is None and top < highest:
        return min(2 * top, highest)
    if now.keeps is None:
        return _between(max(now.undecided), now.breaks) if now.undecided else None
    below = _between(now.keeps, min(now.undecided, default=now.breaks))
    return below or _between(max(now.undecided, default=now.keeps), now.breaks)


def most_steps(lowest: int, highest: int) -> int:
    """How many values are tried at the very most."""
    doublings = ceil(log2(highest / lowest)) if highest > lowest else 0
    last_gap = max(1, highest - highest // 2, lowest)
    halvings = ceil(log2(min(last_gap, 2 * _FINENESS)))
    return 1 + doublings + 2 * halvings


def _between(low: int, high: int | None) -> int | None:
    if high is None or high - low <= max(1, low // _FINENESS):
        return None
    return (low + high) // 2


def _all(known: Known, verdict: Verdict) -> list[int]:
    return [value for value, one in known.items() if one is verdict]
