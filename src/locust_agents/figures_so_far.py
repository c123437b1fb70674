"""Statistics of waits that come one at a time: the same as `figures.statistic` of all, at the cost of the new ones."""

from array import array
from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from math import ceil

from locust_agents import figures
from locust_agents.figures import Wait

_SHARES = {"p50": 0.50, "p95": 0.95, "p99": 0.99, "max": 1.0}


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
