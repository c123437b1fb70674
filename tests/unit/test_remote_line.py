"""The kept line to a host, with a stand-in for ssh: a script on the PATH that runs the shell here."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from locust_agents.cluster.remote import line as remote
from locust_agents.cluster.remote.line import Answer, Line, split
from locust_agents.errors import ClusterError
from tests.patience import PATIENCE_S

THROUGH = "for word do :; done; exec $word"

# asks under gevent, while another greenlet counts
PATCHED = """
import locust, gevent, pathlib, sys
from locust_agents.cluster.remote.line import Line

ticks = 0
def tick():
    global ticks
    while True:
        gevent.sleep(0.01)
        ticks += 1
        if ticks == 10:
            pathlib.Path(sys.argv[1]).touch()

counter = gevent.spawn(tick)
line = Line("mac2")
print(line.wait(f"while [ ! -e {sys.argv[1]} ]; do sleep 0.05; done; echo hello", 60).text.strip())
line.close()
counter.kill()
"""

Open = Callable[[str], Line]


@pytest.fixture
def line_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Opens a line through a given script, and closes it at the end."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    opened = []

    def open_line(script: str) -> Line:
        (tmp_path / "ssh").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "ssh").chmod(0o755)
        opened.append(Line("mac2"))
        return opened[-1]

    yield open_line
    for line in opened:
        line.close()


def test_answers_come_to_who_asked(line_through: Open) -> None:
    line = line_through(THROUGH)
    first, second = line.ask("echo 1; (exit 3)"), line.ask("printf 2")
    assert line.wait("cat; echo 3", 30) == Answer("3\n", 0)  # the command does not read what comes after it
    assert line.answer(second) == Answer("2", 0)
    assert line.answer(first) == Answer("1\n", 3)
    assert line.answer(first) is None
    assert line.lost is None


def test_nothing_waits_but_wait(line_through: Open) -> None:
    line = line_through(THROUGH)
    number = line.ask("read -r never </dev/tty || sleep 60")
    assert line.answer(number) is None
    with pytest.raises(ClusterError, match=r"^mac2 does not answer over ssh \(no answer within 0.1 s\)"):
        line.wait("true", 0.1)
    assert line.lost is None


@pytest.mark.parametrize(
    ("remark", "script", "why"),
    [
        (
            "refused",
            "echo 'ssh: connect to host mac2 port 22: Connection refused' >&2; exit 255",
            "ssh: connect to host mac2 port 22: Connection refused",
        ),
        (
            "several lines",
            "printf 'Host key\\r\\nverification failed.\\r\\n\\r\\n' >&2; exit 255",
            "verification failed.",
        ),
        ("without a word", "exit 255", "ssh ended with status 255"),
        ("the shell there ends", "exec true", "ssh ended with status 0"),
    ],
)
def test_why_it_is_lost(line_through: Open, remark: str, script: str, why: str) -> None:
    line = line_through(script)
    with pytest.raises(ClusterError) as raised:
        line.wait("true", 30)
    told = f"mac2 does not answer over ssh ({why}): see that `ssh mac2 true` works without a password"
    assert str(raised.value) == told, remark
    assert line.lost == why, remark
    with pytest.raises(ClusterError):
        line.wait("true", 30)


def test_lost_while_it_waits(line_through: Open) -> None:
    line = line_through(THROUGH)
    number = line.ask("kill -9 $$")
    patience_s = time.monotonic() + PATIENCE_S
    while line.lost is None:
        assert line.answer(number) is None
        assert time.monotonic() < patience_s
        time.sleep(0.01)
    assert line.lost == "ssh ended with status -9"


def test_a_host_that_takes_nothing_more(line_through: Open) -> None:
    line = line_through("exec sleep 60")
    for _ in range(3000):
        line.ask("true")
    assert line.lost == "it takes no more commands"


def test_no_ssh_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClusterError, match=r"^ssh could not be started \(.*\): install it, mac2 is reached by it$"):
        Line("mac2")


def test_a_closed_line_leaves_no_ssh(line_through: Open, tmp_path: Path) -> None:
    line = line_through("trap '' TERM; : > \"$0.is-deaf\"; while :; do sleep 0.05; done")
    patience_s = time.monotonic() + PATIENCE_S
    while not (tmp_path / "ssh.is-deaf").exists():
        assert time.monotonic() < patience_s
        time.sleep(0.01)
    line.close()
    line.close()
    assert line._ssh.poll() == -9
    assert line.ask("true") == 1
    assert line.answer(1) is None


def test_what_ssh_is_told(line_through: Open) -> None:
    """Never to ask a person, never to share a connection; and a name that begins with - is no option."""
    line = line_through('printf "%s\\n" "$*" >&2; exit 1')
    with pytest.raises(ClusterError):
        line.wait("true", 30)
    assert str(line.lost).endswith(" -- mac2 /bin/sh")
    assert "-T -o BatchMode=yes -o ConnectTimeout=10" in str(line.lost)
    assert "-o ControlPath=none" in str(line.lost)


def test_other_greenlets_run_while_it_waits(line_through: Open, tmp_path: Path) -> None:
    """The command ends when one of them has come round ten times."""
    line_through(THROUGH)
    command = [sys.executable, "-c", PATCHED, str(tmp_path / "ticked")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.stdout == "hello\n", done.stderr


@pytest.mark.parametrize(
    ("remark", "heard", "answers", "rest"),
    [
        ("nothing yet", b"", {}, b""),
        ("half a mark", b"a\n\nT 1", {}, b"a\n\nT 1"),
        ("one", b"a\n\nT 1 0\n", {1: Answer("a\n", 0)}, b""),
        ("no output", b"\nT 1 9\n", {1: Answer("", 9)}, b""),
        ("two, and more", b"a\nT 1 0\nb\nT 2 1\nc", {1: Answer("a", 0), 2: Answer("b", 1)}, b"c"),
        ("what start files print", b"hi\na\n\nT 1 0\n", {1: Answer("hi\na\n", 0)}, b""),
        ("the token in the text", b"T 1 0\nx", {}, b"T 1 0\nx"),
        ("not UTF-8", b"\xff\nT 1 0\n", {1: Answer("\ufffd", 0)}, b""),
    ],
)
def test_split(remark: str, heard: bytes, answers: dict[int, Answer], rest: bytes) -> None:
    assert split(heard, "T") == (answers, rest), remark


def test_an_answer_without_end_is_not_kept(line_through: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "MOST_BYTES", 1000)
    line = line_through(THROUGH)
    answer = line.wait("head -c 1000000 /dev/zero; echo end", 30)
    assert answer.text.endswith("end\n")
    assert len(answer.text) < 200_000
