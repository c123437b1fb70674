"""Who belongs to a launch, with stand-ins for its processes."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from locust_agents.cluster.crew import Crew, is_alive


@pytest.fixture
def group() -> Iterator[subprocess.Popen[bytes]]:
    """A leader and one child of its own, in a group of their own."""
    leader = subprocess.Popen(
        ["/bin/sh", "-c", "sleep 60 & echo; wait"], start_new_session=True, stdout=subprocess.PIPE
    )
    with leader:
        assert leader.stdout
        leader.stdout.readline()
        yield leader
        if leader.poll() is None:
            os.killpg(leader.pid, 9)


def child_of(leader: subprocess.Popen[bytes]) -> int:
    return psutil.Process(leader.pid).children()[0].pid


def test_processes_json_says_who_was_met(tmp_path: Path, group: subprocess.Popen[bytes]) -> None:
    crew = Crew(tmp_path)
    crew.meet(group.pid, "launcher")
    [entry] = json.loads((tmp_path / "processes.json").read_text())
    assert entry["pid"] == group.pid
    assert entry["start_time"] == psutil.Process(group.pid).create_time()
    assert (entry["role"], entry["rank"]) == ("launcher", None)


def test_nobody_is_met_who_has_ended(tmp_path: Path) -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    crew = Crew(tmp_path)
    crew.meet(gone.pid, "launcher")
    assert crew.records() == []


def test_ranks_are_met_by_their_logs_if_they_are_in_the_group(tmp_path: Path, group: subprocess.Popen[bytes]) -> None:
    crew = Crew(tmp_path)
    crew.meet(group.pid, "launcher")
    (tmp_path / "rank-0.log").write_text(f"pid {child_of(group)}\n")
    (tmp_path / "rank-1.log").write_text(f"pid {os.getpid()}\n")
    crew.meet_ranks(3)
    assert [who.rank for who in crew.records()] == [None, 0]
    assert (crew.rank(0) is not None, crew.rank(1)) == (True, None)
    assert crew.missing() == ()


def test_a_dead_rank_is_missing_though_nobody_collects_it(tmp_path: Path, group: subprocess.Popen[bytes]) -> None:
    with subprocess.Popen(["sleep", "60"]) as rank:
        crew = Crew(tmp_path)
        crew.meet(rank.pid, "rank", 1)
        os.kill(rank.pid, 9)
        process = psutil.Process(rank.pid)
        while process.status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.01)
        assert not is_alive(process)
        assert crew.missing() == (1,)


def test_end_takes_the_whole_group_whoever_was_met(tmp_path: Path, group: subprocess.Popen[bytes]) -> None:
    crew = Crew(tmp_path)
    crew.meet(group.pid, "launcher")
    child = child_of(group)
    assert crew.left() == sorted([group.pid, child])
    crew.end()
    assert crew.left() == []
    group.wait()


def test_end_spares_a_group_in_which_nobody_is_known(tmp_path: Path, group: subprocess.Popen[bytes]) -> None:
    crew = Crew(tmp_path)
    crew._group = group.pid
    crew.end()
    assert group.poll() is None
