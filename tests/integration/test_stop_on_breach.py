"""A run whose limit is broken ends early where that is asked for, and only then."""

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from locust_agents.cluster.replay import ReplayServer, Script, chat_stream
from tests.patience import PATIENCE_S, undisturbed, was_disturbed

SLOW = chat_stream(["so"], 0.4, 0.0, usage=(50, 0, 1))
QUICK = chat_stream(["so"], 0.0, 0.0, usage=(50, 0, 1))


@dataclass(frozen=True)
class Ended:
    """Of a run: its status, what it said, its turns, and its folder."""

    status: int
    said: str
    turns: list[Any]
    out: Path


def run(folder: Path, answer: Script, **keys: object) -> Ended:
    """A run that nothing but its own limit has ended."""
    numbers = map(str, count())
    return undisturbed(lambda: once(folder, next(numbers), answer, keys), lambda made: was_disturbed(made.out))


def once(folder: Path, name: str, answer: Script, keys: Mapping[str, object]) -> Ended:
    with ReplayServer([answer]) as server:
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
        command = [sys.executable, "-m", "locust_agents", "run", "s.yaml", "--shared-ok", "--out", name]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    turns = [json.loads(line) for line in (folder / name / "turns.jsonl").read_text().splitlines()]
    return Ended(done.returncode, done.stderr, turns, folder / name)


@pytest.mark.parametrize("is_asked", [True, False])
def test_a_broken_limit_ends_the_run_where_that_is_asked_for(tmp_path: Path, is_asked: bool) -> None:
    made = run(tmp_path, SLOW, stop_on_breach=is_asked)
    assert made.status == json.loads((made.out / "summary.json").read_text())["exit_status"] == 1
    assert (len(made.turns) < 12) is is_asked
    assert bool(re.search(r"the run ends early: ttft\.max \d", made.said)) is is_asked
    assert {turn["outcome"] for turn in made.turns} == {"ok"}


def test_a_limit_that_holds_ends_nothing(tmp_path: Path) -> None:
    made = run(tmp_path, QUICK, stop_on_breach=True, limits={"ttft.max": "60s"})
    assert (made.status, len(made.turns), "ends early" in made.said) == (0, 12, False)
