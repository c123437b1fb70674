"""Decides what a host is asked about its processes, in words that macOS and Linux share, and what its answer means."""

import calendar
import re
import time
from collections.abc import Collection
from dataclasses import dataclass

_ROW = re.compile(
    r"\s*(?P<pid>\d+)\s+(?P<group>\d+)\s+(?P<state>[A-Z?]\S*)\s+(?P<cpu>(?:\d+-)?[\d:]+(?:\.\d+)?)"
    r"\s+(?P<start>[A-Z][a-z]{2}\s+[A-Z][a-z]{2}\s+\d+\s+\d+:\d\d:\d\d\s+\d{4})\s*"
)


@dataclass(frozen=True, slots=True)
class Seen:
    """A process on another machine; its start is in UNIX seconds by that machine's clock, `cpu_s` what it used so far.

    `group` is its process group.
    """

    pid: int
    group: int
    state: str
    cpu_s: float
    start_time: float
    age_s: float

    @property
    def is_alive(self) -> bool:
        """Whether it runs: a dead one that nobody collected has an entry too."""
        return self.state[0] not in "ZX"


def question(pids: Collection[int]) -> str:
    """The command that tells the time there and a line for each of these pids that exists.

    An -o for each column, since BSD's ps takes all that follows the first `=` for a header.
    """
    columns = "-o pid= -o pgid= -o stat= -o time= -o lstart="
    listed = ",".join(str(pid) for pid in sorted(pids))
    return f"date +%s; LC_ALL=C TZ=UTC0 ps {columns} -p {listed}"


def understand(text: str, status: int) -> dict[int, Seen] | None:
    """The processes by pid; None for what is no answer, so that it is not taken for their end.

    ps ends with 1 when none of the pids exists.
    """
    clock, _, rows = text.lstrip().partition("\n")
    if status not in (0, 1) or not clock.strip().isdigit():
        return None
    found = [_seen(row, float(clock)) for line in rows.splitlines() if (row := _ROW.fullmatch(line))]
    return None if status == 0 and not found else {each.pid: each for each in found}


def signal_command(name: str, seen: Seen) -> str:
    """Signals a process: its whole group when it leads one, as a rank does to which ssh gave a terminal."""
    target = -seen.pid if seen.group == seen.pid else seen.pid
    return f"kill -s {name} -- {target} 2>&1"


def cpu_share(before: Seen, after: Seen, interval_s: float) -> float:
    """The part of one core used between two looks; some seconds apart, since Linux's ps counts whole ones."""
    return (after.cpu_s - before.cpu_s) / interval_s


def _seen(row: re.Match[str], clock_s: float) -> Seen:
    start_time = float(calendar.timegm(time.strptime(row["start"], "%a %b %d %H:%M:%S %Y")))
    age_s = clock_s - start_time
    return Seen(int(row["pid"]), int(row["group"]), row["state"], _seconds(row["cpu"]), start_time, age_s)


def _seconds(text: str) -> float:
    """Of `M:SS.hh`, as macOS prints it, or `[DD-]HH:MM:SS`."""
    days, _, clock = text.rpartition("-")
    seconds = 0.0
    for part in clock.split(":"):
        seconds = seconds * 60 + float(part)
    return int(days or 0) * 86_400 + seconds
