"""What other hosts answer about their processes, and what is taken for it."""

import os
import subprocess
import time

import psutil
import pytest

from locust_agents.cluster.remote import ps
from locust_agents.cluster.remote.ps import Seen
from tests.patience import PATIENCE_S

# as procps-ng 4.0.2 prints it on Linux
LINUX = """1796015093
    1     0 S<Ll 00:00:21 Mon Nov 30 03:28:59 2026
16225 16225 Ssl+ 1-02:03:04 Mon Nov 30 05:01:33 2026
"""

# of our own making after Apple's source of ps, not seen on a Mac
MACOS = """1796015093
    1     1 Ss     3:21.07 Mon Nov 30 03:28:59 2026
16225 16225 R+   123:45.67 Tue Nov  3 05:01:33 2026
"""


@pytest.mark.parametrize(
    ("remark", "text", "status", "seen"),
    [
        (
            "Linux",
            LINUX,
            0,
            {
                1: Seen(1, 0, "S<Ll", 21.0, 1796009339.0, 5754.0),
                16225: Seen(16225, 16225, "Ssl+", 93_784.0, 1796014893.0, 200.0),
            },
        ),
        (
            "macOS, not seen on a Mac",
            MACOS,
            0,
            {
                1: Seen(1, 1, "Ss", 201.07, 1796009339.0, 5754.0),
                16225: Seen(16225, 16225, "R+", 7_425.67, 1793682093.0, 2_333_000.0),
            },
        ),
        (
            "lines end in CR LF",
            "1796015093\r\n  7   7 Z 00:00:00 Mon Nov 30 05:01:33 2026\r\n",
            0,
            {7: Seen(7, 7, "Z", 0.0, 1796014893.0, 200.0)},
        ),
        ("none of them exists", "1796015093\n", 1, {}),
        ("there is no ps", "1796015093\n", 127, None),
        ("ps speaks otherwise", "1796015093\n  PID TTY\n  12 pts/0\n", 0, None),
        ("it says that it is fine and shows nobody", "1796015093\n", 0, None),
        ("no clock", "    1     0 S 00:00:21 Mon Nov 30 03:28:59 2026\n", 0, None),
        ("a start file that prints", "\nWelcome to mac2\n1796015093\n", 1, None),
        ("nothing", "", 1, None),
    ],
)
def test_understand(remark: str, text: str, status: int, seen: dict[int, Seen] | None) -> None:
    assert ps.understand(text, status) == seen, remark


@pytest.mark.parametrize(
    ("state", "is_alive", "remark"),
    [
        ("Ssl+", True, "sleeps"),
        ("R+", True, "runs"),
        ("T", True, "was stopped"),
        ("Us", True, "waits in macOS's kernel, where no signal ends it"),
        ("Z", False, "dead, and nobody collected it"),
        ("Zs", False, "the same of one that led a session"),
    ],
)
def test_who_is_alive(state: str, is_alive: bool, remark: str) -> None:
    assert Seen(1, 1, state, 0.0, 0.0, 0.0).is_alive is is_alive, remark


def test_this_machine_is_understood() -> None:
    with subprocess.Popen(["sleep", "60"]) as gone:
        gone.kill()
    question = ps.question([os.getpid(), gone.pid])
    before_s = time.time()
    told = subprocess.run(["/bin/sh", "-c", question], stdout=subprocess.PIPE, text=True)
    seen = ps.understand(told.stdout, told.returncode)
    assert seen is not None
    assert seen.keys() == {os.getpid()}
    me = seen[os.getpid()]
    assert me.is_alive
    assert me.group == os.getpgrp()
    assert abs(me.start_time - psutil.Process().create_time()) <= 2
    assert before_s - 2 <= me.start_time + me.age_s <= time.time() + 2


@pytest.mark.parametrize(
    ("remark", "group", "command"),
    [
        ("it leads its group", 12, "kill -s TERM -- -12 2>&1"),
        ("it is one of another's", 7, "kill -s TERM -- 12 2>&1"),
    ],
)
def test_signal(remark: str, group: int, command: str) -> None:
    assert ps.signal_command("TERM", Seen(12, group, "S", 0.0, 0.0, 0.0)) == command, remark


@pytest.mark.parametrize(("leads", "remark"), [(True, "a group of its own"), (False, "in ours")])
def test_this_machines_shell_takes_the_signal(leads: bool, remark: str) -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=leads) as process:
        seen = Seen(process.pid, os.getpgid(process.pid), "S", 0.0, 0.0, 0.0)
        done = subprocess.run(["/bin/sh", "-c", ps.signal_command("TERM", seen)], capture_output=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), remark
        assert process.wait(PATIENCE_S) == -15, remark


def test_cpu_share() -> None:
    before = Seen(1, 1, "R", 10.0, 0.0, 0.0)
    assert ps.cpu_share(before, Seen(1, 1, "R", 13.0, 0.0, 0.0), 4.0) == 0.75
