"""Decides of two runs, from their records alone, which figures differ and which differences are noise.

Nothing tells a slower server from a machine that was busy with something else in one of the runs: a run can only be
held against its own noise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from locust_agents.compare import figures as compare_figures
from locust_agents.compare import paired, words
from locust_agents.compare.draws import Drawn
from locust_agents.compare.figures import COMPARED as COMPARED
from locust_agents.compare.figures import Subject
from locust_agents.compare.paired import Design
from locust_agents.compare.words import Figure as Figure
from locust_agents.compare.words import Found
from locust_agents.metrics import OF_CANARIES
from locust_agents.records import CANARY, TurnRecord

ALPHA = 0.05
"""A run is called different from itself in at most one of twenty, over all figures that are looked at."""

ROUNDS = 999

# Fewer turns have no noise to be told from; fewer ways to exchange sessions than this never reach one in twenty.
LEAST_TURNS, _LEAST_WAYS = 5, 40

Group = tuple[str, str | None]
"""An entry and a kind of its turns; all kinds with None."""

Asked = tuple[str, str | None, str, Sequence[str | None]]
"""Entry, kind and metric, and which of its statistics."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """`designs` tells by entry how its turns were drawn anew."""

    figures: tuple[Figure, ...]
    designs: Mapping[str, Design]


def compare(
    a: Sequence[TurnRecord],
    b: Sequence[TurnRecord],
    asked: Sequence[Asked] | None = None,
    alpha: float = ALPHA,
    rounds: int = ROUNDS,
) -> Comparison:
    """Every figure that is asked for, by default all metrics of each kind of each entry.

    The runs are drawn anew `rounds` times with a fixed seed, less often where that took many seconds.
    """
    designs = {entry: paired.design(_of(a, (entry, None)), _of(b, (entry, None))) for entry in _entries(a, b)}
    subjects = [one for each in (default(a, b) if asked is None else asked) for one in _subjects(a, b, designs, each)]
    drawn = Drawn(subjects, {entry: design.units for entry, design in designs.items()}, rounds)
    measured = drawn.measured()
    tested = [place for place, one in enumerate(drawn.places) if not _is_few(one[0], designs)]
    chances = dict(zip(tested, drawn.chances(tested), strict=True))
    intervals = drawn.intervals(measured)
    found = (
        Found(one, number, measured[place], chances.get(place), intervals[place])
        for place, (one, number) in enumerate(drawn.places)
    )
    return Comparison(tuple(words.figures(found, alpha)), designs)


def default(a: Sequence[TurnRecord], b: Sequence[TurnRecord]) -> list[Asked]:
    """All metrics of each kind of each entry, in the order in which they first came."""
    groups = dict.fromkeys((record.entry, record.kind) for record in (*a, *b))
    return [
        (entry, kind, metric, compare_figures.all_stats(metric))
        for entry, kind in groups
        for metric in (OF_CANARIES if kind == CANARY else COMPARED)
    ]


def is_default_key(figure: Figure) -> bool:
    """Whether it decides about B where nothing else is asked for."""
    return figure.metric in ("ttft", "failures", "reuse", "decode", "right")


def _is_few(one: Subject, designs: Mapping[str, Design]) -> bool:
    return min(one.turns) < LEAST_TURNS or designs[one.entry].units.ways < _LEAST_WAYS


def _subjects(
    a: Sequence[TurnRecord], b: Sequence[TurnRecord], designs: Mapping[str, Design], asked: Asked
) -> list[Subject]:
    entry, kind, metric, stats = asked
    of, design = (entry, kind, metric), designs[entry]
    ranks = [stat for stat in stats if stat != compare_figures.LEVEL]
    left, right = _meant(a, of), _meant(b, of)
    by_rank = compare_figures.subject(left, right, design, of, ranks) if ranks else None
    by_level = compare_figures.level(left, right, design, of) if len(ranks) < len(stats) else None
    return [one for one in (by_level, by_rank) if one is not None]


def _meant(records: Sequence[TurnRecord], of: tuple[str, str | None, str]) -> list[TurnRecord]:
    """Of an entry, kind and metric; nobody waits for canary turns."""
    entry, kind, metric = of
    found = _of(records, (entry, kind))
    return found if kind or metric in OF_CANARIES else [record for record in found if record.kind != CANARY]


def _entries(a: Sequence[TurnRecord], b: Sequence[TurnRecord]) -> list[str]:
    return list(dict.fromkeys(record.entry for record in (*a, *b)))


def _of(records: Sequence[TurnRecord], group: Group) -> list[TurnRecord]:
    entry, kind = group
    return [record for record in records if record.entry == entry and kind in (None, record.kind)]
