"""Which turn did worst by a limit's metric: the one to look at first, whether the limit was held or not."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from locust_agents import metrics
from locust_agents.answers import itl
from locust_agents.limits import METRICS, Limit
from locust_agents.outcome import Outcome
from locust_agents.records import TurnRecord
from locust_agents.right.answer_check import RIGHT


@dataclass(frozen=True, slots=True)
class WorstTurn:
    """Where a turn stands in turns.jsonl; `attempt` counts from 1, `wall_time` is its start in UNIX seconds."""

    agent: str
    session: str
    turn: int
    attempt: int
    wall_time: float

    def __str__(self) -> str:
        again = f" attempt {self.attempt}" if (self.attempt or 1) > 1 else ""
        return f"{self.session or self.agent} turn {self.turn}{again}"


def find(limit: Limit, records: Sequence[TurnRecord]) -> WorstTurn | None:
    """The first of the worst ones; None where no turn has a value, or none did anything wrong by a share."""
    badness = _BADNESS.get(limit.metric) or _by_value(limit.metric)
    found = max(((bad, record) for record in records if (bad := badness(record)) is not None), key=_size, default=None)
    return None if found is None else _place(found[1])


_Bad = tuple[float, bool]
"""Larger is worse; of equal waits the one that had not ended."""


def _size(found: tuple[_Bad, TurnRecord]) -> tuple[_Bad, float]:
    return found[0], -(found[1].wall_time or 0.0)


def _place(record: TurnRecord) -> WorstTurn:
    return WorstTurn(record.agent, record.session, record.turn, record.attempt, record.wall_time)


def _by_value(metric: str) -> Callable[[TurnRecord], _Bad | None]:
    """For metrics of which each turn has one value; a share that is not known here has no worst turn."""
    if METRICS[metric].unit == "share":
        return lambda _: None
    sign = 1 if METRICS[metric].at_most else -1
    return lambda record: next(((sign * wait.value, wait.is_more) for wait in metrics.waits([record], metric)), None)


def _failed(record: TurnRecord) -> _Bad | None:
    return (1.0, False) if record.is_failure else None


def _read_again(record: TurnRecord) -> _Bad | None:
    """Tokens that were expected in the cache and not found."""
    if record.cached_tokens is None or not record.expected_tokens:
        return None
    missed = record.expected_tokens - record.cached_tokens
    return (float(missed), False) if missed > 0 else None


def _longest_gap(record: TurnRecord) -> _Bad | None:
    if record.outcome is not Outcome.OK or not record.itl_hist:
        return None
    return itl.gap_s(max(record.itl_hist)), False


_BADNESS: Mapping[str, Callable[[TurnRecord], _Bad | None]] = {
    "failures": _failed,
    "reuse": _read_again,
    "right": lambda record: (1.0, False) if record.canary not in (None, RIGHT) else None,
    "same": lambda record: (1.0, False) if record.same is False else None,
    "itl": _longest_gap,
}
