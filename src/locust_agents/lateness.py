"""How late sessions that a clock made due started: a slow server that keeps agents busy cannot hide its own queue."""

from collections.abc import Sequence
from dataclasses import dataclass

from locust_agents import figures
from locust_agents.figures import Wait
from locust_agents.records import TurnRecord
from locust_agents.setting import Setting


@dataclass(frozen=True, slots=True)
class Lateness:
    """Of all entries with a clock. `waiting` sessions were due and had not started when the load ended.

    These count as "more than" what they had waited by then. `p95` is None below 20 sessions.
    """

    sessions: int
    waiting: int
    p95: Wait | None
    max: Wait | None


def of(records: Sequence[TurnRecord], measured: Sequence[TurnRecord], setting: Setting) -> Lateness | None:
    """Of those measured among all records of a run; None where no entry has a clock."""
    if not setting.due:
        return None
    late = [Wait(record.late_s) for record in measured if record.late_s is not None and is_due(record, setting)]
    still = [wait for entry in setting.due for wait in _waiting(records, setting, entry)]
    waits = [*late, *still]
    p95 = figures.statistic(waits, "p95") if figures.is_enough(len(waits), "p95") else None
    return Lateness(len(waits), len(still), p95, figures.statistic(waits, "max"))


def is_due(record: TurnRecord, setting: Setting) -> bool:
    """The first turn of a session that a clock made due: that it is late is the server's doing."""
    return record.entry in setting.due and _begins(record)


def _begins(record: TurnRecord) -> bool:
    """The first turn of a session that an agent began, not of one beside or below it."""
    return record.parent is None and record.kind == "first" and record.attempt == 1


def _waiting(records: Sequence[TurnRecord], setting: Setting, entry: str) -> list[Wait]:
    """The last that were due: whichever agent is free takes the one that is due longest."""
    started = len({record.session for record in records if record.entry == entry and _begins(record)})
    lasted_s = (setting.until or 0.0) - (setting.began or 0.0)
    return [Wait(max(0.0, lasted_s - due_s), is_more=True) for due_s in setting.due[entry][started:]]
