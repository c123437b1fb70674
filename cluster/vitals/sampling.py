"""Decides what becomes of a host's memory figures: lines in cluster.jsonl, peaks, the guard's word."""

from locust_agents.cluster.vitals import guard as guards
from locust_agents.cluster.vitals.guard import Guard
from locust_agents.cluster.vitals.memory_gauge import Gauge, Take
from locust_agents.cluster.vitals.memory_sample import Figure, Host, Sample
from locust_agents.telling import Note


class HostMemory:
    """One host through a run: its first sample is what growth is measured from."""

    def __init__(self, name: str, guard: Guard, note: Note, take: Take) -> None:
        self._name = name
        self._guard = guard
        self._note = note
        self._gauge = Gauge(take)
        self._rank_of: dict[int, int] = {}
        self._first: Sample | None = None
        self._last: Sample | None = None
        self._fault: str | None = None
        self._highest_before: dict[int, int] = {}
        self.peaks: dict[int, int] = {}
        """Bytes for each rank."""
        self.figure: Figure | None = None
        self.swap_growth: int | None = None
        """The most, in bytes; None where the host does not tell."""
        self.stop: str | None = None
        """The guard's sentence, from when it first spoke."""

    def look(self, host: Host, now_s: float) -> list[str]:
        """Sentences that a person should read once: what the guard cannot see, and why there are no figures."""
        self._rank_of |= {pid: rank for rank, pid in host.ranks.items()}
        found = self._gauge.look(host, now_s)
        if isinstance(found, Sample):
            return self._take(found)
        if found is None or found == self._fault:
            return []
        self._fault = found
        self._note("memory", {"host": self._name, "unknown": found})
        return [found]

    def _take(self, sample: Sample) -> list[str]:
        news = [] if self._first else self._blind_spots(sample)
        first = self._first = self._first or sample
        self.figure = sample.figure if sample.used else self.figure
        self._weigh(first, sample)
        self._note_sample(sample)
        self._last = sample
        if self.stop is None and (sentence := guards.decide(self._guard, first, sample, self._name)):
            self.stop = sentence
            self._note("guard", {"host": self._name, "what": sentence})
        return news

    def _blind_spots(self, sample: Sample) -> list[str]:
        keys = guards.blind_spots(self._guard, sample)
        return [f"{self._name} gives no figure for {' and '.join(keys)}: it is not guarded there"] if keys else []

    def _weigh(self, first: Sample, sample: Sample) -> None:
        """Between two samples only the system's own peak has looked; it counts once it has grown in this run."""
        for pid, used in sample.used.items():
            highest = sample.highest.get(pid, 0)
            before = self._highest_before.setdefault(pid, highest)
            rank = self._rank_of[pid]
            self.peaks[rank] = max(self.peaks.get(rank, 0), used, highest if highest > before else 0)
        growth = guards.swap_growth(first, sample)
        if growth is not None:
            self.swap_growth = max(self.swap_growth or 0, growth)

    def _note_sample(self, sample: Sample) -> None:
        ranks = {self._rank_of[pid]: used for pid, used in sample.used.items()}
        fields = {"host": self._name, "figure": sample.figure, "ranks": ranks, "swap_used": sample.swap_used}
        self._note("memory", {**fields, "pressure": sample.pressure})
        before = self._last.pressure if self._last else "normal"
        if sample.pressure and sample.pressure != before:
            self._note("pressure", {"host": self._name, "level": sample.pressure})
