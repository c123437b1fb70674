"""What the ranks say and use during a run: asked once a second, it notes, keeps peaks, and says when to stop."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from locust_agents.cluster import clocks
from locust_agents.cluster.clocks import Moment, Slept
from locust_agents.cluster.crew import ProcessRecord
from locust_agents.cluster.vitals import memory
from locust_agents.cluster.vitals.guard import Guard
from locust_agents.cluster.vitals.log import RankTalk
from locust_agents.cluster.vitals.memory_gauge import Take
from locust_agents.cluster.vitals.memory_sample import Host
from locust_agents.cluster.vitals.peaks import Peaks
from locust_agents.cluster.vitals.sampling import HostMemory
from locust_agents.telling import Note


@dataclass(frozen=True, slots=True)
class Finding:
    """One look. Each sentence but `news` stays once it is there; `news` are those that were not said before."""

    stop: str | None = None
    """The guard's: nothing more may be sent."""
    failure: str | None = None
    """A rank generates nothing any more, as its log says."""
    untrusted: str | None = None
    """What was measured is not the server's doing: status 4."""
    news: tuple[str, ...] = ()


class Vitals:
    """Made as a run begins. Every call takes a few milliseconds at most; nothing here waits for a host."""

    def __init__(
        self,
        hosts: Callable[[], Sequence[Host]],
        logs: Mapping[int, Path],
        guard: Guard,
        note: Note,
        clock: Callable[[], Moment] = clocks.read,
        take: Take = memory.sample,
    ) -> None:
        """`hosts` is asked at each look, since a restart changes pids; `logs` are those that lie on this machine."""
        self._hosts = hosts
        self._guard = guard
        self._note = note
        self._clock = clock
        self._take = take
        self._talks = {rank: RankTalk(rank, path, note) for rank, path in logs.items()}
        self._memories: dict[str, HostMemory] = {}
        self._moment = clock()
        self._slept_s = 0.0
        self._is_sure = True

    def tick(self) -> Finding:
        """Looks at clocks, logs and, when it is time, at memory."""
        before, self._moment = self._moment, self._clock()
        self._compare(before, self._moment)
        for talk in self._talks.values():
            talk.look()
        news = [sentence for host in self._hosts() for sentence in self._memory(host).look(host, self._moment.awake_s)]
        return Finding(
            stop=next((host.stop for host in self._memories.values() if host.stop), None),
            failure=next((_died(rank, talk) for rank, talk in self._talks.items() if talk.died is not None), None),
            untrusted=clocks.sentence(self._slept_s, self._is_sure) if self._slept_s else None,
            news=tuple(news),
        )

    def peaks(self) -> Peaks:
        """The most of everything so far."""
        memories = list(self._memories.values())
        rank_0 = self._talks.get(0)
        return Peaks(
            memory={rank: used for host in memories for rank, used in host.peaks.items()},
            figure=next((host.figure for host in memories if host.figure), None),
            swap_growth={
                name: host.swap_growth for name, host in self._memories.items() if host.swap_growth is not None
            },
            cache_sequences=rank_0.cache_sequences if rank_0 else None,
            cache_gb=rank_0.cache_gb if rank_0 else None,
            tracebacks=sum(talk.counts["traceback"] for talk in self._talks.values()),
            tool_calls_dropped=rank_0.counts["tool_call_dropped"] if rank_0 else 0,
            slept_s=self._slept_s,
        )

    def restarted(self) -> None:
        """To be called once a new server is up in the same run: the old one's failure is over, peaks go on."""
        for talk in self._talks.values():
            talk.restarted()

    def close(self) -> None:
        """Reads what the logs have said since the last look, and lets go of them."""
        for talk in self._talks.values():
            talk.close()

    def _memory(self, host: Host) -> HostMemory:
        if host.name not in self._memories:
            self._memories[host.name] = HostMemory(host.name, self._guard, self._note, self._take)
        return self._memories[host.name]

    def _compare(self, before: Moment, now: Moment) -> None:
        for jump in clocks.jumps(before, now):
            if isinstance(jump, Slept):
                self._slept_s += jump.seconds
                self._is_sure = self._is_sure and jump.sure
                self._note("slept", {"seconds": round(jump.seconds, 1), "sure": jump.sure})
            else:
                self._note("clock_set", {"seconds": round(jump.seconds, 3)})


def hosts_of(records: Iterable[ProcessRecord], runs: Mapping[str, Callable[[str], str]]) -> list[Host]:
    """The ranks among the records, by host; a host that `runs` does not name is this machine."""
    ranks: dict[str, dict[int, int]] = {}
    for record in records:
        if record.rank is not None:
            ranks.setdefault(record.host, {})[record.rank] = record.pid
    return [Host(name, pids, runs.get(name)) for name, pids in ranks.items()]


def _died(rank: int, talk: RankTalk) -> str:
    return f"rank {rank}'s generation thread died ({talk.died}): read its log, then start the server again"
