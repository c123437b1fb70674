"""The table of a run while it goes on: the terminal's columns and figures, without going through all turns again."""

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil

from locust_agents import figures, metrics
from locust_agents.figures import Wait
from locust_agents.limits import KINDS
from locust_agents.locustfiles.web_bins import Share
from locust_agents.quantities import count, seconds, share
from locust_agents.records import TurnRecord
from locust_agents.setting import Setting

COLUMNS = ("entry", "kind", "turns", "fail", "prompt p50", "max", "queue p95", "TTFT p50", "p95", "max", "reuse")
_SHARES = {"p50": 0.50, "p95": 0.95, "max": 1.0}


@dataclass(slots=True)
class Sorted:
    """Waits in order, eight bytes each; `more` are those that had not ended."""

    ended: "array[float]" = field(default_factory=lambda: array("d"))
    more: "array[float]" = field(default_factory=lambda: array("d"))

    def add(self, wait: Wait) -> None:
        """One more."""
        insort(self.more if wait.is_more else self.ended, wait.value)

    def statistic(self, stat: str) -> Wait | None:
        """As `figures.statistic` says it, None where there are too few to state it."""
        number = len(self.ended) + len(self.more)
        if not number or not figures.is_enough(number, stat):
            return None
        of_all = self._smallest(ceil(_SHARES[stat] * number))
        whole = self.ended[ceil(_SHARES[stat] * len(self.ended)) - 1] if self.ended else 0.0
        return max(of_all, Wait(whole), key=lambda wait: (wait.value, wait.is_more))

    def _smallest(self, rank: int) -> Wait:
        """Of both together; where two are equal, the one that had not ended is the larger."""
        more = bisect_left(
            range(len(self.more)), rank, key=lambda place: place + bisect_right(self.ended, self.more[place])
        )
        last_more = self.more[more - 1] if more else -1.0
        last_ended = self.ended[rank - more - 1] if rank > more else -1.0
        return Wait(last_more, True) if last_more >= last_ended else Wait(last_ended)


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
        self._setting = setting
        self._rows: dict[tuple[str, str], _Row] = {}
        self._warm: set[tuple[str, int, str]] = set()

    def take(self, record: TurnRecord) -> None:
        """A turn ended."""
        if self._is_warm(record):
            return
        row = self._rows.setdefault((record.entry, record.kind), _Row())
        row.turns += 1
        row.failures += record.is_failure
        for metric, waits in (("prompt", row.prompt), ("queue", row.queue), ("ttft", row.ttft)):
            for wait in metrics.waits([record], metric):
                waits.add(wait)
        if record.cached_tokens is not None and record.expected_tokens:
            row.reuse.add(min(record.cached_tokens, record.expected_tokens), record.expected_tokens)

    def cells(self, entries: Sequence[str]) -> list[list[str]]:
        """A line for each kind of each entry, in this order of the entries."""
        order = {name: place for place, name in enumerate(entries)}
        kinds = {kind: place for place, kind in enumerate(KINDS)}
        keys = sorted(self._rows, key=lambda key: (order.get(key[0], len(order)), kinds.get(key[1], len(kinds)), key))
        return [_cells(*key, self._rows[key]) for key in keys]

    def _is_warm(self, record: TurnRecord) -> bool:
        """A turn's further attempts are where its first one is. Of a count of turns, those that end first are it."""
        turn, setting = (record.session, record.turn, record.kind), self._setting
        if turn in self._warm:
            return True
        in_time = setting.warm_up_s is not None and record.wall_time < (setting.began or 0.0) + setting.warm_up_s
        if in_time or len(self._warm) < (setting.warm_up_turns or 0):
            self._warm.add(turn)
            return True
        return False


def _cells(entry: str, kind: str, row: _Row) -> list[str]:
    prompts = (row.prompt.statistic("p50"), row.prompt.statistic("max"))
    waits = (row.queue.statistic("p95"), *map(row.ttft.statistic, ("p50", "p95", "max")))
    return [
        *(entry, kind, str(row.turns), str(row.failures)),
        *(count(None if wait is None else wait.value) for wait in prompts),
        *map(seconds, waits),
        share(row.reuse.ratio),
    ]
