"""Whether the figures of a run that goes on can be trusted: as `trust.of` says it, at the cost of the new turns."""

from collections.abc import Sequence

from locust_agents import lateness, trust
from locust_agents.figures import Wait
from locust_agents.figures_so_far import Sorted
from locust_agents.limits import Limit
from locust_agents.outcome import Outcome
from locust_agents.records import CANARY, TurnRecord
from locust_agents.setting import Setting
from locust_agents.trust import Trust, Witness
from locust_agents.window_so_far import Measuring

_ALONE = Witness()


class TrustSoFar:
    """Of one run. The sessions of `setting.due` do not count, and `until` is given as it comes to be known."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._measuring = Measuring(setting)
        self._lag, self._late = Sorted(), Sorted()
        self._sent = 0
        self._cut: list[tuple[float, float]] = []
        self._gaps: dict[int, int] = {}

    @property
    def worst_lag_s(self) -> float | None:
        """The most that the client's own loop was late while a measured turn was open."""
        found = self._lag.statistic("max")
        return None if found is None else found.value

    def take(self, record: TurnRecord) -> None:
        """A turn ended."""
        if record.outcome is Outcome.CUT:
            self._cut.append((record.wall_time, record.wall_time + record.end_s))
        for measured in self._measuring.take(record):
            if measured.kind != CANARY:
                self._add(measured)

    def told(self, until: float | None = None, limits: Sequence[Limit] = (), witness: Witness = _ALONE) -> Trust:
        """For what is known now; `until` is when the load ended, in UNIX seconds, None while it goes on."""
        cut = 0 if until is None else sum(start < until < end for start, end in self._cut)
        return trust.judged(_p99(self._lag), _p99(self._late), (cut, self._sent), self._gaps, limits, witness)

    def _add(self, record: TurnRecord) -> None:
        self._sent += record.sent_s is not None
        if record.loop_lag_s is not None:
            self._lag.add(Wait(record.loop_lag_s))
        if record.late_s is not None and not lateness.is_due(record, self._setting):
            self._late.add(Wait(record.late_s))
        if record.outcome is Outcome.OK:
            for bucket, times in record.itl_hist.items():
                self._gaps[bucket] = self._gaps.get(bucket, 0) + times


def _p99(waits: Sorted) -> Wait | None:
    """Or the worst of fewer than that says something of."""
    return waits.statistic("p99") or waits.statistic("max")
