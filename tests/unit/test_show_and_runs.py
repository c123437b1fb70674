"""`show` and `runs` on folders of every kind: whole, killed, broken, refused, of another release, no run at all."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from locust_agents import cli, records, run_folder, run_text, runs_command, stored_run
from locust_agents.cluster.benchmark.output import Result, Trial
from locust_agents.cluster.restart import Gap
from locust_agents.cluster.vitals.peaks import Peaks
from locust_agents.figures import Wait
from locust_agents.records import TurnRecord
from locust_agents.runs_command import Verdict
from locust_agents.scenarios import loader, with_plugins
from locust_agents.summary import summarise
from locust_agents.why import reasons

SCENARIO = with_plugins.parse(
    "name: a run\nserver: {attach: http://mac1:8080}\nturns: 3\nswarm: {fixers: {behaviour: fix_failing_test}}\n"
    "limits: {ttft.max: 2s, later.reuse: 95%}\n",
    "here",
)
PEAKS = Peaks({2: 10**9, 10: 2 * 10**9}, "rss", {"mac2": 10**6}, 3, 0.5, 1)
GAP = Gap(2, 30.0, 4.0, "rank 1 died")
BENCHMARK = Result(1234.0, 95.0, 0.25, (Trial(1234.0, 95.0, 0.25, 1.5),))


def turn(ttft_s: float | None, **values: Any) -> TurnRecord:
    base: dict[str, Any] = {"outcome": "ok", "entry": "fixers", "agent": "fixers/0.0", "session": "fixers/0.0#0"}
    base |= {"run": "r", "turn": 1, "kind": "first", "wall_time": 100.0, "sent_s": 0.0, "end_s": 9.0}
    return records.from_line(json.dumps({**base, "first_token_s": ttft_s, **values}))


TURNS = [turn(1.0), turn(None, outcome="stalled")]


def store(folder: Path, turns: list[TurnRecord], **ended: Any) -> Path:
    """A run's folder; without `ended` it was killed."""
    made = run_folder.create(folder, "a run")
    made.write("scenario.yaml", loader.dump(SCENARIO))
    for record in turns:
        made.turn(record)
    figures = dataclasses.asdict(summarise(turns, SCENARIO.limits))
    if ended:
        made.write("summary.json", json.dumps({"error": None, "untrusted": None, **ended, **figures}))
    made.close()
    return folder


