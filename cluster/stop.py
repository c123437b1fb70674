"""Decides which processes of a run's folder still are ours, by host, pid and start time, and ends those."""

import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from locust_agents.cluster import process_list
from locust_agents.cluster.crew import cpu_share, is_alive
from locust_agents.cluster.guardian import end_group
from locust_agents.cluster.process import GRACE_S
from locust_agents.cluster.process_list import ProcessRecord
from locust_agents.cluster.remote import end
from locust_agents.cluster.remote.line import Line
from locust_agents.errors import ClusterError


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a process: `ran` until now for all we know, and whether it is `left`, or may be."""

    text: str
    ran: bool = False
    left: bool = False


Fates = dict[ProcessRecord, Fate]

ENDED = Fate("ended", ran=True)
HAD_ENDED = Fate("had ended before")
REUSED = Fate("had ended before; its pid is another process's by now, which is left alone")


class Lines:
    """The connections to other hosts, one for each, made when it is first needed."""

    def __init__(self) -> None:
        self._lines: dict[str, Line] = {}

    def to(self, host: str) -> Line:
        """Raises ClusterError where ssh cannot be started."""
        if host not in self._lines:
            self._lines[host] = Line(host)
        return self._lines[host]

    def close(self) -> None:
        """Ends them all."""
        for line in self._lines.values():
            line.close()


def stop(folder: Path, lines: Lines) -> Fates:
    """Ends what still runs: the launcher's group, then the ranks, the guardian last. Empty without a processes.json.

    Who is found to have ended is marked so there, and not looked for again. Raises ScenarioError for an odd file.
    """
    records, ended = process_list.read(folder)
    fates = dict.fromkeys(ended, HAD_ENDED)
    # all are looked for first, since the end of the launcher's group is that of its ranks on other hosts too
    running = [each for each in records if each not in ended and not _decided(each, lines, fates)]
    _end_groups({each.pid for each in records if each.role == "launcher"}, running)
    for each in sorted(running, key=lambda record: record.role == "guardian"):
        fates[each] = _end_far(each, lines) if each.ssh else _end_here(each)
    gone = {each for each, fate in fates.items() if not fate.left}
    if gone > ended:
        process_list.write(folder, records, gone)
    return {each: fates[each] for each in records}


def _decided(record: ProcessRecord, lines: Lines, fates: Fates) -> bool:
    """Whether there is nothing to be ended, and then says why."""
    fate = _look_far(record, lines) if record.ssh else _look_here(record)
    if fate:
        fates[record] = fate
    return fate is not None


def _look_here(record: ProcessRecord) -> Fate | None:
    """None while it runs."""
    if _short(record.host) != _short(socket.gethostname()):
        return Fate(f"is looked for by `locust-agents stop` on {record.host} only", left=True)
    try:
        process = psutil.Process(record.pid)
        if not record.is_same(process.create_time()):
            return REUSED
    except psutil.NoSuchProcess:
        return HAD_ENDED
    return None if is_alive(process) else HAD_ENDED


def _look_far(record: ProcessRecord, lines: Lines) -> Fate | None:
    try:
        line = lines.to(str(record.ssh))
        seen = end.look(line, [record.pid]).get(record.pid)
    except ClusterError as error:
        return Fate(f"may still run: {error}", left=True)
    if seen and not record.is_same(seen.start_time):
        return REUSED
    return None if seen and seen.is_alive else HAD_ENDED


def _end_groups(launchers: set[int], running: list[ProcessRecord]) -> None:
    """Of the launchers, even of a dead one, as long as someone who still runs shows that the group is ours."""
    for group in {_group(each.pid) for each in running if each.ssh is None} & launchers:
        end_group(group, lambda: None, GRACE_S)


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except (ProcessLookupError, PermissionError):
        return -1


def _end_here(record: ProcessRecord) -> Fate:
    try:
        process = psutil.Process(record.pid)
        for signal in (process.terminate, process.kill):
            if not _outlives(process, 0.0):
                return ENDED
            signal()
            if not _outlives(process, GRACE_S):
                return ENDED
    except psutil.NoSuchProcess:
        return ENDED
    except psutil.AccessDenied:
        return Fate(f"belongs to {process.username()}, and only they can end it", ran=True, left=True)
    return _left(record, cpu_share(record.pid))


def _outlives(process: psutil.Process, patience_s: float) -> bool:
    deadline_s = time.monotonic() + patience_s
    while alive := is_alive(process):
        if time.monotonic() >= deadline_s:
            break
        time.sleep(0.05)
    return alive


def _end_far(record: ProcessRecord, lines: Lines) -> Fate:
    try:
        line = lines.to(str(record.ssh))
        if end.end(line, record, GRACE_S):
            return ENDED
        return _left(record, end.spinning(line, record))
    except ClusterError as error:
        return Fate(f"may still run: {error}", ran=True, left=True)


def _left(record: ProcessRecord, share: float) -> Fate:
    spins = f", and takes {share:.0%} of a core" if share >= 0.1 else ""
    return Fate(f"still runs after SIGKILL{spins}: {end.kill_command(record)}", ran=True, left=True)


def _short(host: str) -> str:
    """A Mac's name ends in .local, .lan or the domain of the network that it is in just now."""
    return host.lower().partition(".")[0]
