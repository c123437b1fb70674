"""Decides what is known of the hosts of a server that somebody else started: their memory, whether its ranks run."""

import math
import re
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from locust_agents.cluster.hosts import hostfile as hostfiles
from locust_agents.cluster.hosts import shape
from locust_agents.cluster.hosts.values import Hostfile, is_loopback
from locust_agents.cluster.remote.line import Line, unreachable
from locust_agents.cluster.vitals import memory
from locust_agents.cluster.vitals.memory_sample import Host
from locust_agents.errors import ClusterError, ScenarioError

ANSWER_S = 15.0
"""How long a host may take to answer, its first connection included."""

PAUSE_S = 30.0
"""Between a failure and the next try: somebody else's host is not to be knocked at every few seconds."""

MOST_MISSES = 2
"""Looks at a host, some seconds apart, that must miss a rank which was there before its end is believed."""

PROCESSES = "LC_ALL=C ps -A -ww -o pid= -o ppid= -o args="

_ROW = re.compile(r"\s*(\d+)\s+(\d+)\s+(\S+)(.*)")
_SERVER = re.compile(r"mlx_lm[. /]server")
_PROGRAM = re.compile(r"(^|/)([Pp]ython[\w.]*|mlx_lm\.server)$")  # not the shell, ssh or editor whose words name it


class AttachedHost:
    """One host of the file. It is asked over one ssh connection, kept while it holds; `ssh` None is this machine."""

    def __init__(self, name: str, ssh: str | None, ranks: Sequence[int]) -> None:
        self.name = name
        self.ranks = tuple(ranks)
        self._ssh = ssh
        self._line: Line | None = None
        self._again_s = 0.0
        self._why = ""
        self._pid: int | None = None
        self._misses = 0

    def host(self) -> Host:
        """As the vitals want it. From the first look on a pid is known, where one rank and one server are there."""
        ranks = {} if self._pid is None else {self.ranks[0]: self._pid}
        return Host(self.name, ranks, self.run)

    def run(self, command: str) -> str:
        """What a command prints there, after a look at who serves there. Waits for it; raises ClusterError, OSError."""
        ask = memory.shell if self._ssh is None else self._ask
        self._meet(servers(ask(PROCESSES)))
        return ask(command)

    def failure(self) -> str | None:
        """That a rank which was seen runs no more; None while it does, and where none was ever seen."""
        if self._misses < MOST_MISSES:
            return None
        return (
            f"rank {self.ranks[0]} (pid {self._pid}) on {self.name} runs no more: read its log there, and start the"
            " server again"
        )

    def close(self) -> None:
        """Hangs up for good: a look that is under way must not connect again."""
        self._again_s, self._why = math.inf, f"{self.name} is not asked any more"
        if self._line is not None:
            self._line.close()

    def _meet(self, pids: Sequence[int]) -> None:
        if len(self.ranks) == len(pids) == 1:
            self._pid, self._misses = pids[0], 0
        elif self._pid is not None and self._pid not in pids:
            self._misses += 1

    def _ask(self, command: str) -> str:
        """A connection that broke is made anew, but not at once."""
        name = str(self._ssh)
        if self._line is None or self._line.lost is not None:
            if time.monotonic() < self._again_s:
                raise ClusterError(self._why)
            self._line = Line(name)
        try:
            answer = self._line.wait(command, ANSWER_S)
        except ClusterError as error:
            self._again_s, self._why = max(self._again_s, time.monotonic() + PAUSE_S), str(error)
            self._line.close()
            raise
        if command == PROCESSES and answer.status != 0:
            raise ClusterError(unreachable(name, f"ps ended with status {answer.status}"))
        return answer.text


def read(path: Path, url: str) -> tuple[AttachedHost, ...]:
    """The hosts of the file that the server at `url` was launched with; raises ScenarioError, a line a mistake."""
    found = hostfiles.read(path)
    backend = found.backend or "mpi"  # the launch may have named one that the file does not: nothing to check it by
    shape.refuse(path, hostfiles.check(found, backend))
    _refuse_foreign_loopback(found, urlsplit(url).hostname or "")
    ranks: dict[str, list[int]] = {}
    for rank, host in enumerate(found.hosts):
        ranks.setdefault(host.ssh, []).append(rank)
    local = {host.ssh for host in found.hosts if host.is_local}
    return tuple(
        AttachedHost("this machine" if ssh in local else ssh, None if ssh in local else ssh, numbers)
        for ssh, numbers in ranks.items()
    )


def servers(processes: str) -> list[int]:
    """The pids of mlx_lm.server in what PROCESSES printed, without those who only started one."""
    rows = [row for line in processes.splitlines() if (row := _ROW.fullmatch(line)) and _PROGRAM.search(row[3])]
    own = [row for row in rows if _SERVER.search(row[3] + row[4]) and "mlx.launch" not in row[4]]
    parents = {row[2] for row in own}
    return [int(row[1]) for row in own if row[1] not in parents]


def described(hosts: Sequence[AttachedHost]) -> str:
    """Which rank is where."""
    return ", ".join(
        f"{'rank' if len(each.ranks) == 1 else 'ranks'} {' and '.join(map(str, each.ranks))} on {each.name}"
        for each in hosts
    )


def _refuse_foreign_loopback(found: Hostfile, address: str) -> None:
    """In a hostfile 127.0.0.1 is where mlx.launch ran, which need not be here."""
    local = [rank for rank, host in enumerate(found.hosts) if host.is_local]
    if local and not (is_loopback(address) or address.lower() in hostfiles.this_host_names()):
        raise ScenarioError(
            f"server.attach.hostfile: {found.path}: {found.label(local[0])} is the machine that launched the server,"
            f" and {address} is not this one: write in a copy what ssh calls it"
        )
