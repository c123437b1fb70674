"""Sweeps against a replay server: to the end, killed and gone on with, interrupted, with a cell that fails."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from locust_agents.cluster.replay import ReplayServer, chat_stream
from tests.patience import PATIENCE_S, is_sound_run, undisturbed, was_disturbed

SCENARIO: dict[str, Any] = {
    "name": "few agents",
    "turns": 4,
    "scale": 0.01,
    "curve": False,
    "gaps": {"scale": 0},
    "start": {"apart": "0s"},
    "drain": "5s",
    "swarm": {"fixer": {"behaviour": "fix_failing_test"}},
    "sweep": {"swarm.fixer.agents": [1, 2, 3]},
}
OK = chat_stream(["so ", "it ", "is"], 0.05, 0.01, usage=(400, 100, 3))
# Each agent of the second cell waits after a turn, until a file is there: so long it is half a cell.
HALF = """\
from pathlib import Path

from locust_agents.plugins.api import Agent, Session, behaviour


@behaviour
def half(agent: Agent, number: int, go: str) -> Session:
    while True:
        yield agent.user("Go on.", tokens=50)
        while number == 2 and not Path(go).exists():
            yield agent.pause(0.1)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[ReplayServer]:
    with ReplayServer([OK]) as running:
        yield running


def write(folder: Path, server: ReplayServer, **values: Any) -> None:
    (folder / "s.yaml").write_text(json.dumps({**SCENARIO, "server": {"attach": server.url}, **values}))


def words(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "locust_agents", "sweep", "s.yaml", "--shared-ok", *arguments]


def sweep(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(words(*arguments), cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S)


def wait_for(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.05)


def has_turns(folder: Path) -> bool:
    return any(path.stat().st_size for path in folder.glob("runs/*/cell-002-2/turns.jsonl"))


@pytest.fixture
def begun(server: ReplayServer, tmp_path: Path) -> Iterator[tuple["subprocess.Popen[str]", Path]]:
    """A sweep that has ended its first cell, and in whose second one turns have ended; its scenario's folder.

    The second cell goes on when there is a file `go`.
    """
    started: list[subprocess.Popen[str]] = []
    numbers = map(str, count())

    def begin() -> Path:
        folder = tmp_path / next(numbers)
        folder.mkdir()
        (folder / "half.py").write_text(HALF)
        swarm = {"fixer": {"behaviour": "half", "agents": 2, "with": {"number": 1, "go": str(folder / "go")}}}
        sweep = {"swarm.fixer.with.number": [1, 2, 3]}
        write(folder, server, turns=10, gaps={}, swarm=swarm, sweep=sweep, plugins=["half.py"])
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(words(), cwd=folder, stdout=pipe, stderr=pipe, text=True))
        wait_for(lambda: has_turns(folder) or started[-1].poll() is not None)
        return folder

    try:
        folder = undisturbed(begin, lambda folder: any(map(was_disturbed, folder.glob("runs/*/cell-001-1"))))
        yield started[-1], folder
    finally:
        for process in started:
            process.kill()
            process.communicate()


def the_folder(folder: Path) -> Path:
    (found,) = (folder / "runs").iterdir()
    return found


def test_a_sweep_ends_with_a_table_a_document_and_a_page(server: ReplayServer, tmp_path: Path) -> None:
    write(tmp_path, server)

    def make() -> "subprocess.CompletedProcess[str]":
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        return sweep(tmp_path, "--out", "out")

    done = undisturbed(make, lambda _: any(map(was_disturbed, tmp_path.glob("out/cell-*"))))
    assert (done.returncode, done.stdout.count(" held")) == (0, 3)
    assert done.stdout.rpartition("best ")[2].startswith("  cell 3 · agents 3\n")
    document = json.loads((tmp_path / "out" / "sweep.json").read_text())
    assert (document["finished"], document["server_starts"], document["best"]["cell"]) == (True, 0, 3)
    assert [cell["figures"]["turns"] for cell in document["cells"]] == [4, 4, 4]
    assert "worst TTFT (s)" in (tmp_path / "out" / "sweep.html").read_text()
    again = sweep(tmp_path, "--out", "out", "--json")
    assert json.loads(again.stdout) == {**document, "folder": str(tmp_path / "out")}
    assert "3 of 3 cells are there already" in again.stderr
    write(tmp_path, server, turns=5)
    other = sweep(tmp_path, "--out", "out")
    assert (other.returncode, other.stdout) == (2, "")
    assert "out holds a sweep of another scenario" in other.stderr


def test_a_killed_sweep_finishes_the_rest(begun: tuple["subprocess.Popen[str]", Path]) -> None:
    killed, parent = begun
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    folder = the_folder(parent)
    kept = (folder / "cell-001-1" / "summary.json").stat().st_mtime_ns
    (parent / "go").touch()
    done = sweep(parent)
    assert done.returncode == 0
    assert the_folder(parent) == folder
    assert sorted(path.name for path in folder.glob("cell-*")) == ["cell-001-1", "cell-002-2", "cell-003-3"]
    assert [path.name for path in folder.glob("halves/*")] == ["cell-002-2-1"]
    assert (folder / "cell-001-1" / "summary.json").stat().st_mtime_ns == kept
    summaries = [json.loads(path.read_text()) for path in folder.glob("cell-*/summary.json")]
    assert [one["turns"] for one in summaries] == [10] * 3
    assert all(map(is_sound_run, summaries))


def test_an_interrupt_ends_the_cell_and_says_how_to_go_on(begun: tuple["subprocess.Popen[str]", Path]) -> None:
    process, parent = begun
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    folder = the_folder(parent)
    assert process.returncode == 130
    assert f"to go on: locust-agents sweep s.yaml --out runs/{folder.name}" in err
    assert (out.count(" held"), out.count(" not run")) == (1, 2)
    assert json.loads((folder / "cell-002-2" / "summary.json").read_text())["exit_status"] == 130
    assert not json.loads((folder / "sweep.json").read_text())["finished"]


def test_a_cell_that_fails_is_a_row_and_two_in_a_row_end_it(tmp_path: Path) -> None:
    """Nobody listens at that port any more."""
    with ReplayServer([OK]) as gone:
        write(tmp_path, gone)
    done = sweep(tmp_path, "--out", "out")
    assert (done.returncode, done.stdout.count(" failed ")) == (3, 0)
    assert done.stdout.count("cell 1 failed: ") == 1
    assert "2 cells in a row had no server that answered" in done.stderr
    assert not (tmp_path / "out" / "cell-003-3").exists()


def test_a_scenario_without_axes_is_refused(server: ReplayServer, tmp_path: Path) -> None:
    keys = {key: value for key, value in SCENARIO.items() if key != "sweep"}
    (tmp_path / "s.yaml").write_text(json.dumps({**keys, "server": {"attach": server.url}}))
    done = sweep(tmp_path)
    assert (done.returncode, done.stderr.startswith("s.yaml: has no sweep; add one")) == (2, True)
    assert not (tmp_path / "runs").exists()
