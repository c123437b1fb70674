"""`locust-agents stop` on run folders of killed runs, with stand-ins for launcher and ranks; no host but this one."""

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from locust_agents.cluster import process_list, stop
from locust_agents.cluster.crew import Crew, is_alive
from locust_agents.cluster.process_list import ProcessRecord
from locust_agents.cluster.stop_command import main
from locust_agents.errors import ScenarioError
from tests.patience import PATIENCE_S

DEAF = "trap '' TERM; echo; sleep 600"
GROUP = "sleep 600 & sleep 600 & echo; wait"


class Runs:
    """Folders below runs/, each with the processes that its processes.json names."""

    def __init__(self) -> None:
        self.started: list[subprocess.Popen[bytes]] = []

    def make(self, name: str, script: str = GROUP) -> tuple[Path, psutil.Process]:
        """A launcher with its two children, which are the ranks."""
        folder = Path("runs") / name
        folder.mkdir(parents=True)
        launcher = subprocess.Popen(["/bin/sh", "-c", script], start_new_session=True, stdout=subprocess.PIPE)
        self.started.append(launcher)
        assert launcher.stdout
        launcher.stdout.readline()
        crew = Crew(folder)
        crew.meet(launcher.pid, "launcher")
        for rank, child in enumerate(psutil.Process(launcher.pid).children() if script == GROUP else ()):
            crew.meet(child.pid, "rank", rank)
        return folder, psutil.Process(launcher.pid)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runs]:
    monkeypatch.chdir(tmp_path)
    runs = Runs()
    yield runs
    for launcher in runs.started:
        with contextlib.suppress(ProcessLookupError):  # its pid is its own until we wait for it
            os.killpg(launcher.pid, 9)
        launcher.communicate()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """For those who are deaf; the others end long before."""
    monkeypatch.setattr(stop, "GRACE_S", 0.3)


def await_end(*processes: psutil.Process) -> None:
    """Who was killed runs on until the kernel gets to it."""
    patience_s = time.monotonic() + PATIENCE_S
    while any(map(is_alive, processes)):
        assert time.monotonic() < patience_s
        time.sleep(0.02)


def test_it_ends_all_of_a_run(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    folder, launcher = runs.make("a")
    everybody = [launcher, *launcher.children()]
    assert main([str(folder)]) == 0
    assert not any(map(is_alive, everybody))
    assert capsys.readouterr().out.splitlines() == [
        f"runs/a: launcher (pid {launcher.pid}) ended",
        f"runs/a: rank 0 (pid {everybody[1].pid}) ended",
        f"runs/a: rank 1 (pid {everybody[2].pid}) ended",
    ]


def test_a_benchmark_that_a_killed_run_left_is_its_too(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    left = [runs.make(name)[1] for name in ("a/benchmark", "b", "b/cells/2-1")]
    assert main(["runs/a"]) == 0
    assert [is_alive(launcher) for launcher in left] == [False, True, True]
    assert capsys.readouterr().out.splitlines()[0] == f"runs/a/benchmark: launcher (pid {left[0].pid}) ended"
    assert main([]) == 0
    assert not any(map(is_alive, left))
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ["runs/b"] * 3 + [
        "runs/b/cells/2-1"
    ] * 3


def test_without_a_folder_it_ends_all_runs_and_speaks_of_those_that_ran(
    runs: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    living = [runs.make("b")[1], runs.make("a")[1]]
    Path("runs/c").mkdir()
    _, dead = runs.make("d")
    group = [dead, *dead.children()]
    os.killpg(dead.pid, 9)
    await_end(*group)
    assert main([]) == 0
    assert not any(map(is_alive, living))
    told = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in told] == ["runs/a"] * 3 + ["runs/b"] * 3
    assert main([]) == 0
    assert capsys.readouterr().out == f"nothing of ours runs by what the folders in {Path('runs').absolute()} say\n"


def test_the_group_of_a_dead_launcher(runs: Runs) -> None:
    folder, launcher = runs.make("a")
    ranks = launcher.children()
    unknown = ranks.pop()
    records, _ = process_list.read(folder)
    process_list.write(folder, [each for each in records if each.pid != unknown.pid])
    launcher.kill()
    await_end(launcher)
    assert main([str(folder)]) == 0
    assert not any(map(is_alive, [*ranks, unknown]))


def test_a_pid_that_is_anothers_by_now_is_spared(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    folder, launcher = runs.make("a")
    everybody = [launcher, *launcher.children()]
    records, _ = process_list.read(folder)
    earlier = [ProcessRecord(each.host, each.pid, each.start_time - 3, each.role, each.rank) for each in records]
    process_list.write(folder, earlier)
    assert main([str(folder)]) == 0
    assert all(map(is_alive, everybody))
    assert capsys.readouterr().out.count("its pid is another process's by now, which is left alone") == 3


def test_a_rank_outside_of_the_group_is_ended_alone(runs: Runs) -> None:
    folder, rank = runs.make("a")
    _, other = runs.make("b")
    record = ProcessRecord(socket.gethostname(), rank.pid, rank.create_time(), "rank", 0)
    old = ProcessRecord(socket.gethostname(), other.pid, other.create_time() - 100, "launcher")
    process_list.write(folder, [old, record])
    assert main([str(folder)]) == 0
    assert not is_alive(rank)
    assert is_alive(other)


def test_who_is_deaf_to_sigterm(runs: Runs, hasty: None) -> None:
    folder, launcher = runs.make("a", DEAF)
    assert main([str(folder)]) == 0
    assert not is_alive(launcher)


@pytest.mark.parametrize(
    ("host", "status", "remark"),
    [
        ("mac7.local", 3, "another machine's, and no ssh leads there"),
        (socket.gethostname().partition(".")[0].upper() + ".lan", 0, "this one in another network"),
    ],
)
def test_processes_of_a_folder_from_elsewhere(
    runs: Runs, capsys: pytest.CaptureFixture[str], host: str, status: int, remark: str
) -> None:
    folder, launcher = runs.make("a")
    process_list.write(folder, [ProcessRecord(host, launcher.pid, launcher.create_time(), "launcher")])
    assert main([]) == status, remark
    assert is_alive(launcher) is (status == 3), remark
    told = capsys.readouterr().out
    assert ("is looked for by `locust-agents stop` on mac7.local only" in told) is (status == 3), remark


def test_what_cannot_be_ended_is_said(
    runs: Runs, hasty: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, launcher = runs.make("a", DEAF)
    monkeypatch.setattr(psutil.Process, "kill", lambda _: None)
    monkeypatch.setattr(stop, "end_group", lambda *_: False)
    assert main([str(folder)]) == 3
    assert capsys.readouterr().out == (
        f"runs/a: launcher (pid {launcher.pid}) still runs after SIGKILL: kill -9 {launcher.pid}\n"
    )
    assert process_list.read(folder)[1] == set()


def test_an_old_odd_file_keeps_no_other_run_from_its_end(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    Path("runs/a").mkdir(parents=True)
    Path("runs/a/processes.json").write_text("[{")
    _, launcher = runs.make("b")
    assert main([]) == 3
    assert not is_alive(launcher)
    assert "runs/a/processes.json cannot be read" in capsys.readouterr().out


@pytest.mark.parametrize(("text", "told"), [(None, "^runs/none has no processes.json: name"), ("[{", "cannot be read")])
def test_a_folder_that_says_nothing(runs: Runs, text: str | None, told: str) -> None:
    if text:
        Path("runs/none").mkdir(parents=True)
        Path("runs/none/processes.json").write_text(text)
    with pytest.raises(ScenarioError, match=told):
        main(["runs/none"])
