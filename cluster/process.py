"""Decides how a launch is started and ended: through a guardian process, over a pipe that only we hold."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from locust_agents.errors import ClusterError

GRACE_S = 5.0
"""How long a group has between SIGTERM and SIGKILL."""

_GUARDIAN = (sys.executable, "-P", "-m", "locust_agents.cluster.guardian")


class Guardian:
    """Our end of the guardian process. It takes the end of our pipe, from whatever cause, for the order to stop."""

    def __init__(self, reports: Path) -> None:
        """Starts it, idle. Its reports go to a file, which outlives us and which no reader has to drain."""
        self._reports = reports
        read_end, self._pipe = os.pipe()
        try:
            with reports.open("wb") as output:
                self._popen = subprocess.Popen(
                    _GUARDIAN, stdin=read_end, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
                )
        except BaseException:
            self._hang_up()
            raise
        finally:
            os.close(read_end)

    @property
    def pid(self) -> int:
        """Of the guardian itself."""
        return self._popen.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._popen.poll() is None

    def launch(self, argv: Sequence[str], log: Path, gives_way: bool = False) -> None:
        """Tells it to start the launcher, in a session and a group of its own, with all its output in `log`.

        A launcher that `gives_way` runs, with its ranks, only where nobody else wants the processor.
        """
        order = {"argv": argv, "log": str(log), "parent": os.getpid(), "grace_s": GRACE_S, "gives_way": gives_way}
        try:
            os.write(self._pipe, json.dumps(order).encode() + b"\n")
        except BrokenPipeError:  # it was killed; `alive` says so
            return

    def launched(self, name: str) -> int:
        """Waits for the launcher's pid; raises ClusterError, with its `name`, where it could not be started."""
        while not (started := self.report("started")):
            if not self.alive:
                reason = (self.report("failed") or {}).get("error", "its guardian was ended")
                raise ClusterError(f"{name} could not be started ({reason}): correct that and run again")
            time.sleep(0.02)
        return int(str(started["pid"]))

    def report(self, event: str) -> dict[str, object] | None:
        """What it wrote about `started` (pid), `failed` (error), `exited` (code) or `ended` (why, empty)."""
        lines = self._reports.read_text(errors="replace").splitlines(keepends=True)
        reports = (json.loads(line) for line in lines if line.startswith("{") and line.endswith("\n"))
        return next((report for report in reports if report["event"] == event), None)

    def stop(self) -> None:
        """Ends the launcher's group and the guardian, whatever state they are in; can be called again."""
        self._hang_up()
        try:
            self._popen.wait(GRACE_S + 10.0)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()

    def _hang_up(self) -> None:
        pipe, self._pipe = self._pipe, -1
        if pipe < 0:
            return
        try:
            os.write(pipe, b"stop\n")  # a forked child of ours may keep the pipe from ending
        except BrokenPipeError:
            return
        finally:
            os.close(pipe)
