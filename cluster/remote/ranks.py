"""Decides which processes on other hosts are ranks of a launch, whether they run, and what is left of them."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from locust_agents.cluster import logs
from locust_agents.cluster.launch_spec import LaunchSpec
from locust_agents.cluster.process_list import SAME_S, ProcessRecord
from locust_agents.cluster.remote import end as remote_end
from locust_agents.cluster.remote.host import RemoteHost
from locust_agents.cluster.remote.line import Line
from locust_agents.cluster.remote.ps import Seen
from locust_agents.errors import ClusterError
from locust_agents.telling import Note

MOST_BYTES = 4_000_000
"""How far the launcher's log is searched for a pid, which is the first thing that a rank says."""


def ssh_names(spec: LaunchSpec) -> tuple[str | None, ...]:
    """What ssh is given for the host of each rank; None for a rank on this machine."""
    hosts = spec.hostfile.hosts if spec.hostfile else ()
    return tuple(None if host.is_local else host.ssh for host in hosts)


class RemoteRanks:
    """The ranks that mlx.launch starts over ssh, and a kept connection of our own to each of their hosts."""

    def __init__(self, folder: Path, hosts: Sequence[str | None], note: Note) -> None:
        """`hosts` has what ssh is given for each rank, None for one on this machine."""
        self.records: dict[int, ProcessRecord] = {}
        self._folder = folder
        self._began_s = time.monotonic()
        self._of = {rank: name for rank, name in enumerate(hosts) if name is not None}
        self._hosts = {name: RemoteHost(name, note, self._began_s) for name in dict.fromkeys(self._of.values())}
        self._pids: dict[int, int] = {}
        self._gone: set[int] = set()

    def __contains__(self, rank: int) -> bool:
        return rank in self._of

    def look(self) -> list[ProcessRecord]:
        """Those met since the last look. Never waits for a host: what it is asked now, a later look will know."""
        self._read_pids()
        for name, host in self._hosts.items():
            host.look([pid for rank, pid in self._pids.items() if self._of[rank] == name], time.monotonic())
        known = {rank: self._hosts[self._of[rank]] for rank in self._pids.keys() - self._gone}
        answered = {rank: host for rank, host in known.items() if self._pids[rank] in host.asked_for}
        return [met for rank, host in answered.items() if (met := self._take(rank, host.seen.get(self._pids[rank])))]

    def missing(self) -> set[int]:
        """The ranks that told their pid and run no more."""
        return self._gone

    def unreachable(self) -> tuple[int, str] | None:
        """A rank whose host has not answered for long, and the sentence about it."""
        troubles = ((rank, self._hosts[name].trouble(time.monotonic())) for rank, name in self._of.items())
        return next(((rank, text) for rank, text in troubles if text), None)

    def runs(self) -> dict[str, Callable[[str], str]]:
        """For each of their hosts, what runs a command there and returns its output; raises ClusterError."""
        return {name: host.run for name, host in self._hosts.items()}

    def end(self, grace_s: float) -> list[str]:
        """Makes sure that each is gone; one sentence for each that is not, or may not be."""
        self._read_pids()
        try:
            return [text for rank in self._of if rank not in self._gone if (text := self._end(rank, grace_s))]
        finally:
            for host in self._hosts.values():
                host.close()

    def _end(self, rank: int, grace_s: float) -> str | None:
        host = self._of[rank]
        pid = self._pids.get(rank)
        if pid is None:
            return f"rank {rank} on {host} never told its pid: nobody looked whether it still runs"
        try:
            return self._end_by_any_line(self._hosts[host], rank, pid, grace_s)
        except ClusterError as error:
            then = f"then run `locust-agents stop {self._folder}`"
            return f"rank {rank} (pid {pid}) on {host} may still run: {error}, {then}"

    def _end_by_any_line(self, host: RemoteHost, rank: int, pid: int, grace_s: float) -> str | None:
        kept = host.line
        line = host.fresh()
        try:
            return self._end_by(line, rank, pid, grace_s)
        except ClusterError:
            if line is not kept or line.lost is None:
                raise
            return self._end_by(host.fresh(), rank, pid, grace_s)  # what broke it may be over: one who calls anew knows

    def _end_by(self, line: Line, rank: int, pid: int, grace_s: float) -> str | None:
        if rank not in self.records:
            self._take(rank, remote_end.look(line, [pid]).get(pid))
        record = self.records.get(rank)
        if record is None or remote_end.end(line, record, grace_s):
            self._gone.add(rank)
            return None
        share = remote_end.spinning(line, record)
        return remote_end.left_over(record.name, remote_end.kill_command(record), share)

    def _take(self, rank: int, seen: Seen | None) -> ProcessRecord | None:
        """What an answer says of a rank: its record when it is met by that, else perhaps that it is gone."""
        met = self.records.get(rank)
        ours_s = time.monotonic() - self._began_s + SAME_S
        same = seen is not None and (met.is_same(seen.start_time) if met else seen.age_s <= ours_s)
        if seen is None or not seen.is_alive or not same:
            self._gone.add(rank)
            return None
        if met:
            return None
        host = self._of[rank]
        self.records[rank] = ProcessRecord(host, seen.pid, seen.start_time, "rank", rank, ssh=host)
        return self.records[rank]

    def _read_pids(self) -> None:
        if unknown := self._of.keys() - self._pids.keys():
            told = dict(_told(self._folder / "launcher.log"))
            for rank in unknown:
                pid = logs.rank_pid(logs.rank_log(self._folder, rank)) or told.get(rank)
                if pid:
                    self._pids[rank] = pid


def _told(launcher_log: Path) -> Iterator[tuple[int, int]]:
    """Rank and pid of those that do not see our folder, the last told first. Through a terminal, lines end in CR LF."""
    try:
        with launcher_log.open("rb") as log:
            text = log.read(MOST_BYTES).decode(errors="replace")
    except FileNotFoundError:
        return
    for found in reversed(list(re.finditer(r"rank (\d+) pid (\d+)\r?\n", text))):
        yield int(found[1]), int(found[2])
