"""Decides what is said of one figure: worse, better, noise, or that nobody can tell."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, inf
from typing import Literal

from locust_agents.compare.figures import Side, Subject
from locust_agents.figures import Wait
from locust_agents.limits import METRICS

Word = Literal["worse", "better", "unsure", "noise", "open", "few"]

# What a client can tell of a wait, in seconds; below so much of itself two runs of one server differ anyhow (a bucket
# of gaps between tokens is 2 % wide); a count of tokens may be off at its seams.
_LEAST_S, _LEAST_SHARE, _LEAST_POINTS = 0.002, 0.03, 0.005


@dataclass(frozen=True, slots=True)
class Found:
    """What drawing anew says of figure `number` of a subject; `chance` and `interval` are None where nothing can be."""

    one: Subject
    number: int
    effect: float
    chance: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Figure:
    """One statistic of both runs. `change` is B / A - 1, of shares B - A, `low` and `high` its 95 % interval.

    `chance`: of seeing any of the figures differ as much as this one does if the runs do not differ. `word` is "open"
    where waits that had not ended decide, "few" where there are too few turns or sessions to tell, and "unsure" where
    the figure alone would be called different, but among so many one may be so by chance.
    """

    entry: str
    kind: str | None
    metric: str
    stat: str | None
    a: Wait | None
    b: Wait | None
    turns: tuple[int, int]
    change: float | None
    low: float | None
    high: float | None
    chance: float | None
    word: Word


def figures(found: Iterable[Found], alpha: float) -> list[Figure]:
    """Each with its word.

    Where one figure of a metric is known to differ, nothing is left of "the runs do not differ": the other figures of
    it that moved to the same side are then held against their own interval alone.
    """
    every = list(found)
    known = {_side(each) for each in every if _is_rare(each, alpha) and _word(each, True) in ("worse", "better")}
    return [_figure(each, _is_rare(each, alpha) or _side(each) in known) for each in every]


def _side(each: Found) -> tuple[str, str | None, str, bool]:
    return each.one.entry, each.one.kind, each.one.metric, each.effect > 0


def _is_rare(each: Found, alpha: float) -> bool:
    return each.chance is not None and each.chance <= alpha


def _figure(each: Found, may_differ: bool) -> Figure:
    one, number = each.one, each.number
    a, b = one.sides[number][0][0], one.sides[number][1][0]
    is_known = a is not None and b is not None
    low, high = _natural(one, each.interval) if each.interval and is_known else (None, None)
    return Figure(
        one.entry,
        one.kind,
        one.metric,
        one.stats[number],
        a,
        b,
        one.turns,
        _change(one, a, b),
        low,
        high,
        each.chance,
        _word(each, may_differ),
    )


def _word(each: Found, may_differ: bool) -> Word:
    """What may be said; waits that did not end must not be able to turn it over."""
    one, interval, sides = each.one, each.interval, each.one.sides[each.number]
    if each.chance is None or interval is None:
        return "few"
    least, most = _extremes(one, sides)
    differs = not _is_small(one, sides) and not interval[0] <= 0 <= interval[1]
    if may_differ and differs:
        if each.effect > 0:
            return "worse" if least > 0 else "open"
        return "better" if most < 0 else "open"
    if least != most and not interval[0] <= least <= most <= interval[1]:
        return "open"
    return "unsure" if differs else "noise"


def _extremes(one: Subject, sides: tuple[Side, Side]) -> tuple[float, float]:
    """The least and the most that B may be worse by, whatever the waits became that had not ended."""
    (_, a_least, a_most), (_, b_least, b_most) = sides
    least = -inf if a_most == inf else one.effect(a_most, b_least)
    most = inf if b_most == inf else one.effect(a_least, b_most)
    return least, most


def _is_small(one: Subject, sides: tuple[Side, Side]) -> bool:
    a, b = (abs(side[1] or 0.0) for side in sides)
    if one.is_share:
        return abs(b - a) < _LEAST_POINTS
    is_unseen = METRICS[one.metric].unit == "s" and one.metric != "itl" and abs(b - a) < _LEAST_S
    return is_unseen or abs(b - a) <= _LEAST_SHARE * max(a, b)


def _change(one: Subject, a: Wait | None, b: Wait | None) -> float | None:
    if a is None or b is None:
        return None
    if one.is_share:
        return b.value - a.value
    return b.value / a.value - 1 if a.value else None


def _natural(one: Subject, interval: tuple[float, float]) -> tuple[float, float]:
    """An interval of effects, in which more is worse, as one of changes."""
    sign = 1 if METRICS[one.metric].at_most else -1
    ends = [sign * end if one.is_share else exp(sign * end) - 1 for end in interval]
    return min(ends), max(ends)
