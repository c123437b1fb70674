"""Decides what the logs of ranks and launcher tell: pids, ends, causes, the lines that a person should see."""

import re
from pathlib import Path

from locust_agents.cluster.policy import RankExit

LAST_BYTES = 65_536

_END = re.compile(r"Node with rank (\d+) (?:exited with code (-?\d+)|was killed)")
_PREFIX = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ - \w+ - ")
_CAUSE = re.compile(r" - (?:ERROR|CRITICAL) - |^\S*(?:Error|Exception): |: error: |: not found$|Killed$")
_NOISE = re.compile(r'^pid \d+$|"GET /health|UserWarning|^\s*warnings\.warn|^[^A-Za-z]*$')
PEER_LOST = "connection to a peer was lost"
PORT_TAKEN = "Address already in use"


def rank_log(folder: Path, rank: int) -> Path:
    """Where the output of a local rank goes."""
    return folder / f"rank-{rank}.log"


def last_lines(path: Path, count: int = 20) -> tuple[str, ...]:
    """The last lines of a log, oldest first; none without a file. Of a progress bar only its last state counts."""
    try:
        with path.open("rb") as log:
            log.seek(max(0, path.stat().st_size - LAST_BYTES))
            text = log.read().decode(errors="replace")
    except FileNotFoundError:
        return ()
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return tuple(line for line in lines if line.strip())[-count:]


def rank_pid(path: Path) -> int | None:
    """The pid that the launch script wrote as the first line of the rank's log."""
    try:
        with path.open(errors="replace") as log:
            first = re.fullmatch(r"pid (\d+)\n", log.readline())
    except FileNotFoundError:
        return None
    return int(first[1]) if first else None


def exits(folder: Path, launcher_log: Path) -> tuple[RankExit, ...]:
    """The ranks whose end the launcher wrote down, in that order; those that it ended itself are left out."""
    ends = [end for line in last_lines(launcher_log, 1000) if (end := _END.search(line)) and end[2]]
    own = {int(end[1]): rank_log(folder, int(end[1])) for end in ends}
    # what a rank on another machine says is in the launcher's log
    lost = {rank: lost_peer(log if log.exists() else launcher_log) for rank, log in own.items()}
    return tuple(RankExit(int(end[1]), int(end[2]), lost[int(end[1])]) for end in ends)


def lost_peer(path: Path) -> bool:
    """Whether this rank ended only because another one had."""
    return any(PEER_LOST in line for line in last_lines(path))


def port_taken(path: Path) -> bool:
    """Whether rank 0 could not listen. It does not end then: its generation thread keeps it alive, unheard."""
    return any(PORT_TAKEN in line for line in last_lines(path))


def useful_line(path: Path) -> str:
    """The last line that says what the server does, without its time; empty when there is none."""
    lines = (line for line in reversed(last_lines(path)) if not _NOISE.search(line))
    return _PREFIX.sub("", next(lines, "")).strip()


def cause(path: Path) -> str:
    """The last line that looks like an error, at most 200 characters; empty when there is none."""
    lines = (line for line in reversed(last_lines(path, 200)) if _CAUSE.search(line))
    return _PREFIX.sub("", next(lines, "")).strip()[:200]
