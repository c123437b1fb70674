"""Two real ranks whose prompt cache is lost for a reason that is known, and the cause that each turn is given."""

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from locust_agents import metrics, run_folder, stored_run
from locust_agents.misses import totals
from locust_agents.records import TurnRecord
from tests.patience import PATIENCE_S, is_sound

BIN = Path(sys.executable).parent
# What is sent is small and soon over; the duration is only what the slowest machine may take.
BASE: dict[str, Any] = {"duration": "250s", "scale": 0.05, "gaps": {"scale": 0.02, "cap": "300ms"}, "curve": False}


def run(folder: Path, agents: int, server: dict[str, Any], **keys: Any) -> list[TurnRecord]:
    """The records of a run of so many agents, of which nothing failed."""
    entry = {"behaviour": "fix_failing_test", "profile": "opencode", "agents": agents, "with": {"reads": 6}}
    launch = {"model": server.pop("model", "tiny"), "ranks": 2, "backend": "ring"}
    options = {"prefill-step-size": 256, **server}
    made = {"name": "misses", **BASE, "server": {"launch": launch, "options": options}, "swarm": {"fixers": entry}}
    scenario = folder / "misses.yaml"
    scenario.write_text(yaml.safe_dump({**made, **keys}))
    command = [str(BIN / "locust-agents"), "run", str(scenario), "--out", str(folder / "run")]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert is_sound(ended.returncode, ended.stdout), ended.stdout + ended.stderr
    return list(run_folder.turns(folder / "run"))


def asked_at(record: TurnRecord) -> float:
    return record.wall_time + (record.sent_s or 0.0)


def computed_at(records: list[TurnRecord]) -> float:
    """When the run knew that a prompt had been computed for the first time: its start is found from then on."""
    return min(record.wall_time + record.prefill_end_s for record in records if record.prefill_end_s is not None)


def later(records: list[TurnRecord]) -> list[TurnRecord]:
    return [record for record in records if record.kind == "later"]


def causes(records: list[TurnRecord]) -> Counter[str | None]:
    return Counter(record.miss for record in records)


def test_four_entries_for_eight_agents_are_evicted(tmp_path: Path) -> None:
    found = later(run(tmp_path, 8, {"prompt-cache-size": 4}, turns=60, start={"apart": "500ms"}))
    assert causes(found)["evicted"] >= 8
    assert set(causes(found)) <= {None, "evicted"}
    assert all("the cache holds 4 entries" in (record.miss_detail or "") for record in found if record.miss)


def test_eight_agents_on_a_cache_that_cannot_be_trimmed(tmp_path: Path) -> None:
    found = later(run(tmp_path, 8, {"model": "tiny-hybrid"}, turns=40, start={"apart": "500ms"}))
    assert causes(found)["untrimmable"] >= 8
    assert set(causes(found)) <= {None, "untrimmable"}


@pytest.mark.parametrize(
    ("apart_s", "scale", "remark"),
    [
        (0, 0.2, "all ask before the first of them is computed"),
        (1, 0.05, "the others find what the first one left"),
    ],
)
def test_agents_that_start_together(tmp_path: Path, apart_s: int, scale: float, remark: str) -> None:
    # A start of 1,300 tokens takes some of these machines' time: nobody is done before all have asked.
    once = {"behaviour": "fix_failing_test", "profile": "opencode", "agents": 4, "with": {"reads": 0, "attempts": 0}}
    keys = {"swarm": {"fixers": once}, "sessions": 1, "scale": scale, "start": {"apart": f"{apart_s}s"}}
    records = run(tmp_path, 4, {}, **keys)
    assert [(record.turn, record.kind) for record in records] == [(0, "first")] * 4
    began = next(note["time"] for note in stored_run.notes(tmp_path / "run") if note["event"] == "load")
    for number, at in enumerate(sorted(map(asked_at, records))):
        assert at - began > number * apart_s - 0.1, "never early"
    warm = [record for record in records if (record.cached_tokens or 0) > 100]
    assert causes(records) == +Counter({None: len(warm), "first": 1, "not_stored_yet": 3 - len(warm)}), remark
    assert [record for record in records if asked_at(record) > computed_at(records) and record not in warm] == []
    # one whose machine stood still asked later than the scenario says
    assert apart_s or not warm or max(record.loop_lag_s or 0.0 for record in records) > 0.2, remark
    twins = [record for record in records if record.miss == "not_stored_yet"]
    assert all("was still prefilling the same start" in (record.miss_detail or "") for record in twins)
    assert all(1000 * scale / 0.2 < totals.tokens(record) < (record.prompt_tokens or 0) for record in twins)


def test_a_date_at_the_end_of_the_system_prompt(tmp_path: Path) -> None:
    records = run(tmp_path, 2, {"prompt-cache-size": 20}, turns=16, prefix={"break": "date_tail"})
    found = later(records)
    assert causes(found) == Counter({"volatile_text": len(found)})
    for record in found:
        assert (record.miss_detail or "").startswith("system, byte "), "where it is"
        before, became = (record.miss_detail or "").split(" became ")
        assert before.count("“") == became.count("“") == 1, "what it was, and what it is"
        assert before.partition("“")[2] != became.partition("“")[2]


def test_where_nothing_is_broken_nothing_is_missed(tmp_path: Path) -> None:
    records = run(tmp_path, 4, {"prompt-cache-size": 20}, turns=24, start={"apart": "1s"}, prefix={"break": "none"})
    reuse = metrics.reuse(later(records))
    assert reuse is not None
    assert reuse >= 0.99
    warm = [record for record in records if asked_at(record) > computed_at(records)]
    assert set(causes(warm)) == {None}
    assert set(causes([record for record in records if record not in warm])) <= {"first", "not_stored_yet"}
