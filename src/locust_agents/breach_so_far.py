"""Whether a broken limit ends a run that goes on: a look that costs the new turns, and where it must, one at all."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from locust_agents import verdict, verdict_so_far, window
from locust_agents.limits import Limit
from locust_agents.records import TurnRecord
from locust_agents.setting import Setting
from locust_agents.verdict import Judgement
from locust_agents.verdict_so_far import Tally
from locust_agents.window_so_far import Measuring

# A share, or a percentile, of fewer turns may come back to its side of the bound.
_ENOUGH = 20


def found(limits: Sequence[Limit], records: Sequence[TurnRecord], setting: Setting) -> Judgement | None:
    """The first limit that ends the run.

    A worst value cannot be made good again, nor a failure where none is allowed; of the rest there must be enough.
    """
    measured = window.measured(records, setting)
    return next(_ending(verdict.judge(limits, measured), measured), None)


class BreachSoFar:
    """Whether there may be such a limit."""

    def __init__(self, limits: Sequence[Limit], setting: Setting) -> None:
        self._limits = limits
        self._measuring = Measuring(setting)
        self._turns: Counter[str] = Counter()
        self._tallies: dict[tuple[int, str], Tally] = {}

    def take(self, records: Iterable[TurnRecord]) -> None:
        """These have ended."""
        for record in records:
            for measured in self._measuring.take(record):
                self._add(measured)

    def is_likely(self) -> bool:
        """False is sure: `found` would find none. What is true, it has to say."""
        return any(
            _counts(self._limits[number], self._turns[entry]) and tally.is_broken()
            for (number, entry), tally in self._tallies.items()
        )

    def _add(self, record: TurnRecord) -> None:
        entry = record.entry
        self._turns[entry] += 1
        for number, limit in enumerate(self._limits):
            if limit.entry in (None, entry) and verdict.is_meant(limit, entry, record):
                if (number, entry) not in self._tallies:
                    self._tallies[number, entry] = verdict_so_far.tally(limit)
                self._tallies[number, entry].take(record)


def _ending(judgements: Iterable[Judgement], records: Sequence[TurnRecord]) -> Iterator[Judgement]:
    turns = Counter(record.entry for record in records)
    return (one for one in judgements if one.held is False and _counts(one.limit, turns[one.entry]))


def _counts(limit: Limit, turns: int) -> bool:
    is_final = limit.stat in ("max", "min") or (limit.metric == "failures" and not limit.bound)
    return is_final or turns >= _ENOUGH
