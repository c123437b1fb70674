"""Decides when a host is asked about its processes, when a lost connection is made anew, and when it is unreachable."""

from collections.abc import Collection, Mapping

from locust_agents.cluster.remote import ps
from locust_agents.cluster.remote.line import Line, unreachable
from locust_agents.cluster.remote.ps import Seen
from locust_agents.errors import ClusterError
from locust_agents.telling import Note

ASK_EVERY_S = 1.0

PATIENCE_S = 30.0
"""How long a host may leave us without an answer, whatever the reason: Wi-Fi that changes its access point takes 10."""

RUN_S = 5.0

_PAUSES_S = (1.0, 2.0, 5.0, 10.0)
"""Between a loss and the next try; the last one for all that follow."""


class RemoteHost:
    """One host that ranks run on. Nothing here waits: each `look` takes what has come, and asks anew."""

    def __init__(self, name: str, note: Note, now_s: float) -> None:
        self.name = name
        self.line: Line | None = None
        self.asked_for: frozenset[int] = frozenset()
        """The pids that the last answer is about: one of them that it does not show is gone."""
        self.seen: Mapping[int, Seen] = {}
        self._note = note
        self._question: tuple[int, frozenset[int]] | None = None
        self._next_s = now_s
        self._silent_since_s: float | None = None
        self._why = ""
        self._losses = 0

    def look(self, pids: Collection[int], now_s: float) -> None:
        """Keeps the connection, and `seen` at most some seconds old; `now_s` is the caller's monotonic clock."""
        if self.line is None and now_s >= self._next_s:
            self._open(now_s)
        elif self.line:
            self._hear(self.line, now_s)
        if self.line and self._question is None and now_s >= self._next_s:
            self._ask(self.line, pids or (1,), now_s)  # pid 1, since silence must be noticed before a pid is known

    def trouble(self, now_s: float) -> str | None:
        """One sentence when the host has not answered for too long."""
        if self._silent_since_s is None or now_s - self._silent_since_s < PATIENCE_S:
            return None
        silent_s = now_s - self._silent_since_s
        return unreachable(self.name, f"for {silent_s:.0f} s" + (f", {self._why}" if self._why else ""))

    def fresh(self) -> Line:
        """The kept line, or a new one where that was lost; raises ClusterError where ssh cannot be started."""
        if self.line is None or self.line.lost is not None:
            self.line = Line(self.name)
        return self.line

    def run(self, command: str) -> str:
        """What a command prints there, over the kept line. Waits for it; raises ClusterError after RUN_S or a loss."""
        if self.line is None:
            raise ClusterError(unreachable(self.name, self._why or "it was not asked yet"))
        return self.line.wait(command, RUN_S).text

    def close(self) -> None:
        """Ends the connection."""
        if self.line:
            self.line.close()

    def _open(self, now_s: float) -> None:
        try:
            self.line = Line(self.name)
        except (ClusterError, OSError) as error:  # no ssh, or no file descriptors left
            self._lost(str(error), now_s)

    def _ask(self, line: Line, pids: Collection[int], now_s: float) -> None:
        self._question = line.ask(ps.question(pids)), frozenset(pids)
        self._next_s = now_s + ASK_EVERY_S
        if self._silent_since_s is None:
            self._silent_since_s = now_s

    def _hear(self, line: Line, now_s: float) -> None:
        number, pids = self._question or (0, frozenset())
        answer = line.answer(number)
        if answer is not None:
            self._question = None
            seen = ps.understand(answer.text, answer.status)
            if seen is None:
                self._why = f"date and ps said {answer.text.strip()[-100:]!r}"
            else:
                self.asked_for, self.seen = pids, seen
                self._silent_since_s, self._why, self._losses = None, "", 0
        if line.lost is not None and self.line is line:  # not when another greenlet has come here meanwhile
            self._lost(line.lost, now_s)

    def _lost(self, why: str, now_s: float) -> None:
        self._note("ssh_lost", {"host": self.name, "why": why})
        self.line, self._question, self._why = None, None, why
        self._next_s = now_s + _PAUSES_S[min(self._losses, len(_PAUSES_S) - 1)]
        self._losses += 1
        if self._silent_since_s is None:
            self._silent_since_s = now_s
