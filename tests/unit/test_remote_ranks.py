"""Which ranks are on other hosts, and who is met there, with a stand-in for ssh: the shell of this machine."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import psutil
import pytest

from locust_agents.cluster.crew import Crew
from locust_agents.cluster.hosts.hostfile import Host, Hostfile
from locust_agents.cluster.launch_spec import LaunchSpec
from locust_agents.cluster.remote.ranks import RemoteRanks, ssh_names
from tests.patience import PATIENCE_S

T = TypeVar("T")


@pytest.fixture(autouse=True)
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Leads to this machine by whatever name."""
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "ssh"
    script.write_text("#!/bin/sh\nexec /bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return script


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """Stands for a rank; it leads a group, as one does to which ssh gave a terminal."""
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        yield process
        process.kill()


@pytest.fixture
def ranks(tmp_path: Path) -> Iterator[RemoteRanks]:
    """Rank 0 here, ranks 1 and 2 on two hosts."""
    ranks = RemoteRanks(tmp_path, (None, "mac2", "mac3"), lambda *_: None)
    yield ranks
    for host in ranks._hosts.values():
        host.close()


def tell(folder: Path, text: str) -> None:
    (folder / "launcher.log").write_bytes(text.encode())


def until(look: Callable[[], T]) -> T:
    """What it says when that is no longer nothing."""
    patience_s = time.monotonic() + PATIENCE_S
    while not (found := look()):
        assert time.monotonic() < patience_s
        time.sleep(0.02)
    return found


def look(crew: Crew) -> Crew:
    crew.meet_ranks(1)
    return crew


def test_ssh_names() -> None:
    hosts = (Host("127.0.0.1"), Host("bob@mac2"))
    hostfile = Hostfile(Path("hosts.json"), "ring", (), hosts)
    assert ssh_names(LaunchSpec("m", hostfile=hostfile)) == (None, "bob@mac2")
    assert ssh_names(LaunchSpec("m")) == ()


def test_who_told_its_pid_is_met(tmp_path: Path, ranks: RemoteRanks, sleeper: subprocess.Popen[bytes]) -> None:
    assert ranks.look() == []
    tell(tmp_path, f"/tmp/tmp.x\r\nrank 2 pid {sleeper.pid}\r\nrank 2 pid 3\r\nrank 1 pid 4")  # the last is half a line
    [record] = until(ranks.look)
    assert (record.host, record.pid, record.role, record.rank, record.ssh) == ("mac3", sleeper.pid, "rank", 2, "mac3")
    assert ranks.records == {2: record}
    assert ranks.missing() == set()
    assert ranks.look() == []


def test_who_ends_is_missing(tmp_path: Path, ranks: RemoteRanks, sleeper: subprocess.Popen[bytes]) -> None:
    tell(tmp_path, f"rank 1 pid {sleeper.pid}\r\n")
    until(ranks.look)
    sleeper.kill()
    until(lambda: ranks.look() or ranks.missing() == {1})
    assert ranks.records.keys() == {1}


def test_a_pid_that_is_older_than_the_launch_is_not_its_rank(tmp_path: Path, ranks: RemoteRanks) -> None:
    tell(tmp_path, "rank 1 pid 1\r\n")
    until(lambda: ranks.look() or ranks.missing() == {1})
    assert ranks.records == {}
    assert ranks.end(0.1) == ["rank 2 on mac3 never told its pid: nobody looked whether it still runs"]


def test_the_end_of_one_that_was_only_just_started(
    tmp_path: Path, ranks: RemoteRanks, sleeper: subprocess.Popen[bytes]
) -> None:
    tell(tmp_path, f"rank 1 pid {sleeper.pid}\r\n")
    (tmp_path / "rank-2.log").write_text("pid 1\n")
    assert ranks.end(0.1) == []
    assert sleeper.wait(PATIENCE_S) == -15
    assert ranks.missing() == {1, 2}


def test_a_host_that_cannot_be_reached_at_the_end(tmp_path: Path, ssh: Path) -> None:
    ssh.write_text("#!/bin/sh\necho 'ssh: no route' >&2\nexit 255\n")
    notes = []
    ranks = RemoteRanks(tmp_path, ("mac2",), lambda *note: notes.append(note))
    tell(tmp_path, "rank 0 pid 70\r\n")
    until(lambda: ranks.look() or notes)
    assert notes == [("ssh_lost", {"host": "mac2", "why": "ssh: no route"})]
    assert ranks.unreachable() is None
    assert ranks.end(0.1) == [
        "rank 0 (pid 70) on mac2 may still run: mac2 does not answer over ssh (ssh: no route): see that `ssh mac2 true`"
        f" works without a password, then run `locust-agents stop {tmp_path}`"
    ]


def test_a_line_that_broke_unheard_just_before_the_end_is_made_anew(
    tmp_path: Path, ranks: RemoteRanks, sleeper: subprocess.Popen[bytes]
) -> None:
    tell(tmp_path, f"rank 1 pid {sleeper.pid}\r\n")
    (tmp_path / "rank-2.log").write_text("pid 1\n")
    until(ranks.look)
    for child in psutil.Process().children():
        if child.pid != sleeper.pid:
            child.kill()
    assert ranks.end(0.1) == []
    assert sleeper.wait(PATIENCE_S) == -15


def test_a_crew_has_both(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    crew = Crew(tmp_path, ("mac2",))
    crew.meet(sleeper.pid, "launcher")
    tell(tmp_path, f"rank 0 pid {sleeper.pid}\r\n")
    assert not crew.serves(8080)
    until(lambda: look(crew).serves(8080))
    assert [(who.role, who.ssh) for who in crew.records()] == [("launcher", None), ("rank", "mac2")]
    assert crew.rank(0) is None
    assert crew.runs()["mac2"]("echo hello") == "hello\n"
    assert crew.missing() == ()
    sleeper.kill()
    until(lambda: look(crew).missing() == (0,))
    assert not crew.serves(8080)
    assert crew.make_sure() == []


def test_whoever_may_be_left_of_an_earlier_launch_stays_in_the_file(
    tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    first = Crew(tmp_path)
    first.meet(sleeper.pid, "launcher")
    [unsure] = first.make_sure()
    assert unsure == f"launcher (pid {sleeper.pid}) still runs: kill -9 {sleeper.pid}"
    second = Crew(tmp_path)
    second.meet(os.getpid(), "launcher")
    third = Crew(tmp_path)
    assert [each.pid for each in third._earlier] == [sleeper.pid, os.getpid()]
    sleeper.kill()
    sleeper.wait()
    first.make_sure()
    assert Crew(tmp_path)._earlier == []
