"""Decides when a host's memory is looked at, and keeps the looking out of everybody's way."""

import subprocess
import threading
from collections.abc import Callable, Sequence

from locust_agents.cluster.vitals import memory
from locust_agents.cluster.vitals.memory_sample import Host, Sample
from locust_agents.errors import LocustAgentsError

EVERY_S = 5.0

Take = Callable[[Sequence[int], Callable[[str], str] | None], Sample]


class Gauge:
    """One host's memory every EVERY_S. A command runs in a thread (a greenlet under Locust), one at a time."""

    def __init__(self, take: Take = memory.sample) -> None:
        self._take = take
        self._next_s: float | None = None
        self._busy = False
        self._found: Sample | str | None = None

    def look(self, host: Host, now_s: float) -> Sample | str | None:
        """Starts a look when one is due, and returns once what the last one found, or one line on why it failed."""
        if not self._busy and (self._next_s is None or now_s >= self._next_s):
            self._next_s = now_s + EVERY_S
            self._start(host)
        if self._busy:
            return None
        found, self._found = self._found, None
        return found

    def _start(self, host: Host) -> None:
        if memory.is_instant(host.run):
            self._look(host)
        else:
            self._busy = True
            threading.Thread(target=self._look, args=(host,), daemon=True).start()

    def _look(self, host: Host) -> None:
        try:
            self._found = self._take(list(host.ranks.values()), host.run)
        except (OSError, subprocess.SubprocessError, LocustAgentsError) as error:
            self._found = f"the memory of {host.name} is unknown ({' '.join(str(error).split())})"
        finally:
            self._busy = False
