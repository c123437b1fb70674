"""Which turns of a run that goes on its figures are of: what `window.measured` says of all, told one turn at a time."""

import math
from bisect import insort

from locust_agents import window
from locust_agents.records import CANARY, TurnRecord
from locust_agents.setting import Setting
from locust_agents.window import Turn


class Measuring:
    """Keeps the records of the warm-up. The attempts of one turn must come in their order, as one process sends them.

    The end of a warm-up by turns is only known better, never worse: a turn that started early and ends late moves it
    forward. So what was measured once stays so.
    """

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._over = -math.inf if setting.warm_up_turns is None and setting.warm_up_s is None else math.inf
        self._starts: list[float] = []
        self._warm: dict[Turn, list[TurnRecord]] = {}

    def take(self, record: TurnRecord) -> list[TurnRecord]:
        """The records that are measured with this one and were not before."""
        if self._over == -math.inf:
            return [record]
        turn = window.turn_of(record)
        if turn in self._warm:
            self._warm[turn].append(record)
            return []
        before = self._over
        self._see(record)
        if record.wall_time >= self._over:
            return [*self._released(), record] if self._over < before else [record]
        self._warm[turn] = [record]
        return self._released() if self._over < before else []

    def _see(self, record: TurnRecord) -> None:
        """A new turn, or another attempt of one that is measured; only a start before the known end moves that."""
        turns, for_s, began = self._setting.warm_up_turns, self._setting.warm_up_s, self._setting.began
        if for_s is not None:
            self._over = min(self._over, (record.wall_time if began is None else began) + for_s)
        elif turns is not None and record.kind != CANARY and record.wall_time < self._over:
            insort(self._starts, record.wall_time)
            del self._starts[turns + 1 :]
            if len(self._starts) > turns:
                self._over = self._starts[turns]

    def _released(self) -> list[TurnRecord]:
        done = [turn for turn, tries in self._warm.items() if tries[0].wall_time >= self._over]
        return [record for turn in done for record in self._warm.pop(turn)]
