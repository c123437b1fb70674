"""Whether limits were held, each by each entry, and which exit status a run has earned."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from locust_agents import figures, metrics, worst_turn
from locust_agents.answers import itl
from locust_agents.figures import Wait
from locust_agents.limits import METRICS, Limit
from locust_agents.outcome import Outcome
from locust_agents.records import CANARY, TurnRecord
from locust_agents.worst_turn import WorstTurn

BROKEN, HELD = 1, 0
_WORDS = {
    0: "held",
    1: "a limit was broken",
    2: "scenario or plugin wrong",
    3: "no server or no ok turn",
    4: "not to be trusted",
    130: "interrupted",
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one entry made of one limit. `held` is None where there was nothing to judge.

    `stat` is what was judged: the maximum where there were too few turns for the percentile that was asked for.
    `margin` is how far the value stands from the bound, in the bound's unit: below 0 where it was broken. `worst` is
    the turn that did worst by the limit's metric.
    """

    limit: Limit
    entry: str
    held: bool | None
    value: Wait | None
    stat: str | None
    margin: float | None = None
    worst: WorstTurn | None = None


def judge(limits: Sequence[Limit], records: Sequence[TurnRecord]) -> list[Judgement]:
    """Every limit for every entry that it is meant for, one that had no turn included."""
    entries = sorted({record.entry for record in records} | {limit.entry for limit in limits if limit.entry}) or [""]
    return [
        _judge(limit, entry, [record for record in records if is_meant(limit, entry, record)])
        for limit in limits
        for entry in entries
        if limit.entry in (None, entry)
    ]


def exit_status(records: Sequence[TurnRecord], judgements: Iterable[Judgement]) -> int:
    """3 where no turn was ok, 1 where a limit was broken, else 0; the runner knows the rest."""
    return earned(any(record.outcome is Outcome.OK for record in records), judgements)


def earned(is_any_ok: bool, judgements: Iterable[Judgement]) -> int:
    """The same where it is known whether any turn was ok."""
    if not is_any_ok:
        return 3
    return BROKEN if any(judgement.held is False for judgement in judgements) else HELD


def word(exit_status: int | None) -> str:
    """A run's exit status for a person; None is a run that has none yet."""
    if exit_status is None:
        return "killed, or still running"
    return _WORDS.get(exit_status, f"status {exit_status}")


def is_meant(limit: Limit, entry: str, record: TurnRecord) -> bool:
    """Whether this entry is judged by this record; whether the limit is meant for the entry is asked before."""
    if limit.kind is None and record.kind == CANARY and limit.metric not in metrics.OF_CANARIES:
        return False
    return record.entry == entry and limit.kind in (None, record.kind)


def _judge(limit: Limit, entry: str, records: Sequence[TurnRecord]) -> Judgement:
    stat, values = _measured(limit, records)
    value = _statistic(limit, values, stat or "max")
    held = _held(limit, values, value)
    margin = None if held is None or value is None else _margin(limit, value)
    return Judgement(limit, entry, held, value, stat, margin, worst_turn.find(limit, records))


def _margin(limit: Limit, value: Wait) -> float:
    return limit.bound - value.value if METRICS[limit.metric].at_most else value.value - limit.bound


def _measured(limit: Limit, records: Sequence[TurnRecord]) -> tuple[str | None, list[Wait]]:
    """The statistic that can be judged, and the values it is of."""
    if limit.metric in metrics.SHARES:
        share = metrics.SHARES[limit.metric](records)
        return None, [] if share is None else [Wait(share)]
    stat = limit.stat or "max"
    if limit.metric == "itl":
        return _of_gaps(metrics.gaps(records), stat)
    values = metrics.waits(records, limit.metric)
    worst = "max" if METRICS[limit.metric].at_most else "min"
    return (stat if figures.is_enough(len(values), stat) else worst), values


def _of_gaps(gaps: Mapping[int, int], stat: str) -> tuple[str, list[Wait]]:
    """The one value of a histogram; gaps are too many to be listed."""
    count = sum(gaps.values())
    stat = stat if figures.is_enough(count, stat) else "max"
    if not count:
        return stat, []
    if stat == "mean":
        return stat, [Wait(sum(itl.gap_s(key) * number for key, number in gaps.items()) / count)]
    share = 1.0 if stat == "max" else float(stat[1:]) / 100
    return stat, [Wait(itl.quantile_s(gaps, share) or 0.0)]


def _held(limit: Limit, values: Sequence[Wait], value: Wait | None) -> bool | None:
    """A wait that did not end can break a limit, and never helps to hold one."""
    if value is None:
        return None
    if not METRICS[limit.metric].at_most:
        return value.value >= limit.bound
    if value.value > limit.bound:
        return False
    return True if figures.ended(values) else None


def _statistic(limit: Limit, values: Sequence[Wait], stat: str) -> Wait | None:
    if METRICS[limit.metric].at_most or not stat.startswith("p"):
        return figures.statistic(values, stat)
    # "95 % are at least as fast as": the percentile of a speed counts from the slow side.
    slow_side = figures.statistic([Wait(-wait.value) for wait in values], stat)
    return None if slow_side is None else Wait(-slow_side.value)
