"""mlx_lm's own benchmark: the command line it is asked with, and what its output says."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from locust_agents.cluster.benchmark import raw
from locust_agents.cluster.benchmark.job import Ask
from locust_agents.cluster.benchmark.output import Progress, Reader, Result, Trial, described
from locust_agents.cluster.command import LaunchSpec, launch_command
from locust_agents.cluster.hosts.hostfile import demand
from locust_agents.errors import ClusterError, ScenarioError

ASK = Ask(65_536, 128, 2, 3)
LOGS = Path("/run/benchmark")


def hostfile(folder: Path) -> Path:
    path = folder / "macs.json"
    rows = [[None, "rdma_en2"], ["rdma_en2", None]]
    hosts = [{"ssh": f"mac{n}", "ips": [f"10.0.0.{n}"], "rdma": rows[n]} for n in range(2)]
    path.write_text(json.dumps({"backend": "jaccl", "hosts": hosts}))
    return path


def asked(spec: LaunchSpec, model: Path | str = "org/model") -> str:
    return " ".join(raw.benchmark_command(spec, model, ASK, 30_000, LOGS))


# remark, what the spec says, how the command line ends
PROGRAMS: list[tuple[str, Mapping[str, Any], str]] = [
    ("the guide's flags", {}, "-p 65536 -g 128 -b 2 -n 3"),
    ("the server's step", {"options": {"prefill-step-size": 8192}}, "-n 3 --prefill-step-size 8192"),
    ("a step that is not set is the program's own", {"options": {"prefill-step-size": None}}, "-n 3"),
    ("pipeline, by the launch", {"pipeline": True}, "-n 3 --pipeline"),
    ("pipeline, by the options", {"options": {"pipeline": True}}, "-n 3 --pipeline"),
    ("what only a server takes is left out", {"options": {"prompt-cache-size": 4, "host": "0.0.0.0"}}, "-n 3"),
    ("a model with code of its own", {"options": {"trust-remote-code": True}}, "-n 3 --trust-remote-code"),
    ("and one without", {"options": {"trust-remote-code": False}}, "-n 3"),
]


@pytest.mark.parametrize(("said", "ending"), [pytest.param(*row[1:], id=row[0]) for row in PROGRAMS])
def test_the_program(said: Mapping[str, Any], ending: str) -> None:
    line = asked(LaunchSpec("m", **said))
    assert f"{sys.executable} -m mlx_lm benchmark --model org/model -p" in line
    assert line.endswith(ending)
    assert "--port" not in line


def test_ranks_and_environment_are_the_server_s(tmp_path: Path) -> None:
    hosts = demand(hostfile(tmp_path), "jaccl", ())
    spec = LaunchSpec("m", backend="jaccl", hostfile=hosts, python="~/mlx/python", env={"MLX_METAL_FAST_SYNCH": "1"})
    server = launch_command(spec, "~/models/m", 8080, 32_323, LOGS)
    benchmark = raw.benchmark_command(spec, "~/models/m", ASK, 32_323, LOGS)
    same = server.index("server")
    assert benchmark[:same] == server[:same]
    assert benchmark[same : same + 3] == ("benchmark", "--model", "~/models/m")


def test_what_cannot_be_launched_cannot_be_benchmarked() -> None:
    with pytest.raises(ScenarioError, match="jaccl needs a hostfile"):
        asked(LaunchSpec("m", backend="jaccl"))


def test_a_folder_without_a_model_is_told_before_anything_starts(tmp_path: Path) -> None:
    notes: list[str] = []
    with pytest.raises(ClusterError, match=r"no config\.json"):
        raw.run(LaunchSpec("m"), tmp_path, Ask(), tmp_path / "run", notes.append, lambda event, _: notes.append(event))
    assert notes == []
    assert not (tmp_path / "run").exists()


# As printed by mlx-lm 0.32.2 on Linux; the figures of the second trial and of memory are made up.
PRINTED = b"""\
pid 4711
Fetching 9 files:   0%|          | 0/9 [00:00<?, ?it/s]\rFetching 9 files: 100%|##########| 9/9 [00:00<00:00]
Running warmup..
Timing with prompt_tokens=512, generation_tokens=16, batch_size=1.
Trial 1:  prompt_tps=3203.081, generation_tps=94.848, peak_memory=410.005, total_time=0.329
Trial 2:  prompt_tps=2800.000, generation_tps=90.000, peak_memory=411.250, total_time=0.400
Averages: prompt_tps=3001.541, generation_tps=92.424, peak_memory=410.628
"""
ONE = Trial(3203.081, 94.848, 410.005, 0.329)
TWO = Trial(2800.0, 90.0, 411.25, 0.4)
AVERAGES = Result(3001.541, 92.424, 411.25, (ONE, TWO))


def read(*chunks: bytes) -> Reader:
    reader = Reader()
    for chunk in chunks:
        reader.feed(chunk)
    return reader


def test_progress_is_known_as_it_is_printed() -> None:
    reader, seen = Reader(), []
    for line in PRINTED.splitlines(keepends=True):
        if reader.feed(line):
            seen.append((reader.progress.phase, len(reader.progress.trials), reader.result is not None))
    assert seen == [
        ("warming", 0, False),
        ("timing", 0, False),
        ("timing", 1, False),
        ("timing", 2, False),
        ("timing", 2, True),
    ]
    assert reader.result == AVERAGES


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_output_may_be_cut_anywhere(size: int) -> None:
    assert read(*(PRINTED[at : at + size] for at in range(0, len(PRINTED), size))).result == AVERAGES


# remark, output, trials, result
ODD: list[tuple[str, bytes, tuple[Trial, ...], Result | None]] = [
    ("through ssh -tt", PRINTED.replace(b"\n", b"\r\n"), (ONE, TWO), AVERAGES),
    ("a progress bar on the same line", PRINTED.replace(b"Trial 2", b"50%|###  |\rTrial 2"), (ONE, TWO), AVERAGES),
    ("another rank's words between", PRINTED.replace(b"Trial 2", b"[WARN] rank 1\nTrial 2"), (ONE, TWO), AVERAGES),
    ("no averages: it died", PRINTED[: PRINTED.index(b"Averages")], (ONE, TWO), None),
    ("averages that end in mid-line", PRINTED[:-4], (ONE, TWO), None),
    ("not a number", b"Trial 1:  prompt_tps=nan, generation_tps=inf, peak_memory=1.0, total_time=1.0\n", (), None),
    ("another form", b"Trial 1: 12 tokens/s\nAverages: none\n", (), None),
    ("bytes that are no text", b"\xff\xfe\n" + PRINTED, (ONE, TWO), AVERAGES),
    ("nothing", b"", (), None),
]


@pytest.mark.parametrize(("output", "trials", "result"), [pytest.param(*row[1:], id=row[0]) for row in ODD])
def test_odd_output(output: bytes, trials: tuple[Trial, ...], result: Result | None) -> None:
    reader = read(output)
    assert (reader.progress.trials, reader.result) == (trials, result)


def test_an_endless_line_is_not_kept() -> None:
    reader = read(*[b"x" * 10_000] * 50)
    assert reader.progress == Progress()
    reader.feed(b"\n" + PRINTED)
    assert reader.result == AVERAGES


def test_described() -> None:
    line = "raw benchmark: prefill 3.0k tok/s, decode 92 tok/s, peak 411 GB on rank 0"
    assert described(AVERAGES) == line
