"""A run that asks for mlx_lm's own benchmark first: two real ranks for it, two for the server, none left of either."""

import json
import subprocess
import sys
from pathlib import Path

import psutil

from locust_agents.cluster.crew import is_alive
from tests.patience import PATIENCE_S, is_sound

SCENARIO = """\
name: probed
server: {launch: {model: tiny, ranks: 2}}
probe: {prompt_tokens: 256, generation_tokens: 8, trials: 1}
turns: 2
scale: 0.01
gaps: {scale: 0}
swarm: {fixer: {behaviour: fix_failing_test}}
"""


def test_the_summary_has_the_figures_of_the_benchmark(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SCENARIO)
    command = [str(Path(sys.executable).with_name("locust-agents")), "run", "s.yaml", "--out", "out", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert is_sound(done.returncode, done.stdout), done.stdout + done.stderr
    benchmark = json.loads((tmp_path / "out" / "summary.json").read_text())["benchmark"]
    printed = f"prompt_tps={benchmark['prompt_tps']:.3f}, generation_tps={benchmark['generation_tps']:.3f}"
    assert printed in (tmp_path / "out" / "benchmark" / "rank-0.log").read_text()
    assert min(benchmark["prompt_tps"], benchmark["generation_tps"], benchmark["peak_memory_gb"]) > 0
    assert json.loads(done.stdout)["benchmark"] == benchmark
    events = [json.loads(line)["event"] for line in (tmp_path / "out" / "cluster.jsonl").read_text().splitlines()]
    places = [events.index(event) for event in ("benchmark", "benchmark_result", "launch", "ready")]
    assert places == sorted(places)
    assert "raw benchmark: prefill" in done.stderr
    for folder in (tmp_path / "out" / "benchmark", tmp_path / "out"):
        started = json.loads((folder / "processes.json").read_text())
        assert len(started) == 4
        assert not any(runs(entry["pid"]) for entry in started)


def runs(pid: int) -> bool:
    try:
        return is_alive(psutil.Process(pid))
    except psutil.NoSuchProcess:
        return False
