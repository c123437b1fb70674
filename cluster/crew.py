"""Decides which processes are those of a launch, whether each still runs, and how to end them without the guardian."""

import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

from locust_agents.cluster import logs, ports, process_list
from locust_agents.cluster.guardian import end_group
from locust_agents.cluster.process import GRACE_S
from locust_agents.cluster.process_list import ProcessRecord
from locust_agents.cluster.remote.end import left_over
from locust_agents.cluster.remote.ranks import RemoteRanks
from locust_agents.telling import Note

__all__ = ["Crew", "ProcessRecord", "cpu_share", "is_alive"]

LOOK_S = 1.0
"""Between two looks at the CPU time of what should be gone."""


def _unnoted(event: str, fields: Mapping[str, object]) -> None:
    """For a crew whose events nobody keeps."""


class Crew:
    """The guardian, the launcher and the ranks of one launch, as they are met, on this machine and on others."""

    def __init__(self, folder: Path, hosts: Sequence[str | None] = (), note: Note = _unnoted) -> None:
        """`hosts` has what ssh is given to reach each rank's host, None for this machine; none at all: all are here.

        `note` gets `ssh_lost` (host, why) for each connection that broke.
        """
        self._folder = folder
        self._group: int | None = None
        self._met: dict[ProcessRecord, psutil.Process] = {}
        self._far = RemoteRanks(folder, hosts, note)
        entries, ended = process_list.read(folder)
        self._earlier = [each for each in entries if each not in ended]
        """Who was not known to have ended when an earlier launch of this run was stopped."""

    def records(self) -> list[ProcessRecord]:
        """Everybody met so far, the dead too."""
        return [*self._met, *self._far.records.values()]

    def meet(self, pid: int, role: str, rank: int | None = None) -> None:
        """Remembers a process of this machine, here and in processes.json. The launcher's pid is that of its group."""
        if role == "launcher":
            self._group = pid
        try:
            process = psutil.Process(pid)
            who = ProcessRecord(socket.gethostname(), pid, process.create_time(), role, rank)
        except psutil.NoSuchProcess:
            return
        self._met[who] = process
        self._write()

    def meet_ranks(self, ranks: int) -> None:
        """Meets those ranks that have written their pid since. One of an older log is not in our group."""
        for rank in set(range(ranks)) - {who.rank for who in self._met}:
            pid = None if rank in self._far else logs.rank_pid(logs.rank_log(self._folder, rank))
            if pid is not None and self._is_ours(pid):
                self.meet(pid, "rank", rank)
        if self._far.look():
            self._write()

    def rank(self, number: int) -> psutil.Process | None:
        """The process of a rank of this machine, None before it was met."""
        return next((process for who, process in self._met.items() if who.rank == number), None)

    def serves(self, port: int) -> bool:
        """Whether it can be our rank 0 that answers on this port. Of one on another host only that it runs is known."""
        if 0 in self._far:
            return 0 in self._far.records and 0 not in self._far.missing()
        rank_0 = self.rank(0)
        return rank_0 is not None and ports.listens(rank_0, port) is not False

    def missing(self) -> tuple[int, ...]:
        """The ranks that were met and run no more, lowest first."""
        gone = {who.rank for who, process in self._met.items() if not is_alive(process)}
        return tuple(sorted(rank for rank in gone | self._far.missing() if rank is not None))

    def unreachable(self) -> tuple[int, str] | None:
        """A rank of which nobody knows, since its host has long not answered over ssh, and a sentence about that."""
        return self._far.unreachable()

    def runs(self) -> dict[str, Callable[[str], str]]:
        """For each other host, as records name it, what runs a command there and returns its output over ssh."""
        return self._far.runs()

    def left(self) -> list[int]:
        """The pids that still run here: of everybody met, and of whoever else is in the launcher's group."""
        others = {process.pid for process in psutil.process_iter() if self._is_ours(process.pid) and is_alive(process)}
        return sorted(others | {process.pid for process in self._met.values() if is_alive(process)})

    def end(self) -> None:
        """Does the guardian's work when that was killed; somebody we met must show that the group is still ours."""
        ours = any(self._is_ours(process.pid) and is_alive(process) for process in self._met.values())
        if ours and self._group is not None:
            end_group(self._group, lambda: None, GRACE_S)

    def make_sure(self) -> list[str]:
        """After the group was ended: ends what is left on other hosts; a sentence for each that runs, or may, anywhere.

        processes.json says then who is known to have ended. Closes the connections.
        """
        unsure = [*self._far.end(GRACE_S), *map(self._left_here, self.left())]
        gone = {who for who, process in self._met.items() if not is_alive(process)}
        gone |= {who for rank, who in self._far.records.items() if rank in self._far.missing()}
        if self._met:
            self._write(gone)
        return unsure

    def _left_here(self, pid: int) -> str:
        name = next((who.name for who in self._met if who.pid == pid), f"process {pid} of the cluster")
        return left_over(name, f"kill -9 {pid}", cpu_share(pid))

    def _write(self, ended: frozenset[ProcessRecord] | set[ProcessRecord] = frozenset()) -> None:
        process_list.write(self._folder, [*self._earlier, *self.records()], ended)

    def _is_ours(self, pid: int) -> bool:
        try:
            return os.getpgid(pid) == self._group
        except (ProcessLookupError, PermissionError):
            return False


def is_alive(process: psutil.Process) -> bool:
    """Whether this very process still runs: not another one under its pid, and not a dead one that nobody collected."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def cpu_share(pid: int) -> float:
    """The part of a core that a process of this machine takes, measured over a second; 0 when it has ended."""
    try:
        process = psutil.Process(pid)
        before = process.cpu_times()
        time.sleep(LOOK_S)
        after = process.cpu_times()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0.0
    return float(after.user + after.system - before.user - before.system) / LOOK_S
