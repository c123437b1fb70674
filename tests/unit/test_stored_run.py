"""What is read again of a run's folder, of a killed one above all."""

import json
from pathlib import Path
from typing import Any

import pytest

from locust_agents import records, run_folder, stored_run
from locust_agents.errors import ScenarioError
from locust_agents.records import TurnRecord
from locust_agents.scenarios import loader, with_plugins

SCENARIO = """\
name: a run
server: {attach: http://mac1:8080}
turns: 3
swarm:
  fixers: {behaviour: fix_failing_test, agents: 2, with: {reads: 3}}
  giant: {behaviour: giant_prompt, after: 5s}
limits: {giant.ttft.max: 2s, later.reuse: 95%}
"""


def turn(number: int, **values: Any) -> TurnRecord:
    base: dict[str, Any] = {"outcome": "ok", "entry": "giant", "agent": "giant/0.0", "session": "giant/0.0#0"}
    base |= {"turn": number, "kind": "first", "wall_time": 100.0, "sent_s": 0.0, "first_token_s": 1.5, "end_s": 2.0}
    return records.from_line(json.dumps({**base, **values}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run of two turns that was killed before its summary."""
    made = run_folder.create(tmp_path / "run", "a run")
    made.write("scenario.yaml", loader.dump(with_plugins.parse(SCENARIO, "here")))
    for number in (1, 2):
        made.turn(turn(number))
    made.note("ready", {"seconds": 2.5})
    made.close()
    return tmp_path / "run"


def add(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_all_of_a_run(folder: Path) -> None:
    (folder / "summary.json").write_text('{"exit_status": 0}')
    run = stored_run.read(folder)
    assert (run.path, run.records, run.unread) == (folder, (turn(1), turn(2)), ())
    assert (run.scenario["name"], run.summary) == ("a run", {"exit_status": 0})
    assert [(note["event"], note["seconds"]) for note in run.notes] == [("ready", 2.5)]
    assert run.scenario_text == (folder / "scenario.yaml").read_text()


def test_a_killed_run_has_no_summary_and_maybe_half_a_line(folder: Path) -> None:
    add(folder / "turns.jsonl", b'{"outcome": "ok", "tu')
    add(folder / "cluster.jsonl", b'{"event"')
    run = stored_run.read(folder)
    assert (len(run.records), run.summary) == (2, {})
    assert run.unread == tuple(
        f"{name} (half a line: the run was killed)" for name in ("turns.jsonl:3", "cluster.jsonl:2")
    )


@pytest.mark.parametrize(
    ("line", "remark"),
    [
        (b"", "an empty line"),
        (b"{}", "no outcome"),
        (b"[1]", "no object"),
        (b"null", "no object either"),
        (b'{"outcome": "vanished"}', "an outcome of another release"),
        (b'{"outcome": "ok", "itl_hist": [1]}', "a field of another kind"),
        (b'{"outcome": "ok", "tool_calls": 7}', "and another"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_a_bad_line_is_named_and_costs_no_other(folder: Path, line: bytes, remark: str) -> None:
    add(folder / "turns.jsonl", line + b"\n" + records.to_line(turn(3)).encode() + b"\n")
    run = stored_run.read(folder)
    assert ([record.turn for record in run.records], run.unread) == ([1, 2, 3], ("turns.jsonl:3",)), remark


def test_a_run_that_was_killed_at_once(folder: Path) -> None:
    for name in ("scenario.yaml", "cluster.jsonl"):
        (folder / name).unlink()
    (folder / "turns.jsonl").write_text("")
    run = stored_run.read(folder)
    assert (run.records, run.notes, stored_run.limits(run), stored_run.scenario(run)) == ((), (), (), None)


def test_a_run_that_never_noted_anything(folder: Path) -> None:
    (folder / "cluster.jsonl").unlink()
    assert stored_run.read(folder).notes == ()


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("turns.jsonl", None, "holds no run"),
        ("scenario.yaml", "a: [", "scenario.yaml is not what a run wrote"),
        ("scenario.yaml", "- a\n", "scenario.yaml is not what a run wrote"),
        ("summary.json", "{", "summary.json is not what a run wrote"),
        ("summary.json", "[]", "summary.json is not what a run wrote"),
    ],
)
def test_a_folder_that_is_none_of_a_run(folder: Path, name: str, text: str | None, words: str) -> None:
    (folder / name).unlink(missing_ok=True)
    if text is not None:
        (folder / name).write_text(text)
    with pytest.raises(ScenarioError, match=words) as caught:
        stored_run.read(folder)
    assert str(folder) in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_the_scenario_comes_back_as_it_was(folder: Path) -> None:
    assert stored_run.scenario(stored_run.read(folder)) == with_plugins.parse(SCENARIO, "here")


def test_a_scenario_of_another_release_is_not_read_but_its_limits_are(folder: Path) -> None:
    add(folder / "scenario.yaml", b"new_key: 7\n")
    run = stored_run.read(folder)
    assert stored_run.scenario(run) is None
    assert [limit.key for limit in stored_run.limits(run)] == ["giant.ttft.max", "later.reuse", "failures"]


def test_the_figures_are_of_the_records(folder: Path) -> None:
    (folder / "summary.json").write_text('{"turns": 99}')
    found = stored_run.summary(stored_run.read(folder))
    assert (found.turns, [(one.limit.key, one.held) for one in found.judgements if one.held is not None]) == (
        2,
        [("giant.ttft.max", True), ("failures", True)],
    )


@pytest.mark.parametrize("limits", ["{ttft.median: 2s}", "{ttft.max: soon}", "[ttft.max]"])
def test_limits_that_do_not_read_name_the_file(folder: Path, limits: str) -> None:
    (folder / "scenario.yaml").write_text(f"limits: {limits}\n")
    run = stored_run.read(folder)
    with pytest.raises(ScenarioError, match=r"scenario.yaml: limits: .*changed by hand"):
        stored_run.limits(run)
