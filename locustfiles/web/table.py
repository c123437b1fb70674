"""The table of a run while it goes on: the terminal's columns and figures, without going through all turns again."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from locust_agents import metrics
from locust_agents.figures_so_far import Sorted
from locust_agents.limits import KINDS
from locust_agents.locustfiles.web.bins import Share
from locust_agents.quantities import count, seconds, share
from locust_agents.records import TurnRecord
from locust_agents.setting import Setting
from locust_agents.window_so_far import Measuring

COLUMNS = ("entry", "kind", "turns", "fail", "prompt p50", "max", "queue p95", "TTFT p50", "p95", "max", "reuse")


@dataclass(slots=True)
class _Row:
    turns: int = 0
    failures: int = 0
    prompt: Sorted = field(default_factory=Sorted)
    queue: Sorted = field(default_factory=Sorted)
    ttft: Sorted = field(default_factory=Sorted)
    reuse: Share = field(default_factory=Share)


class Table:
    """Of one run. Turns of the warm-up are left out, as they are at the end."""

    def __init__(self, setting: Setting) -> None:
        self._measuring = Measuring(setting)
        self._rows: dict[tuple[str, str], _Row] = {}

    def take(self, record: TurnRecord) -> None:
        """A turn ended."""
        for measured in self._measuring.take(record):
            self._add(measured)

    def _add(self, record: TurnRecord) -> None:
        row = self._rows.setdefault((record.entry, record.kind), _Row())
        row.turns += 1
        row.failures += record.is_failure
        for metric, waits in (("prompt", row.prompt), ("queue", row.queue), ("ttft", row.ttft)):
            for wait in metrics.waits([record], metric):
                waits.add(wait)
        if (found := metrics.reused(record)) is not None:
            row.reuse.add(*found)

    def cells(self, entries: Sequence[str]) -> list[list[str]]:
        """A line for each kind of each entry, in this order of the entries."""
        order = {name: place for place, name in enumerate(entries)}
        kinds = {kind: place for place, kind in enumerate(KINDS)}
        keys = sorted(self._rows, key=lambda key: (order.get(key[0], len(order)), kinds.get(key[1], len(kinds)), key))
        return [_cells(*key, self._rows[key]) for key in keys]


def _cells(entry: str, kind: str, row: _Row) -> list[str]:
    prompts = (row.prompt.statistic("p50"), row.prompt.statistic("max"))
    waits = (row.queue.statistic("p95"), *map(row.ttft.statistic, ("p50", "p95", "max")))
    return [
        *(entry, kind, str(row.turns), str(row.failures)),
        *(count(None if wait is None else wait.value) for wait in prompts),
        *map(seconds, waits),
        share(row.reuse.ratio),
    ]
