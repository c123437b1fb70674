"""mlx_lm's benchmark on two real ranks: to its result, to a rank's death, to a refusal; nothing is left of any."""

import json
import os
import signal
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest

from locust_agents.cluster import raw_benchmark, tiny_model
from locust_agents.cluster.benchmark_job import Ask
from locust_agents.cluster.benchmark_output import Result
from locust_agents.cluster.crew import is_alive
from locust_agents.cluster.launch_spec import LaunchSpec
from locust_agents.errors import ClusterError

SPEC = LaunchSpec("tiny", options={"prefill-step-size": 256}, ready_s=60.0, gives_way=True)
Notes = list[tuple[str, Mapping[str, object]]]


@pytest.fixture(scope="module")
def model() -> Path:
    return tiny_model.ensure("tiny", print)


def people(folder: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads((folder / "benchmark" / "processes.json").read_text())
    return found


def left(folder: Path) -> list[object]:
    pids = [int(str(entry["pid"])) for entry in people(folder)]
    return [pid for pid in pids if psutil.pid_exists(pid) and is_alive(psutil.Process(pid))]


def test_two_ranks_to_the_result(model: Path, tmp_path: Path) -> None:
    notes: Notes = []
    said: list[str] = []
    made = raw_benchmark.run(SPEC, model, Ask(512, 16, 1, 1), tmp_path, said.append, lambda *note: notes.append(note))
    (trial,) = made.trials
    assert made == Result(trial.prompt_tps, trial.generation_tps, trial.peak_memory_gb, (trial,))
    assert made.prompt_tps > made.generation_tps > 0
    assert made.peak_memory_gb > 0
    assert [event for event, _ in notes] == ["benchmark", "benchmark_result"]
    assert json.loads(json.dumps(notes[1][1])) == json.loads(json.dumps(asdict(made)))
    assert said[0] == "mlx_lm benchmark, 0 s: loads"
    assert {(entry["role"], entry["rank"]) for entry in people(tmp_path)} == {
        ("guardian", None),
        ("launcher", None),
        ("rank", 0),
        ("rank", 1),
    }
    assert left(tmp_path) == []


def test_a_rank_that_is_killed_is_named(model: Path, tmp_path: Path) -> None:
    def kill(_: str) -> None:
        for entry in people(tmp_path):
            if entry["rank"] == 1:
                os.kill(int(str(entry["pid"])), signal.SIGKILL)

    with pytest.raises(ClusterError, match="rank 1 was ended by signal 9"):
        raw_benchmark.run(SPEC, model, Ask(100_000, 8, 1, 1), tmp_path, kill, lambda *_: None)
    assert left(tmp_path) == []


def test_a_model_that_cannot_be_split_is_told_in_its_own_words(model: Path, tmp_path: Path) -> None:
    spec = LaunchSpec("tiny", pipeline=True, ready_s=60.0, gives_way=True)
    with pytest.raises(ClusterError, match="does not support pipelining") as failed:
        raw_benchmark.run(spec, model, Ask(64, 4, 1, 1), tmp_path, lambda _: None, lambda *_: None)
    assert "\n" not in str(failed.value)
    assert "does not support pipelining" in failed.value.log_tail[-1]
    assert left(tmp_path) == []


def test_silence_ends_it(model: Path, tmp_path: Path) -> None:
    spec = LaunchSpec("tiny", ready_s=0.3, gives_way=True)
    with pytest.raises(ClusterError, match=r"said nothing for 0\.3 s"):
        raw_benchmark.run(spec, model, Ask(64, 4, 1, 1), tmp_path, lambda _: None, lambda *_: None)
    assert left(tmp_path) == []
