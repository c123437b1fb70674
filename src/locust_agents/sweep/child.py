"""The process in which cells are run: how one is ordered, how it ends early, and that it cannot outlive us for long."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from locust_agents.errors import ClusterError

MODULE = "locust_agents.locustfiles.several_runs"
# An interrupted run ends its turns and its server; a process that may end stops a server of many ranks.
_PATIENCE_S = 90.0


@dataclass(frozen=True, slots=True)
class Answer:
    """How a run ended: its exit status, and what went wrong."""

    status: int
    error: str | None


class Child:
    """One process, and one start of the server: everything that is ordered here must want the same server.

    It inherits `lock`, and so keeps the folder taken until it has ended, even where we are killed.
    """

    def __init__(self, lock: int, command: Sequence[str] = (sys.executable, "-m", MODULE)) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            process_group=0,  # an interrupt reaches it once, and through us
            pass_fds=(lock,),
        )

    def run(self, scenario: str, out: Path, shared_ok: bool) -> Answer:
        """Makes one run and returns at its end. Raises ClusterError where the process ended instead.

        An interrupt ends the run as Ctrl-C would, then is raised.
        """
        assert self._process.stdin is not None
        order = {"scenario": scenario, "out": str(out), "shared_ok": shared_ok}
        try:
            print(json.dumps(order), file=self._process.stdin, flush=True)
            line = self._line()
        except BrokenPipeError:
            line = ""
        except KeyboardInterrupt:
            self.close()
            raise
        if not line:
            raise ClusterError(f"the process of the run ended (status {self._process.wait()}); its reason is on stderr")
        found = json.loads(line)
        return Answer(found["status"], found["error"])

    def close(self) -> None:
        """Ends the run that is under way, the server and the process; after a while, kills it."""
        assert self._process.stdin is not None
        try:
            self._process.communicate(timeout=_PATIENCE_S)  # the end of its stdin is what it ends by
        except subprocess.TimeoutExpired:
            print(f"the process of the runs did not end within {_PATIENCE_S:.0f} s: it is killed", file=sys.stderr)
        finally:
            self._process.kill()
            self._process.wait()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()
