"""mlx_lm's benchmark on two real ranks: to its result, to a rank's death, to a refusal; nothing is left of any."""

import json
import os
import re
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest

from locust_agents.cluster.benchmark import raw
from locust_agents.cluster.benchmark.job import Ask
from locust_agents.cluster.benchmark.output import Result
from locust_agents.cluster.command import find_launcher
from locust_agents.cluster.crew import is_alive
from locust_agents.cluster.hosts.hostfile import demand
from locust_agents.cluster.launch_spec import LaunchSpec
from locust_agents.cluster.process_list import SAME_S
from locust_agents.cluster.tiny import model as tiny_model
from locust_agents.errors import ClusterError
from tests.patience import PATIENCE_S

SPEC = LaunchSpec("tiny", options={"prefill-step-size": 256}, ready_s=PATIENCE_S)
Notes = list[tuple[str, Mapping[str, object]]]


@pytest.fixture(scope="module")
def model() -> Path:
    return tiny_model.ensure("tiny", print)


def people(folder: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads((folder / "benchmark" / "processes.json").read_text())
    return found


def left(folder: Path) -> list[object]:
    found: list[object] = []
    for entry in people(folder):
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(int(str(entry["pid"])))
            is_same = abs(process.create_time() - float(str(entry["start_time"]))) <= SAME_S
            found += [process] if is_same and is_alive(process) else []
    return found


def test_two_ranks_to_the_result(model: Path, tmp_path: Path) -> None:
    notes: Notes = []
    said: list[str] = []
    made = raw.run(SPEC, model, Ask(512, 16, 1, 1), tmp_path, said.append, lambda *note: notes.append(note))
    (trial,) = made.trials
    assert made == Result(trial.prompt_tps, trial.generation_tps, trial.peak_memory_gb, (trial,))
    printed = f"prompt_tps={made.prompt_tps:.3f}, generation_tps={made.generation_tps:.3f}"
    assert printed in (tmp_path / "benchmark" / "rank-0.log").read_text()
    assert min(made.prompt_tps, made.generation_tps, made.peak_memory_gb) > 0
    assert [event for event, _ in notes] == ["benchmark", "benchmark_result"]
    assert json.loads(json.dumps(notes[1][1])) == json.loads(json.dumps(asdict(made)))
    doing = re.compile(r"mlx_lm benchmark, \d+ s: (loads|warms up|trial 1 of 1(, the last .*)?)")
    assert said
    assert all(map(doing.fullmatch, said)), said
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
                with suppress(ProcessLookupError):  # asked again before its end was noticed
                    os.kill(int(str(entry["pid"])), signal.SIGKILL)

    with pytest.raises(ClusterError, match="rank 1 was ended by signal 9"):
        raw.run(SPEC, model, Ask(100_000, 8, 1, 1), tmp_path, kill, lambda *_: None)
    assert left(tmp_path) == []


def test_a_model_that_cannot_be_split_is_told_in_its_own_words(model: Path, tmp_path: Path) -> None:
    spec = LaunchSpec("tiny", pipeline=True, ready_s=PATIENCE_S)
    with pytest.raises(ClusterError, match="does not support pipelining") as failed:
        raw.run(spec, model, Ask(64, 4, 1, 1), tmp_path, lambda _: None, lambda *_: None)
    assert "\n" not in str(failed.value)
    assert "does not support pipelining" in failed.value.log_tail[-1]
    assert left(tmp_path) == []


def test_silence_ends_it(model: Path, tmp_path: Path) -> None:
    spec = LaunchSpec("tiny", ready_s=0.3)
    with pytest.raises(ClusterError, match=r"said nothing for 0\.3 s"):
        raw.run(spec, model, Ask(100_000, 8, 1, 1), tmp_path, lambda _: None, lambda *_: None)
    assert left(tmp_path) == []


# A stand-in for ssh that runs everything here; the folder $HIDDEN of this machine is not on the other one.
SSH = """#!/bin/bash
while [[ $1 == -* ]]; do [[ $1 == -o ]] && shift; shift; done
shift
words="$*"
exec /bin/bash -c "${words//$HIDDEN//none}"
"""
# A stand-in for Python, which prints what rank 0 of the benchmark would.
PROGRAM = """#!/bin/sh
[ "$MLX_RANK" = 0 ] || { sleep 2; exit 0; }
echo "Running warmup.."
echo "Trial 1:  prompt_tps=3203.081, generation_tps=94.848, peak_memory=410.005, total_time=0.329"
echo "Averages: prompt_tps=3001.541, generation_tps=92.424, peak_memory=410.628"
"""


@pytest.mark.parametrize(("hidden", "has_own_log"), [("benchmark", False), ("nothing of ours", True)])
def test_a_rank_0_on_another_host_is_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hidden: str, has_own_log: bool
) -> None:
    beside_us = Path(find_launcher(sys.executable)).parent
    for name, text in (("ssh", SSH), ("python", PROGRAM)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("HIDDEN", str(tmp_path / hidden))
    monkeypatch.setenv("PATH", f"{tmp_path}:{beside_us}:{os.environ['PATH']}")
    hosts = [{"ssh": f"mac{n}", "ips": [f"127.0.0.{n}"]} for n in (1, 2)]
    (tmp_path / "hosts.json").write_text(json.dumps(hosts))
    hostfile = demand(tmp_path / "hosts.json", "ring", ())
    spec = LaunchSpec("m", hostfile=hostfile, python=str(tmp_path / "python"), ready_s=PATIENCE_S)
    made = raw.run(spec, "org/m", Ask(), tmp_path, lambda _: None, lambda *_: None)
    assert (made.prompt_tps, made.peak_memory_gb) == (3001.541, 410.628)
    assert (tmp_path / "benchmark" / "rank-0.log").exists() == has_own_log
    assert left(tmp_path) == []
