"""Decides which figures of two runs stand beside each other, and what they say of one kind of an entry's turns."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from locust_agents import figures, metrics
from locust_agents.answers import itl
from locust_agents.compare import bootstrap
from locust_agents.compare.bootstrap import Pool, Ratio, Sample, Weights
from locust_agents.compare.paired import Design
from locust_agents.figures import Wait
from locust_agents.limits import METRICS
from locust_agents.outcome import Outcome
from locust_agents.records import CANARY, TurnRecord
from locust_agents.right.answer_check import RIGHT

Side = tuple[Wait | None, float | None, float | None]
"""A figure of one run as it is said, then the least and the most that it may be, as some waits did not end."""

LEVEL = "level"
"""The statistic that is most sure of a shift of all turns."""

# The resolution of a record, of whatever unit: only quotients are taken of it.
_LEAST = 1e-6
# More gaps than this are thinned out evenly: no quantile of them moves by as much as a bucket is wide.
_GAPS = 20_000
_SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "max": 1.0, "min": 1.0}


@dataclass(frozen=True, slots=True)
class Subject:
    """One metric of the turns of a kind of an entry (None: of all kinds), with as many figures as `stats`.

    `turns` counts what is known of it in A and in B; `sides` holds both runs' sides of each figure.
    """

    entry: str
    kind: str | None
    metric: str
    stats: tuple[str | None, ...]
    sample: Sample
    turns: tuple[int, int]
    sides: tuple[tuple[Side, Side], ...]

    def effect(self, a: float | None, b: float | None) -> float:
        """By how much B is worse: the logarithm of their quotient, of shares the difference. 0 where one is unknown."""
        if a is None or b is None:
            return 0.0
        worse = 1 if METRICS[self.metric].at_most else -1
        if self.is_share:
            return worse * (b - a)
        return worse * math.log(max(abs(b), _LEAST) / max(abs(a), _LEAST))

    def effects(self, weights: tuple[Weights, Weights]) -> list[float]:
        """Of each figure, under weights for A and for B."""
        return list(map(self.effect, *map(self.sample.figures, weights)))

    def tested(self, weights: tuple[Weights, Weights]) -> list[float]:
        """What is held against exchanged runs in place of the effects: of quantiles, how much of B is beyond them."""
        if not isinstance(self.sample, Pool):
            return self.effects(weights)
        a, b = map(self.sample.beyond, weights)
        return [0.0 if x is None or y is None else y - x for x, y in zip(a, b, strict=True)]

    @property
    def is_share(self) -> bool:
        """A part of a whole, whose changes are in points."""
        return METRICS[self.metric].unit == "share"


def subject(
    a: Sequence[TurnRecord],
    b: Sequence[TurnRecord],
    design: Design,
    of: tuple[str, str | None, str],
    stats: Sequence[str | None],
) -> Subject:
    """`of` is entry, kind and metric; a percentile for which one of the runs has too few turns is left out."""
    entry, kind, metric = of
    left, right = _Half(a, metric), _Half(b, metric)
    least = min(left.count, right.count)
    stated = tuple(stat for stat in stats if stat is None or figures.is_enough(least, stat)) if least else tuple(stats)
    sample = _sample((a, b), design, metric, stated)
    sides = tuple((left.side(stat), right.side(stat)) for stat in stated)
    return Subject(entry, kind, metric, stated, sample, (left.count, right.count), sides)


def level(
    a: Sequence[TurnRecord], b: Sequence[TurnRecord], design: Design, of: tuple[str, str | None, str]
) -> Subject | None:
    """The geometric mean of a metric: where the runs are paired, over turns that correspond, whose work is the same.

    Waits that did not end, and the pairs they are of, are left to the other figures. None where a turn has no value.
    """
    entry, kind, metric = of
    if METRICS[metric].unit == "share" or metric == "itl":
        return None
    pairs = [
        pair for pair in design.pairs if pair[0].kind == (kind or pair[0].kind) and (kind or pair[0].kind != CANARY)
    ]
    sides = _both(pairs, metric) if design.units.paired else (_ended(a, metric), _ended(b, metric))
    coded = [[(value, design.code(record, bool(is_b))) for value, record in side] for is_b, side in enumerate(sides)]
    every = b"\x01" * bootstrap.CODES
    means = [_whole(bootstrap.level(side).figures(every)[0]) for side in coded]
    sample = bootstrap.level([*coded[0], *coded[1]])
    counts = len(coded[0]), len(coded[1])
    return Subject(entry, kind, metric, (LEVEL,), sample, counts, ((means[0], means[1]),))


def _whole(value: float | None) -> Side:
    return None if value is None else Wait(value), value, value


def _ended(records: Iterable[TurnRecord], metric: str) -> list[tuple[float, TurnRecord]]:
    return [
        (max(wait.value, _LEAST), record)
        for record in records
        for wait in metrics.waits([record], metric)
        if not wait.is_more
    ]


def _both(
    pairs: Iterable[tuple[TurnRecord, TurnRecord]], metric: str
) -> tuple[list[tuple[float, TurnRecord]], list[tuple[float, TurnRecord]]]:
    known = [sides for a, b in pairs if all(sides := (_ended([a], metric), _ended([b], metric)))]
    return [side for sides in known for side in sides[0]], [side for sides in known for side in sides[1]]


def all_stats(metric: str) -> tuple[str | None, ...]:
    """What is compared of a metric when nobody asks for more: the level, the median, p95 and the worst."""
    if METRICS[metric].unit == "share":
        return (None,)
    return LEVEL, "p50", "p95", "max" if METRICS[metric].at_most else "min"


class _Half:
    """One run's values of a metric, the larger the worse."""

    def __init__(self, records: Sequence[TurnRecord], metric: str) -> None:
        self._records = records
        self._metric = metric
        self._values = [Wait(_sign(metric) * wait.value, wait.is_more) for wait in _values(records, metric)]
        self.count = len(self._values)

    def side(self, stat: str | None) -> Side:
        """The figure, and between what it lies."""
        if not self._values:
            return None, None, None
        if stat is None:
            share = metrics.SHARES[self._metric](self._records)
            return None if share is None else Wait(share), share, share
        if self._metric == "itl":
            gap = itl.quantile_s(metrics.gaps(self._records), _SHARES[stat])
            return None if gap is None else Wait(gap), gap, gap
        return self._of_waits(stat)

    def _of_waits(self, stat: str) -> Side:
        sign, worst = _sign(self._metric), "max" if stat == "min" else stat
        said = figures.statistic(self._values, worst)
        place = math.ceil(_SHARES[stat] * len(self._values) - 1e-9) - 1
        least = sorted(wait.value for wait in self._values)[place]
        most = sorted(math.inf if wait.is_more else wait.value for wait in self._values)[place]
        return None if said is None else Wait(sign * said.value, said.is_more), sign * least, sign * most


