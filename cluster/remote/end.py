"""Decides how a process on another host is ended, and what is said of one that cannot be."""

import time

from locust_agents.cluster.process_list import ProcessRecord
from locust_agents.cluster.remote import ps
from locust_agents.cluster.remote.line import Line, unreachable
from locust_agents.cluster.remote.ps import Seen
from locust_agents.errors import ClusterError

ANSWER_S = 15.0
"""How long one answer may take while we stop: a host that swaps is slow."""

HANG_UP_S = 2.0
"""What a rank gets to end by itself once its ssh has ended: sshd hangs up its terminal then."""

KILLED_S = 3.0
LOOK_S = 3.0
"""Between two looks at the CPU time of what should be gone."""


def look(line: Line, pids: list[int]) -> dict[int, Seen]:
    """Those of the pids that exist there; raises ClusterError when that cannot be known."""
    answer = line.wait(ps.question(pids), ANSWER_S)
    seen = ps.understand(answer.text, answer.status)
    if seen is None:
        what = answer.text.strip()[-100:] or f"status {answer.status}"
        raise ClusterError(unreachable(line.host, f"date and ps said {what!r}"))
    return seen


def alive(line: Line, record: ProcessRecord) -> Seen | None:
    """The process of this record while it runs; None also when its pid is another's by now. Raises ClusterError."""
    seen = look(line, [record.pid]).get(record.pid)
    return seen if seen and seen.is_alive and record.is_same(seen.start_time) else None


def end(line: Line, record: ProcessRecord, grace_s: float) -> bool:
    """Ends it, if need be with SIGTERM and after `grace_s` with SIGKILL; whether it is gone. Raises ClusterError."""
    for signal, wait_s in ((None, HANG_UP_S), ("TERM", grace_s), ("KILL", KILLED_S)):
        seen = alive(line, record)
        if seen and signal:
            line.wait(ps.signal_command(signal, seen), ANSWER_S)
        deadline_s = time.monotonic() + wait_s
        while seen and time.monotonic() < deadline_s:
            time.sleep(0.1)
            seen = alive(line, record)
        if seen is None:
            return True
    return False


def spinning(line: Line, record: ProcessRecord) -> float:
    """The part of a core that it takes; 0 when it is gone. Raises ClusterError."""
    before = alive(line, record)
    time.sleep(LOOK_S if before else 0)
    after = alive(line, record) if before else None
    return ps.cpu_share(before, after, LOOK_S) if before and after else 0.0


def left_over(name: str, kill: str, share: float) -> str:
    """The sentence about one that even SIGKILL did not end; `share` is the part of a core that it takes."""
    if share < 0.1:
        return f"{name} still runs: {kill}"
    return f"{name} still runs and takes {share:.0%} of a core: {kill}; if that does nothing, restart its machine"


def kill_command(record: ProcessRecord) -> str:
    """What a person types to end it."""
    return (f"ssh {record.ssh} " if record.ssh else "") + f"kill -9 {record.pid}"
