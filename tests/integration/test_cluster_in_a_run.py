"""A rank that is killed in the middle of a swarm: what the run says of it, and how it goes on when it is asked to."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil

from locust_agents import run_folder
from locust_agents.cluster.crew import is_alive
from locust_agents.outcome import Outcome
from locust_agents.records import TurnRecord
from tests.patience import PATIENCE_S, is_sound

BIN = Path(sys.executable).parent


def swarm_with_a_rank_killed(folder: Path, *keys: str) -> tuple[subprocess.Popen[str], str, str]:
    out = folder / "run"
    options = [word for key in keys for word in ("--set", key)]
    command = [str(BIN / "locust-agents"), "run", "quickstart", "--out", str(out), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        try:
            await_turns(run, out / "turns.jsonl")
            os.kill(pid_of_rank(out, 1), signal.SIGKILL)
            stdout, stderr = run.communicate(timeout=PATIENCE_S)
        finally:
            run.kill()
    return run, stdout, stderr


def await_turns(run: "subprocess.Popen[str]", turns: Path) -> None:
    patience_s = time.monotonic() + PATIENCE_S
    while not (turns.exists() and turns.read_bytes().count(b"\n") >= 5):
        assert run.poll() is None, run.communicate()
        assert time.monotonic() < patience_s
        time.sleep(0.1)


def pid_of_rank(out: Path, rank: int) -> int:
    started = json.loads((out / "processes.json").read_text())
    return int(next(entry["pid"] for entry in started if entry["rank"] == rank))


def left_running(out: Path) -> list[int]:
    found = []
    for entry in json.loads((out / "processes.json").read_text()):
        with suppress(psutil.NoSuchProcess):
            found += [entry["pid"]] if is_alive(psutil.Process(entry["pid"])) else []
    return found


def records_of(folder: Path) -> list[TurnRecord]:
    return list(run_folder.turns(folder / "run"))


def test_a_killed_rank_ends_the_run_with_its_name(tmp_path: Path) -> None:
    run, stdout, stderr = swarm_with_a_rank_killed(tmp_path, "duration=600s")
    assert run.returncode == 3, stdout + stderr
    assert re.search("rank 1 (was ended by SIGKILL|ended without a word)", stderr), stderr
    assert "Prompt Cache" in stderr, "the last lines of its log"
    assert "fixers" in stdout, "the table of what there was"
    records = records_of(tmp_path)
    outcomes = {record.outcome for record in records}
    assert len(outcomes) > 1, "open turns met the end of the server"
    assert Outcome.CUT not in outcomes, "and ended as what they were: truncated, refused, reset, an error"
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["exit_status"] == 3
    assert "rank 1" in summary["error"]
    assert left_running(tmp_path / "run") == []


def test_on_failure_restart_carries_the_run_to_its_end(tmp_path: Path) -> None:
    keys = ("turns=30", "duration=600s", "server.on_failure=restart")
    run, stdout, stderr = swarm_with_a_rank_killed(tmp_path, *keys)
    # the turns that the dead server left unanswered are failures
    assert run.returncode == 1 or (run.returncode == 4 and is_sound(4, stdout)), stdout + stderr
    assert "the server was started again once" in stdout
    records = records_of(tmp_path)
    assert {record.epoch for record in records} == {1, 2}
    assert {record.outcome for record in records if record.epoch == 2} == {Outcome.OK}
    assert len({(record.session, record.turn) for record in records}) == 30
    [gap] = json.loads((tmp_path / "run" / "summary.json").read_text())["gaps"]
    assert gap["epoch"] == 2
    assert "rank 1" in gap["why"]
    assert (tmp_path / "run" / "rank-1.epoch-1.log").exists()
    assert left_running(tmp_path / "run") == []