def _sign(metric: str) -> int:
    return 1 if METRICS[metric].at_most else -1


def _values(records: Sequence[TurnRecord], metric: str) -> list[Wait]:
    if METRICS[metric].unit == "share":
        return [Wait(part) for part, _ in map(_PARTS[metric], records) if part is not None]
    if metric == "itl":
        return [Wait(1.0) for record in records if record.outcome is Outcome.OK and record.itl_hist]
    return metrics.waits(records, metric)


def _sample(
    runs: tuple[Sequence[TurnRecord], Sequence[TurnRecord]], design: Design, metric: str, stats: Sequence[str | None]
) -> Pool | Ratio:
    coded = [(record, design.code(record, bool(is_b))) for is_b, run in enumerate(runs) for record in run]
    if METRICS[metric].unit == "share":
        parts = ((_PARTS[metric](record), code) for record, code in coded)
        return bootstrap.ratio((part, whole, code) for (part, whole), code in parts if part is not None)
    shares = tuple(_SHARES[stat] for stat in stats if stat is not None)
    if metric == "itl":
        return bootstrap.pool(_gaps(coded), shares)
    sign = _sign(metric)
    return bootstrap.pool(
        ((sign * wait.value, code) for record, code in coded for wait in metrics.waits([record], metric)), shares
    )


def _gaps(coded: Sequence[tuple[TurnRecord, int]]) -> Iterable[tuple[float, int]]:
    by_code: dict[int, list[TurnRecord]] = {}
    for record, code in coded:
        by_code.setdefault(code, []).append(record)
    merged = {code: metrics.gaps(records) for code, records in by_code.items()}
    step = max(1, sum(sum(gaps.values()) for gaps in merged.values()) // _GAPS)
    for code, gaps in merged.items():
        ordered = [itl.gap_s(key) for key in sorted(gaps) for _ in range(gaps[key])]
        yield from ((gap, code) for gap in ordered[step // 2 :: step])


def _failed(record: TurnRecord) -> tuple[float | None, float]:
    is_ours = record.outcome in (Outcome.CUT, Outcome.ABANDONED, Outcome.CAPPED)
    return None if is_ours else float(record.is_failure), 1.0


def _reused(record: TurnRecord) -> tuple[float | None, float]:
    found = metrics.reused(record)
    return (None, 0.0) if found is None else (float(found[0]), float(found[1]))


def _right(record: TurnRecord) -> tuple[float | None, float]:
    return None if record.canary is None else float(record.canary == RIGHT), 1.0


def _same(record: TurnRecord) -> tuple[float | None, float]:
    return None if record.same is None else float(record.same), 1.0


_PARTS: dict[str, Callable[[TurnRecord], tuple[float | None, float]]] = {
    "failures": _failed,
    "reuse": _reused,
    "right": _right,
    "same": _same,
}
COMPARED = tuple(name for name, metric in METRICS.items() if metric.unit != "share" or name in _PARTS)
"""The metrics of which one turn's record has a part."""
