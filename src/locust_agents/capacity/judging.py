"""Decides what the turns of one step say of each limit: kept, broken, or too noisy or too few to call."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from random import Random
from typing import Literal

from locust_agents import figures, metrics, verdict
from locust_agents.capacity.search import Verdict
from locust_agents.figures import Wait
from locust_agents.limits import METRICS, Limit
from locust_agents.records import CANARY, TurnRecord
from locust_agents.verdict import Judgement

Word = Literal["kept", "broken", "noisy", "few", "silent"]

LEVEL = 0.90
"""Of an interval: on the side of the bound, it is wrong in one of twenty."""

LEAST = 10
"""Turns that a figure other than p95 and p99 (which `figures` knows) must be of: of a worst one among fewer, the next
step may well see a worse one."""

_ROUNDS = 399
# Fewer sessions than this say too little of how they differ: turns are drawn in blocks then, as neighbours in a session
# resemble each other. Blocks are no longer than this, and shorter where there would be too few of them.
_LEAST_UNITS, _BLOCK = 8, 5

Unit = Sequence[TurnRecord]


@dataclass(frozen=True, slots=True)
class Figure:
    """What one entry made of one limit; `turns` is of how many it is, `low` to `high` its interval.

    `word`: "noisy" where the bound lies in the interval, "few" below `LEAST` turns or what a percentile needs, "silent"
    where no turn says anything. `value` of a broken one lies on the wrong side of the bound.
    """

    limit: Limit
    entry: str
    stat: str | None
    value: Wait | None
    turns: int
    low: float | None
    high: float | None
    word: Word


@dataclass(frozen=True, slots=True)
class Call:
    """The verdict on a step. `right` is the share of code words that were right, None where none was asked for."""

    verdict: Verdict
    figures: tuple[Figure, ...]
    right: float | None

    @property
    def short_by(self) -> float:
        """How many times as many turns the figures with too few of them would need, 1 where none has."""
        few = (figure for figure in self.figures if figure.word == "few")
        return max((turns_for(figure.limit) / max(figure.turns, 1) for figure in few), default=1.0)


def call(limits: Sequence[Limit], records: Sequence[TurnRecord], seed: int = 1) -> Call:
    """The verdict on a value, from the turns of all of its runs.

    One limit that is clearly broken, or one wrong answer, breaks it. It keeps them only where nothing is left open, and
    some turn tells of a limit that the user wrote.
    """
    found = tuple(_figures(limits, records, Random(seed)))
    right = metrics.right(records)
    words = {figure.word for figure in found}
    told = {figure.word for figure in found if not is_default(figure.limit)} or words
    if "broken" in words or (right is not None and right < 1):
        return Call(Verdict.BREAKS, found, right)
    if words & {"noisy", "few"} or "kept" not in told:
        return Call(Verdict.UNDECIDED, found, right)
    return Call(Verdict.KEEPS, found, right)


def units(records: Iterable[TurnRecord]) -> list[Unit]:
    """What is drawn as a whole, by entry: its sessions, or blocks of their turns where they are few."""
    ordered = sorted(records, key=lambda record: (record.entry, record.run or "", record.session, record.wall_time))
    entries = groupby(ordered, lambda record: record.entry)
    return [unit for _, of_entry in entries for unit in _of_entry(list(of_entry))]


def _of_entry(records: Sequence[TurnRecord]) -> list[Unit]:
    sessions = [list(turns) for _, turns in groupby(records, lambda record: (record.run, record.session))]
    if len(sessions) >= _LEAST_UNITS:
        return list(sessions)
    size = max(1, min(_BLOCK, len(records) // _LEAST_UNITS))
    return [turns[start : start + size] for turns in sessions for start in range(0, len(turns), size)]


def _figures(limits: Sequence[Limit], records: Sequence[TurnRecord], random: Random) -> Iterator[Figure]:
    judged = verdict.judge(limits, records)
    drawn: list[list[float]] = [[] for _ in judged]
    for again in _drawn_again(units(records), random):
        for place, one in enumerate(verdict.judge(limits, again)):
            # a percentile of a smaller draw may have become its worst value, which is another figure
            if one.value is not None and one.stat == judged[place].stat:
                drawn[place].append(one.value.value)
    for one, values in zip(judged, drawn, strict=True):
        yield _figure(one, records, _interval(values))


def _drawn_again(all_units: Sequence[Unit], random: Random) -> Iterator[list[TurnRecord]]:
    """Each entry has as many units as it had: no judgement loses its entry."""
    entries = [list(of_entry) for _, of_entry in groupby(all_units, lambda turns: turns[0].entry)]
    for _ in range(_ROUNDS if all_units else 0):
        chosen = (unit for of_entry in entries for unit in random.choices(of_entry, k=len(of_entry)))
        yield [record for unit in chosen for record in unit]


def _interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The middle `LEVEL` of what was drawn."""
    if not values:
        return None
    ordered = sorted(values)
    out = int(len(ordered) * (1 - LEVEL) / 2)
    return ordered[out], ordered[-1 - out]


def _figure(judged: Judgement, records: Sequence[TurnRecord], interval: tuple[float, float] | None) -> Figure:
    low, high = (None, None) if judged.value is None or interval is None else interval
    turns = _count(judged, records)
    word = _word(judged, turns, low, high)
    return Figure(judged.limit, judged.entry, judged.stat, judged.value, turns, low, high, word)


def _word(judged: Judgement, turns: int, low: float | None, high: float | None) -> Word:
    if judged.value is None:
        return "silent"
    if judged.held is None or judged.stat != judged.limit.stat or turns < LEAST:
        return "few"
    if low is None or high is None:
        return "noisy"
    at_most, bound = METRICS[judged.limit.metric].at_most, judged.limit.bound
    if judged.held:
        return "kept" if (high <= bound if at_most else low >= bound) else "noisy"
    return "broken" if (low > bound if at_most else high < bound) else "noisy"


def _count(judged: Judgement, records: Sequence[TurnRecord]) -> int:
    """Turns that have a part in the figure."""
    limit = judged.limit
    meant = [record for record in records if record.entry == judged.entry and limit.kind in (None, record.kind)]
    if limit.metric in metrics.SHARES:
        return sum(metrics.SHARES[limit.metric]([record]) is not None for record in meant)
    of_agents = [record for record in meant if limit.kind is not None or record.kind != CANARY]
    if limit.metric == "itl":
        return sum(bool(metrics.gaps([record])) for record in of_agents)
    return len(metrics.waits(of_agents, limit.metric))


def is_default(limit: Limit) -> bool:
    """Whether it is the one that every scenario has: that no turn fails."""
    return limit.metric == "failures" and limit.kind is None and not limit.bound


def turns_for(limit: Limit) -> int:
    """So many turns of each entry must a limit be judged by."""
    return max(LEAST, figures.ENOUGH.get(limit.stat or "", 0))
