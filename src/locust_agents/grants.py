"""Decides how many of a run's `turns` each process may start: exactly all of them together, where the slots are."""

from collections.abc import Collection

# So many turns for each slot are granted ahead: a turn that is over at once must not wait for a message.
_AHEAD = 2


class Grants:
    """Of one run of so many turns. A grant counts from the run's start and is never taken back."""

    def __init__(self, turns: int) -> None:
        self.left = turns
        self._granted: dict[str, int] = {}
        self._started: dict[str, int] = {}

    def ask(self, process: str, started: int, slots: int) -> int:
        """A process has started so many turns and has so many slots; the answer is how many it may start in all."""
        self._started[process] = started
        granted = self._granted.get(process, 0)
        more = min(self.left, max(0, started + _AHEAD * slots - granted))
        self.left -= more
        self._granted[process] = granted + more
        return granted + more

    def keep_only(self, processes: Collection[str]) -> None:
        """What a process that is gone is not known to have started goes to the others."""
        for process in self._granted.keys() - set(processes):
            self.left += self._granted.pop(process) - self._started.pop(process)
