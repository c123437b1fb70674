"""A run whose limit is broken ends early where that is asked for, and only then."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from locust_agents.cluster.replay import ReplayServer, chat_stream
from tests.patience import PATIENCE_S

SLOW = chat_stream(["so"], 0.4, 0.0, usage=(50, 0, 1))
QUICK = chat_stream(["so"], 0.0, 0.0, usage=(50, 0, 1))


def run(folder: Path, answers: list[Any], **keys: object) -> tuple[int, list[Any], dict[str, Any]]:
    """The status, the turns, and what summary.json holds."""
    with ReplayServer(answers) as server:
        scenario = {
            "server": {"attach": server.url},
            "turns": 12,
            "scale": 0.01,
            "gaps": {"scale": 0, "cap": "0s"},
            "curve": False,
            "swarm": {"askers": {"behaviour": "giant_prompt", "with": {"prompt_tokens": 3000}}},
            "limits": {"ttft.max": "0.3s"},
            **keys,
        }
        (folder / "s.yaml").write_text(json.dumps(scenario))
        command = [sys.executable, "-m", "locust_agents", "run", "s.yaml", "--out", "out"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    turns = [json.loads(line) for line in (folder / "out" / "turns.jsonl").read_text().splitlines()]
    return done.returncode, [done.stderr, turns], json.loads((folder / "out" / "summary.json").read_text())


@pytest.mark.parametrize("is_asked", [True, False])
def test_a_broken_limit_ends_the_run_where_that_is_asked_for(tmp_path: Path, is_asked: bool) -> None:
    status, (said, turns), summary = run(tmp_path, [SLOW], stop_on_breach=is_asked)
    assert status == summary["exit_status"] == 1
    assert (len(turns) < 12) is is_asked
    assert ("the run ends early: ttft.max 0.4" in said) is is_asked
    assert {turn["outcome"] for turn in turns} == {"ok"}


def test_a_limit_that_holds_ends_nothing(tmp_path: Path) -> None:
    status, (said, turns), _ = run(tmp_path, [QUICK], stop_on_breach=True)
    assert (status, len(turns), "ends early" in said) == (0, 12, False)
