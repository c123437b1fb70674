"""Decides which processes are those of a launch, whether each still runs, and how to end them without the guardian."""

import json
import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from locust_agents.cluster import logs
from locust_agents.cluster.guardian import end_group
from locust_agents.cluster.process import GRACE_S


@dataclass(frozen=True, slots=True)
class ProcessRecord:
    """An entry of processes.json: enough to know later, on that host, whether a pid is still the process we started."""

    host: str
    pid: int
    start_time: float
    role: str
    rank: int | None = None


class Crew:
    """The guardian, the launcher and the ranks of one launch, as they are met."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._group: int | None = None
        self._met: dict[ProcessRecord, psutil.Process] = {}

    def records(self) -> list[ProcessRecord]:
        """Everybody met so far, the dead too."""
        return list(self._met)

    def meet(self, pid: int, role: str, rank: int | None = None) -> None:
        """Remembers a process, here and in processes.json. The launcher's pid is also that of its group."""
        if role == "launcher":
            self._group = pid
        try:
            process = psutil.Process(pid)
            who = ProcessRecord(socket.gethostname(), pid, process.create_time(), role, rank)
        except psutil.NoSuchProcess:
            return
        self._met[who] = process
        draft = self._folder / "processes.json.part"
        draft.write_text(json.dumps([asdict(each) for each in self._met], indent=1) + "\n")
        os.replace(draft, self._folder / "processes.json")

    def meet_ranks(self, ranks: int) -> None:
        """Meets those ranks that have written their pid since. One of an older log is not in our group."""
        for rank in set(range(ranks)) - {who.rank for who in self._met}:
            pid = logs.rank_pid(logs.rank_log(self._folder, rank))
            if pid is not None and self._is_ours(pid):
                self.meet(pid, "rank", rank)

    def rank(self, number: int) -> psutil.Process | None:
        """The process of a rank, None before it was met."""
        return next((process for who, process in self._met.items() if who.rank == number), None)

    def missing(self) -> tuple[int, ...]:
        """The ranks that were met and run no more, lowest first."""
        gone = (who.rank for who, process in self._met.items() if not is_alive(process))
        return tuple(sorted(rank for rank in gone if rank is not None))

    def left(self) -> list[int]:
        """The pids that still run: of everybody met, and of whoever else is in the launcher's group."""
        others = {process.pid for process in psutil.process_iter() if self._is_ours(process.pid) and is_alive(process)}
        return sorted(others | {process.pid for process in self._met.values() if is_alive(process)})

    def end(self) -> None:
        """Does the guardian's work when that was killed; somebody we met must show that the group is still ours."""
        ours = any(self._is_ours(process.pid) and is_alive(process) for process in self._met.values())
        if ours and self._group is not None:
            end_group(self._group, lambda: None, GRACE_S)

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
