"""Which earlier run says how fast a server is."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from locust_agents.forecast import input, last_curve
from locust_agents.forecast.prefill_curve import Curve, Speed, through
from locust_agents.plugins import registry
from locust_agents.scenarios import loader

TINY: dict[str, Any] = {"launch": {"model": "tiny", "ranks": 2}, "options": {"prefill-step-size": 256}, "ready": "900s"}
CURVE = through([(300, 0.1), (900, 0.4), (3000, 2.0)])


def run(runs: Path, name: str, age_s: float, server: dict[str, Any], *lines: str) -> None:
    folder = runs / name
    folder.mkdir(parents=True)
    (folder / "scenario.yaml").write_text(yaml.safe_dump({"name": name, "server": server}))
    notes = folder / "cluster.jsonl"
    notes.write_text("".join(f"{line}\n" for line in lines))
    os.utime(notes, (1_000_000 - age_s, 1_000_000 - age_s))


def noted(curve: Curve = CURVE, decode: float | None = 80.0) -> str:
    return json.dumps({"event": last_curve.EVENT, "time": 1.0, **last_curve.fields_of(curve, decode)})


def test_what_is_noted_is_found_again(tmp_path: Path) -> None:
    run(tmp_path, "one", 0, TINY, '{"event": "launch"}', noted(), '{"event": "stop"}')
    assert last_curve.find(tmp_path, TINY) == last_curve.Found("one", Speed(CURVE, 80.0))


def test_the_newest_run_of_the_same_server_counts(tmp_path: Path) -> None:
    newer = through([(100, 9.0)])
    run(tmp_path, "old", 500, TINY, noted())
    run(tmp_path, "new", 300, TINY, noted(newer, None))
    run(tmp_path, "newer, another step", 200, {**TINY, "options": {"prefill-step-size": 512}}, noted())
    run(tmp_path, "newest, without a curve", 100, TINY, '{"event": "launch"}')
    assert last_curve.find(tmp_path, TINY) == last_curve.Found("new", Speed(newer, None))


# remark, the server asked for, found
SERVERS: list[tuple[str, dict[str, Any], bool]] = [
    ("the same", TINY, True),
    ("another port and patience", {**TINY, "port": 8080, "ready": "60s"}, True),
    ("another model", {**TINY, "launch": {"model": "tiny-long", "ranks": 2}}, False),
    ("more ranks", {**TINY, "launch": {"model": "tiny", "ranks": 4}}, False),
    ("another option", {**TINY, "options": {}}, False),
    ("attached", {"attach": {"url": "http://mac1:8080"}}, False),
]


@pytest.mark.parametrize(("server", "is_found"), [pytest.param(*row[1:], id=row[0]) for row in SERVERS])
def test_a_server_is_told_by_what_decides_its_speed(tmp_path: Path, server: dict[str, Any], is_found: bool) -> None:
    run(tmp_path, "one", 0, TINY, noted())
    assert (last_curve.find(tmp_path, server) is not None) == is_found


BROKEN = [
    "",
    "{",
    "[]",
    "3",
    '{"event": "curve"}',
    '{"event": "curve", "points": [], "decode_tok_s": null}',
    noted()[:-9],
]


@pytest.mark.parametrize("line", BROKEN)
def test_broken_lines_are_passed_over(tmp_path: Path, line: str) -> None:
    run(tmp_path, "one", 0, TINY, line)
    assert last_curve.find(tmp_path, TINY) is None
    (tmp_path / "one" / "cluster.jsonl").write_text(f"{noted()}\n{line}")
    assert last_curve.find(tmp_path, TINY) is not None


@pytest.mark.parametrize("scenario", [None, b"", b"server: 3", b"- a", b"a: [", b"\xff\xfe", b"name: x"])
def test_folders_of_another_kind_are_passed_over(tmp_path: Path, scenario: bytes | None) -> None:
    run(tmp_path, "one", 0, TINY, noted())
    path = tmp_path / "one" / "scenario.yaml"
    path.unlink() if scenario is None else path.write_bytes(scenario)
    assert last_curve.find(tmp_path, TINY) is None


def test_no_runs_at_all(tmp_path: Path) -> None:
    assert last_curve.find(tmp_path / "runs", TINY) is None


def test_a_scenario_finds_the_run_that_was_made_of_it(tmp_path: Path) -> None:
    scenario = loader.load(loader.find("quickstart"), registry.parameters(), registry.profiles())
    run(tmp_path, "one", 0, {}, noted())
    (tmp_path / "one" / "scenario.yaml").write_text(loader.dump(scenario))
    assert last_curve.find(tmp_path, input.server_of(scenario)) is not None
