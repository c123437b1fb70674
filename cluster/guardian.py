"""Decides that no launcher outlives us: starts it, keeps it quiet, and ends its group when we are gone.

Runs as `python -m locust_agents.cluster.guardian`, standard library only. Its stdin is a pipe that we hold: the first
line is the order {argv, log, parent, grace_s, gives_way}, and whatever comes after it, the pipe's end included, means
stop. Its stdout gets one JSON line for each thing that happened.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

QUIET = b"\n" * 4_000_000
"""Fills the pipes to every rank. With room in them mlx.launch's select() always returns and burns a whole core.

200 kB fill those to ranks of this machine; ssh takes another 2 MB (a channel's window in OpenSSH) from each of its own.
"""


def main() -> int:
    """Guards one launcher from its start to the end of its group; 0 when nothing of it was left."""
    asked = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        # a handler, not SIG_IGN: that would be inherited by the launcher
        signal.signal(number, lambda *_: asked.set())
    first_line = _read_line(0)
    if not first_line:
        return 0
    order = json.loads(first_line)
    try:
        launcher = _start(order["argv"], order["log"], _give_way if order.get("gives_way") else None)
    except OSError as error:
        _report("failed", error=str(error))
        return 1
    _report("started", pid=launcher.pid)
    why = _wait(launcher, asked, order["parent"])
    if why == "exited":
        _report("exited", code=launcher.returncode)
    empty = end_group(launcher.pid, launcher.poll, order["grace_s"])
    if empty:
        launcher.wait()  # it may have died after the last look, and is ours to collect
    _report("ended", why=why, empty=empty)
    return 0 if empty else 1


def end_group(group: int, reap: Callable[[], object], grace_s: float) -> bool:
    """SIGTERM to the process group, SIGKILL after `grace_s`; True when no live process of it is left."""
    for number, wait_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, 5.0)):
        deadline_s = time.monotonic() + wait_s
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
        while True:
            reap()
            if group_is_empty(group):
                return True
            if time.monotonic() >= deadline_s:  # asked last: who slept for longer looks once more
                break
            time.sleep(0.05)
    return False


def group_is_empty(group: int) -> bool:
    """Whether no process of the group runs; dead ones that an idle init never collects do not count."""
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):  # macOS says EPERM of a group of dead processes
        return True
    stats = list(Path("/proc").glob("[0-9]*/stat"))
    return bool(stats) and not any(_runs_in(group, stat) for stat in stats)


def _runs_in(group: int, stat: Path) -> bool:
    try:
        state, _parent, its_group = stat.read_text(errors="replace").rpartition(")")[2].split()[:3]
    except (OSError, ValueError):  # it ended while we looked
        return False
    return its_group == str(group) and state not in "ZX"


def _give_way() -> None:
    """In the launcher before it begins. Linux schedules whole sessions against each other, so ours must say it too.

    Measured with two busy ranks on two cores: a process that sleeps 50 ms wakes 58 ms late (p99) beside them, 3 ms
    late when they give way.
    """
    os.nice(10)
    with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as session:
        session.write("10")


def _start(argv: list[str], log: str, before: Callable[[], None] | None) -> subprocess.Popen[bytes]:
    with open(log, "wb") as output:
        launcher = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=before,
        )
    assert launcher.stdin is not None
    threading.Thread(target=_fill, args=(launcher.stdin.fileno(),), daemon=True).start()
    return launcher


def _fill(pipe: int) -> None:
    left = memoryview(QUIET)
    with contextlib.suppress(OSError):  # the launcher has ended
        while left:
            left = left[os.write(pipe, left) :]


def _wait(launcher: subprocess.Popen[bytes], asked: threading.Event, parent: int) -> str:
    """The reason to end the group. A forked child of ours may hold the pipe open: hence the look at the parent."""
    while launcher.poll() is None:
        if asked.is_set():
            return "signal"
        if os.getppid() != parent:
            return "parent gone"
        if select.select([0], [], [], 0.2)[0]:
            return "told" if os.read(0, 1) else "pipe ended"
    return "exited"


def _read_line(pipe: int) -> bytes:
    """Byte by byte, so that nothing after the line hides in a buffer from select()."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(pipe, 1)
        if not byte:
            return b""
        line += byte
    return line


def _report(event: str, **fields: object) -> None:
    with contextlib.suppress(OSError):  # a full disk must not keep us from ending the group
        print(json.dumps({"event": event, **fields}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
