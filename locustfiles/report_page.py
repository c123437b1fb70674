"""Builds a run's report.html in a process of its own: the load process stays free of numpy, and stops meanwhile."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

_PATIENCE_S = 60.0
"""A page of 20,000 turns takes a few seconds; on a machine that is that busy the run is not held up for it."""


def begin(folder: Path) -> "subprocess.Popen[bytes] | None":
    """The process, which `finish` waits for; None where it cannot be started. The folder must have its summary.

    In a session of its own: an interrupt of the run is not one of its page.
    """
    words = [sys.executable, "-m", "locust_agents", "show", str(folder), "--html"]
    silent = subprocess.DEVNULL
    try:
        return subprocess.Popen(words, stdin=silent, stdout=silent, stderr=silent, start_new_session=True)
    except OSError:
        return None


def finish(page: "subprocess.Popen[bytes] | None", folder: Path, say: Callable[[str], object]) -> None:
    """Waits for it; says so where there is no page. It never fails: a run is not lost for its picture."""
    why = "could not be started" if page is None else _wait(page)
    if why is not None:
        say(f"no report.html, its building {why}; see why with `locust-agents show {folder} --html`")


def _wait(page: "subprocess.Popen[bytes]") -> str | None:
    try:
        status = page.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        page.kill()
        page.wait()
        return f"took more than {_PATIENCE_S:.0f} s"
    return None if status == 0 else f"failed with status {status}"