def show(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    assert cli.main(["show", str(folder)]) == 0
    printed = capsys.readouterr()
    return printed.out, printed.err


def test_a_whole_run_is_shown_as_it_was_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended: dict[str, Any] = {"vitals": PEAKS, "benchmark": BENCHMARK}
    values = {name: dataclasses.asdict(value) for name, value in ended.items()}
    folder = store(tmp_path / "run", TURNS, exit_status=1, gaps=[dataclasses.asdict(GAP)], **values)
    causes = reasons.why(TURNS, is_shared=True)
    printed = run_text.text(SCENARIO, summarise(TURNS, SCENARIO.limits), [GAP], PEAKS, BENCHMARK, causes=causes)
    assert "why    fixers worst > 9.00 s" in printed
    assert show(folder, capsys) == (f"{printed}\nall of it: {folder}\n", "")
    assert "rank 2 1.00 GB, rank 10 2.00 GB peak" in printed
    assert "started again once" in printed
    assert "raw benchmark: prefill 1.2k tok/s, decode 95 tok/s, peak 0.25 GB on rank 0" in printed.splitlines()


def test_what_was_wrong_with_it_goes_to_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = store(tmp_path / "run", [], exit_status=3, error="rank 1 died", untrusted="the client lagged")
    out, err = show(folder, capsys)
    assert out == f"all of it: {folder}\n"
    assert err.splitlines() == ["not to be trusted: the client lagged", "rank 1 died"]


def test_a_plugin_that_failed_is_told_of_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = store(tmp_path / "run", TURNS, exit_status=2, plugin_faults=["a.py:9: KeyError", "a.py:9: KeyError"])
    assert show(folder, capsys)[1] == "a.py:9: KeyError\n"


def test_a_killed_run_is_shown_as_far_as_it_came(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = store(tmp_path / "run", TURNS)
    with (folder / "turns.jsonl").open("ab") as file:
        file.write(b'{"half')
    out, err = show(folder, capsys)
    assert "broken ttft.max > 9.00 s > 2 s by > 7.00 s, worst fixers/0.0#0 turn 1" in out
    assert "killed or still runs" in err
    assert "turns.jsonl:3 (half a line" in err


def test_what_another_release_wrote_is_shown_without_what_is_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = {"vitals": {"memory": {"0": 10**9}, "figure": "rss", "fans": 3}, "gaps": [], "more": 1}
    folder = store(tmp_path / "run", TURNS, exit_status=1, **ended)
    with (folder / "scenario.yaml").open("a") as file:
        file.write("new_key: 1\n")
    out, _ = show(folder, capsys)
    assert out.startswith("r\nentry")
    assert "rank 0 1.00 GB peak" in out


def test_runs_names_a_limit_that_nothing_could_be_said_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = store(tmp_path / "r", [turn(1.0)], exit_status=0)
    summary = json.loads((folder / "summary.json").read_text())
    summary["judgements"].append({"limit": {"key": "giant.ttft.max"}, "held": None})
    (folder / "summary.json").write_text(json.dumps(summary))
    cli.main(["runs", str(tmp_path)])
    assert capsys.readouterr().out.splitlines()[1].endswith("held, not judged later.reuse, giant.ttft.max")


def test_runs_has_a_verdict_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store(tmp_path / "1-held", [turn(1.0)] * 3, exit_status=0)
    store(tmp_path / "2-broken", TURNS, exit_status=1)
    store(tmp_path / "3-error", [], exit_status=3, error="rank 1 died\nof a signal")
    store(tmp_path / "4-killed", TURNS)
    store(tmp_path / "5-untrusted", TURNS[:1], exit_status=4, untrusted="the client lagged " * 9)
    store(tmp_path / "6-interrupted", TURNS[:1], exit_status=130)
    (store(tmp_path / "7-odd", TURNS) / "summary.json").write_text("{")
    (tmp_path / "no-run").mkdir()
    assert cli.main(["runs", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:5] == [
        "run           turns worst TTFT  verdict",
        "1-held            3     1.00 s  held, not judged later.reuse",
        "2-broken          2   > 9.00 s  broken ttft.max, failures",
        "3-error           0          –  rank 1 died of a signal",
        "4-killed          2   > 9.00 s  killed, or still running",
    ]
    assert lines[5].startswith("5-untrusted       1     1.00 s  the client lagged the client")
    assert lines[5].endswith("…")
    assert lines[6] == "6-interrupted     1     1.00 s  interrupted"
    assert lines[7].startswith("7-odd             –          –  ")
    assert len(lines) == 8


@pytest.mark.parametrize("name", ["r", "20261130-040646-" + "x" * 60, "漢" * 40])
def test_lines_of_runs_are_eighty_columns_at_most(name: str) -> None:
    made = [Verdict(name, 12345, Wait(6384.0, True), "broken " + "an_entry.later.ttft.p95, " * 9)]
    assert all(cell_len(line) <= 80 for line in runs_command.render(made).splitlines())
    assert "12345   > 6384 s  broken" in runs_command.render(made)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["runs", "nowhere"], "nowhere is no folder"),
        (["runs", "empty"], "empty holds no runs"),
        (["runs"], "runs is no folder"),
        (["show", "last"], "last: no run's folder"),
    ],
)
def test_where_there_is_nothing_to_show(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    assert cli.main(arguments) == 2
    printed = capsys.readouterr()
    assert (printed.out, len(printed.err.splitlines())) == ("", 1)
    assert words in printed.err


def test_limits_are_those_of_the_stored_scenario(tmp_path: Path) -> None:
    run = stored_run.read(store(tmp_path / "run", TURNS))
    assert stored_run.limits(run) == SCENARIO.limits
