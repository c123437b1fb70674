"""The guardian as a process, with a stand-in for mlx.launch that has two children."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from locust_agents.cluster.crew import is_alive
from locust_agents.cluster.guardian import QUIET, group_is_empty
from locust_agents.cluster.process import Guardian
from tests.patience import PATIENCE_S

LAUNCHER = """
import os, subprocess, sys, time
ranks = [subprocess.Popen([sys.executable, "-c", sys.argv[1]]) for _ in range(2)]
print(len(os.listdir("/dev/fd")), flush=True)
how = sys.argv[2]
if how == "leave":
    sys.exit(3)
while how == "read":
    print(len(os.read(0, 65536)), flush=True)
time.sleep(60)
"""
SLEEP = "import time; time.sleep(60)"
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
)

GuardianProcess = subprocess.Popen[bytes]


@pytest.fixture
def guardian() -> Iterator[GuardianProcess]:
    argv = [sys.executable, "-m", "locust_agents.cluster.guardian"]
    with subprocess.Popen(
        argv, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        try:
            yield process
            assert process.stdin
            process.stdin.close()  # the order to end its group, if a test that failed has left one
            process.wait(PATIENCE_S)
        finally:
            process.kill()


def order(guardian: GuardianProcess, log: Path, rank: str = SLEEP, how: str = "sleep", parent: int = 0) -> None:
    argv = [sys.executable, "-c", LAUNCHER, rank, how]
    text = json.dumps({"argv": argv, "log": str(log), "parent": parent or os.getpid(), "grace_s": 0.5})
    assert guardian.stdin
    guardian.stdin.write(text.encode() + b"\n")


def report(guardian: GuardianProcess) -> dict[str, object]:
    assert guardian.stdout
    assert select.select([guardian.stdout], [], [], PATIENCE_S)[0], "no report"
    answer: dict[str, object] = json.loads(guardian.stdout.readline())
    return answer


def group_of(guardian: GuardianProcess, log: Path, lines: int = 1) -> list[psutil.Process]:
    """The launcher and its two children, once the log has so many lines."""
    started = report(guardian)
    assert started["event"] == "started"
    until(lambda: log.read_text().count("\n") >= lines)
    launcher = psutil.Process(int(str(started["pid"])))
    return [launcher, *launcher.children()]


def until(is_so: Callable[[], object]) -> None:
    patience_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < patience_s
        time.sleep(0.02)


def assert_gone(processes: list[psutil.Process]) -> None:
    """What its parent does not collect stays a zombie where init is lazy: dead all the same."""
    assert not list(filter(is_alive, processes))


def end(guardian: GuardianProcess, how: str) -> None:
    assert guardian.stdin
    if how == "told":
        guardian.stdin.write(b"stop\n")
    elif how == "pipe ended":
        guardian.stdin.close()
    else:
        guardian.send_signal(getattr(signal, how))


@pytest.mark.parametrize(
    ("how", "why"),
    [("told", "told"), ("pipe ended", "pipe ended"), ("SIGTERM", "signal"), ("SIGINT", "signal"), ("SIGHUP", "signal")],
)
def test_every_way_to_stop(guardian: GuardianProcess, tmp_path: Path, how: str, why: str) -> None:
    order(guardian, tmp_path / "log")
    group = group_of(guardian, tmp_path / "log")
    assert len(group) == 3
    end(guardian, how)
    assert report(guardian) == {"event": "ended", "why": why, "empty": True}
    assert guardian.wait(PATIENCE_S) == 0
    assert_gone(group)


def test_a_launcher_that_ends_leaves_nobody(guardian: GuardianProcess, tmp_path: Path) -> None:
    order(guardian, tmp_path / "log", how="leave")
    launcher = int(str(report(guardian)["pid"]))
    assert report(guardian) == {"event": "exited", "code": 3}
    assert report(guardian) == {"event": "ended", "why": "exited", "empty": True}
    guardian.wait(PATIENCE_S)
    assert group_is_empty(launcher)


def test_who_is_deaf_to_sigterm_is_killed(guardian: GuardianProcess, tmp_path: Path) -> None:
    order(guardian, tmp_path / "log", rank=STUBBORN)
    group = group_of(guardian, tmp_path / "log", lines=3)
    end(guardian, "told")
    assert report(guardian)["empty"] is True
    assert_gone(group)


def test_a_parent_that_is_gone_while_its_pipe_is_held(guardian: GuardianProcess, tmp_path: Path) -> None:
    order(guardian, tmp_path / "log", parent=1)
    started = report(guardian)
    assert report(guardian) == {"event": "ended", "why": "parent gone", "empty": True}
    assert not psutil.pid_exists(int(str(started["pid"])))


def test_the_launcher_is_fed_and_gets_no_descriptor_of_ours(guardian: GuardianProcess, tmp_path: Path) -> None:
    log = tmp_path / "log"
    order(guardian, log, how="read")
    launcher = int(str(report(guardian)["pid"]))
    until(lambda: sum(int(n) for n in log.read_text().split()[1:]) >= len(QUIET))
    # three of its own, and the one that lists them
    assert log.read_text().split()[0] == "4"
    assert os.getpgid(launcher) == os.getsid(launcher) == launcher
    end(guardian, "told")
    assert report(guardian)["empty"] is True


def test_no_order(guardian: GuardianProcess) -> None:
    end(guardian, "pipe ended")
    assert guardian.wait(PATIENCE_S) == 0


def test_a_launcher_that_cannot_be_started(guardian: GuardianProcess, tmp_path: Path) -> None:
    assert guardian.stdin
    text = json.dumps({"argv": ["/no/mlx.launch"], "log": str(tmp_path / "log"), "parent": os.getpid(), "grace_s": 1})
    guardian.stdin.write(text.encode() + b"\n")
    failed = report(guardian)
    assert failed["event"] == "failed"
    assert "/no/mlx.launch" in str(failed["error"])
    assert guardian.wait(PATIENCE_S) == 1


def test_it_starts_light() -> None:
    code = "import sys, locust_agents.cluster.guardian; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"psutil", "gevent", "mlx", "pydantic"} & set(done.stdout.split())


def test_the_order_to_stop_while_a_fork_of_ours_holds_the_pipe(tmp_path: Path) -> None:
    guarded = Guardian(tmp_path / "reports")
    copy = os.dup(guarded._pipe)
    try:
        guarded.launch(["sleep", "60"], tmp_path / "log")
        guarded.launched("sleep")
        guarded.stop()
    finally:
        os.close(copy)
        guarded.stop()
    assert guarded.report("ended") == {"event": "ended", "why": "told", "empty": True}
