"""report.html of runs of every kind: short and long, killed, of no turn, of hostile names; what it says of each."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from locust_agents import cli, records, run_folder, stored_run
from locust_agents.figures import Wait
from locust_agents.pages import report, run, ttft_spread, ttft_times
from locust_agents.pages.run import Told
from tests.made_run import BEGAN, make


def told_of(folder: Path) -> Told:
    return run.of(stored_run.read(folder))


def page_of(folder: Path) -> str:
    return report.render(told_of(folder), "as printed")


def words(page: str) -> str:
    """What a person reads, without the scripts and styles."""
    bare = re.sub(r"(?s)<(script|style)>.*?</\1>", "", page)
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", bare)))


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("short") / "run", 300)


def test_the_verdict_and_the_reason_come_first(short: Path) -> None:
    text = words(page_of(short))
    assert text.index("a limit was broken (status 1)") < text.index("broken: ") < text.index("Figures")
    assert "four <b>agents</b> & a giant" in text
    assert re.search(r"fixers worst [\d.]+ s \(agent \d, turn \d+\)", text)


def test_all_that_is_asked_for_is_there(short: Path) -> None:
    page, text = page_of(short), words(page_of(short))
    for title in ("Limits", "Figures", "Time to first token", "Turns beside each other", "What was read again"):
        assert title in text
    for title in ("Cluster", "Failures", "Scenario", "Versions and machine"):
        assert title in text
    assert page.count('class="chart"') == 6
    assert 'HTTP status 503: <script>alert("hostile")</script> & so on' in text
    assert "traceback: rank 1, text <img src=x onerror=alert(1)>" in text
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "behaviour: fix_failing_test" in text
    assert "as printed" in text


def test_misses_have_their_price_where_the_run_knew_it(short: Path) -> None:
    stored = json.loads((short / "summary.json").read_text())["misses"]
    text = words(page_of(short))
    for cause, total in stored.items():
        assert f"{cause} {total['turns']:,} {total['tokens']:,}" in text


def test_a_killed_run_has_a_page_of_what_there_is(short: Path, tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    killed.mkdir()
    for name in ("turns.jsonl", "scenario.yaml"):
        (killed / name).write_bytes((short / name).read_bytes())
    told = told_of(killed)
    text = words(report.render(told, "", ["no summary.json: the run was killed"]))
    assert "killed, or still running" in text
    assert "no summary.json: the run was killed" in text
    assert "Not known: summary.json does not tell" in text


def test_a_run_without_a_turn_has_a_page(tmp_path: Path) -> None:
    made = run_folder.create(tmp_path / "run", "none")
    made.write("summary.json", json.dumps({"exit_status": 3, "error": "rank 1 died"}))
    made.close()
    text = words(report.render(told_of(tmp_path / "run"), "", ["rank 1 died"]))
    assert "no server or no ok turn (status 3)" in text
    assert "rank 1 died" in text
    assert "No turn was taken" in text


def test_a_run_whose_turns_were_never_sent_has_a_page(tmp_path: Path) -> None:
    made = run_folder.create(tmp_path / "run", "refused")
    base: dict[str, Any] = {"outcome": "refused", "entry": "e", "agent": "e/0.0", "session": "s", "turn": 0}
    base |= {"wall_time": BEGAN, "end_s": 0.0, "kind": "first", "attempt": 1, "error": "connection refused"}
    made.turn(records.from_line(json.dumps(base)))
    made.close()
    text = words(page_of(tmp_path / "run"))
    assert "connection refused" in text
    assert "Turns beside each other" in text


def test_of_many_turns_the_worst_and_the_lost_are_all_drawn(tmp_path: Path) -> None:
    told = told_of(make(tmp_path / "run", 2_600, agents=20))
    chart = ttft_times.over_time(told)
    assert chart is not None
    drawn = [one for one in chart.model.renderers if "name" in one.data_source.data]
    names = {name for one in drawn for name in one.data_source.data["name"]}
    lost = {run.name_of(record) for record, wait in told.waits if wait.is_more}
    worst, _ = max(told.waits, key=lambda one: (one[1].value, one[1].is_more))
    assert lost | {run.name_of(worst)} <= names
    assert len(names) < 600
    assert "Too many turns for a point each" in chart.caption
    assert len(page_of(tmp_path / "run")) < 2_000_000


def test_few_turns_are_all_drawn(short: Path) -> None:
    told = told_of(short)
    chart = ttft_times.over_time(told)
    assert chart is not None
    drawn = [one for one in chart.model.renderers if "name" in one.data_source.data]
    assert sum(len(one.data_source.data["x"]) for one in drawn) == len(told.waits) == 300


def test_who_never_got_a_token_keeps_the_line_below_the_top() -> None:
    ended, lost = ttft_spread.curve([Wait(1.0), Wait(2.0, True), Wait(3.0), Wait(4.0, True)])
    assert ended == [(1.0, 0.25), (3.0, 0.5)]
    assert lost == [(2.0, 0.25), (4.0, 0.5)]


def test_show_builds_it_again(short: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = tmp_path / "page.html"
    assert cli.main(["show", str(short), "--html", str(wanted)]) == 0
    printed = capsys.readouterr().out
    assert printed.endswith(f"page: {wanted}\n")
    assert html.escape(printed.splitlines()[2]) in wanted.read_text()
    assert cli.main(["show", str(short), "--html"]) == 0
    assert (short / "report.html").is_file()


def test_a_page_that_cannot_be_written_is_one_line(short: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["show", str(short), "--html", "/nowhere/page.html"]) == 2
    assert "/nowhere/page.html cannot be written" in capsys.readouterr().err


def test_what_the_client_did_to_the_figures_is_said_first(tmp_path: Path) -> None:
    folder = make(tmp_path / "lossy", 20, exit_status=4, trust={"witness": {"lost": 3, "cpu": 0.25}})
    page = words(page_of(folder))
    assert "doubt: 3 turns at least were sent and have no record: a worker was lost" in page
    assert "The client: CPU 25 % of a core" in page
