"""What all parts of a run's page start from: its records on one clock, its figures, its entries in their colours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from locust_agents import metrics, stored_run
from locust_agents.figures import Wait
from locust_agents.pages import chart
from locust_agents.records import CANARY, TurnRecord
from locust_agents.stored_run import StoredRun
from locust_agents.summary import Summary
from locust_agents.trust import Trust


@dataclass(frozen=True)
class Told:
    """A stored run, read once. Times below are seconds since `began`, which is a UNIX time."""

    run: StoredRun
    summary: Summary
    began: float

    @cached_property
    def entries(self) -> tuple[str, ...]:
        """Those of the scenario in its order, then those that only the records know."""
        named = [*(self.run.scenario.get("swarm") or {}), *sorted({record.entry for record in self.run.records})]
        seen = {record.entry for record in self.run.records}
        return tuple(entry for entry in dict.fromkeys(named) if entry in seen)

    @cached_property
    def colours(self) -> Mapping[str, tuple[str, str]]:
        """A colour and a marker for each entry."""
        return chart.colours(self.entries)

    @cached_property
    def waits(self) -> Sequence[tuple[TurnRecord, Wait]]:
        """Of all turns sent, the warm-up's too and the canary's not: how long the first token took, or more than."""
        found = ((record, metrics.waits([record], "ttft")) for record in self.run.records if record.kind != CANARY)
        return [(record, wait[0]) for record, wait in found if wait]

    @cached_property
    def measured(self) -> Sequence[tuple[TurnRecord, Wait]]:
        """The same without the warm-up: what the figures are of."""
        inside = set(map(id, stored_run.measured(self.run)))
        return [(record, wait) for record, wait in self.waits if id(record) in inside]

    @cached_property
    def trust(self) -> Trust:
        """The client's own part in the figures."""
        return stored_run.trust(self.run)

    @cached_property
    def seconds(self) -> float:
        """From the start of the load to the end of the last turn."""
        return max((self.at(record.wall_time + record.end_s) for record in self.run.records), default=0.0)

    def at(self, wall_time: float) -> float:
        """A UNIX time on the page's clock."""
        return wall_time - self.began

    def notes(self, event: str) -> list[Mapping[str, Any]]:
        """The lines of cluster.jsonl of one kind."""
        return [note for note in self.run.notes if note.get("event") == event and "time" in note]


def of(run: StoredRun) -> Told:
    """Raises ScenarioError where the run's limits cannot be read."""
    first = min((record.wall_time for record in run.records), default=0.0)
    return Told(run, stored_run.summary(run), stored_run.setting(run).began or first)


def name_of(record: TurnRecord) -> str:
    """As the turn is called in every sentence: its session and number."""
    again = f" attempt {record.attempt}" if (record.attempt or 1) > 1 else ""
    return f"{record.session or record.agent} turn {record.turn}{again}"


def known(wanted: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that this release has a field for."""
    names = {field.name for field in fields(wanted)}
    return {name: value for name, value in values.items() if name in names}
