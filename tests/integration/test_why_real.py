"""Why agents waited, on two real ranks: with a giant among them it is the giant, without it somebody else."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE_S, is_sound

FIXERS = {"behaviour": "fix_failing_test", "agents": 4, "after": "1s"}
# It is there before the fixers: they wait for it, however slow the machine is.
GIANT = {"behaviour": "giant_prompt", "with": {"prompt_tokens": 160_000, "answer_tokens": 8}}


def run(folder: Path, swarm: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any], str]:
    """The turns, summary.json, and what was printed."""
    scenario = {
        "turns": 6,
        "duration": "250s",
        "scale": 0.05,
        "gaps": {"scale": 0.02, "cap": "1s"},
        "curve": False,
        "start": {"apart": "0s"},
        "server": {"options": {"prefill-step-size": 512}},
        "swarm": swarm,
    }
    (folder / "s.yaml").write_text(json.dumps(scenario))
    command = [sys.executable, "-m", "locust_agents", "run", "s.yaml", "--out", "out"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert is_sound(done.returncode, done.stdout), done.stdout + done.stderr
    turns = [json.loads(line) for line in (folder / "out" / "turns.jsonl").read_text().splitlines()]
    return turns, json.loads((folder / "out" / "summary.json").read_text()), done.stdout


def worst_of(summary: dict[str, Any], entry: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = [one for one in summary["why"] if (one["entry"], one["metric"]) == (entry, "ttft")]
    return found[0]


def seconds_beside_the_giant(record: dict[str, Any], turns: list[dict[str, Any]]) -> float:
    """Of the wait for a first token, those in which the giant was prefilled."""
    since, until = (record["wall_time"] + record[name] for name in ("sent_s", "first_token_s"))
    spans = [
        (turn["wall_time"] + turn["headers_s"], turn["wall_time"] + turn["prefill_end_s"])
        for turn in turns
        if turn["entry"] == "giant" and turn["prefill_end_s"] is not None
    ]
    return float(sum(max(0.0, min(until, end) - max(since, begin)) for begin, end in spans))


def test_the_giant_is_named_where_there_is_one(tmp_path: Path) -> None:
    turns, summary, printed = run(tmp_path, {"fixers": FIXERS, "giant": GIANT})
    why = worst_of(summary, "fixers")
    [record] = [
        turn
        for turn in turns
        if (turn["session"], turn["turn"], turn["attempt"]) == (why["session"], why["turn"], why["attempt"])
    ]
    ttft_s = record["first_token_s"] - record["sent_s"]
    # else something else than the giant stood in the way, longer than any of its prompts takes
    if seconds_beside_the_giant(record, turns) > 0.75 * ttft_s:
        assert "giant/0" in why["sentence"]
        assert "giant/0" in printed[printed.index("\nwhy ") :]
    assert why["value"]["value"] == pytest.approx(ttft_s)
    assert sum(why["parts"].values()) == pytest.approx(ttft_s)
    assert why["parts"]["queue"] == pytest.approx(record["headers_s"] - record["sent_s"])


def test_nobody_speaks_of_a_giant_where_there_is_none(tmp_path: Path) -> None:
    _, summary, printed = run(tmp_path, {"fixers": FIXERS})
    assert worst_of(summary, "fixers")["sentence"]
    assert "giant" not in printed
