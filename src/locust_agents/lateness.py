"""How late sessions that a clock made due started: a slow server that keeps agents busy cannot hide its own queue."""

from collections.abc import Sequence
from dataclasses import dataclass

from locust_agents import figures
from locust_agents.figures import Wait
from locust_agents.records import TurnRecord
from locust_agents.setting import Setting

# What a session may begin with instead of its own first turn: a call for a title, or sub-agents.
_BESIDE = ("side", "sub")


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
    began, inside = _began(records, setting), {id(record) for record in measured}
    late = [Wait(one.late_s) for one in began if id(one) in inside and one.late_s is not None]
    still = [wait for entry in setting.due for wait in _waiting(began, setting, entry)]
    waits = [*late, *still]
    p95 = figures.statistic(waits, "p95") if figures.is_enough(len(waits), "p95") else None
    return Lateness(len(waits), len(still), p95, figures.statistic(waits, "max"))


def is_due(record: TurnRecord, setting: Setting) -> bool:
    """A first turn of what a clock made due: that it is late is the server's doing. So of those beside or below it."""
    begins = record.kind == "first" or (record.kind in _BESIDE and record.turn == 0)
    return record.entry in setting.clocked and begins and record.attempt == 1


def _began(records: Sequence[TurnRecord], setting: Setting) -> list[TurnRecord]:
    """The first turn of each session that a clock made due, be it one beside or below it."""
    found: dict[str, TurnRecord] = {}
    for record in sorted(records, key=lambda record: record.wall_time):
        if is_due(record, setting):
            found.setdefault(_whole(record.session), record)
    return list(found.values())


def _whole(session: str) -> str:
    """The session that an agent began, of one that is beside or below it: `fixers/0.1#7` of `fixers/0.1#7.2.1`."""
    agent, mark, rest = session.rpartition("#")
    return f"{agent}#{rest.partition('.')[0]}" if mark else session


def _waiting(began: Sequence[TurnRecord], setting: Setting, entry: str) -> list[Wait]:
    """The last that were due: whichever agent is free takes the one that is due longest."""
    started = sum(record.entry == entry for record in began)
    lasted_s = (setting.until or 0.0) - (setting.began or 0.0)
    return [Wait(max(0.0, lasted_s - due_s), is_more=True) for due_s in setting.due[entry][started:]]
