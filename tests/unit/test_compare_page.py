"""The page of a comparison: the verdict, what changed, and how far B lies from A."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from locust_agents import cli
from locust_agents.compare import chart as compare_chart
from locust_agents.compare.comparing import Figure
from locust_agents.figures import Wait
from locust_agents.pages.chart import Chart
from tests.unit.test_compare_command import store


def figure(metric: str = "ttft", change: float | None = 0.5, word: str = "worse", **odd: Any) -> Figure:
    low, high = (None, None) if change is None else (change - 0.1, change + 0.1)
    told = {"entry": "fixers", "kind": "later", "metric": metric, "stat": "p95", "a": Wait(1.0), "b": Wait(1.5)}
    drawn = {"turns": (120, 120), "change": change, "low": low, "high": high, "chance": 0.01, "word": word}
    return Figure(**{**told, **drawn, **odd})


def places(chart: Chart) -> list[tuple[float, int, str]]:
    """Where the marks stand, from the left, on which line, and what is said of them."""
    rows = [one.data_source.data for one in chart.model.renderers if type(one.glyph).__name__ == "Scatter"]
    return sorted(
        ((x, y, word) for row in rows for x, y, word in zip(row["x"], row["y"], row["word"], strict=True)),
        key=lambda place: place[1],
    )


def segments(chart: Chart) -> list[tuple[float, float]]:
    glyphs = [one.glyph for one in chart.model.renderers if type(one.glyph).__name__ == "Segment"]
    return [(glyph.x0, glyph.x1) for glyph in glyphs]


def page_of(folder: Path, *arguments: object) -> str:
    cli.main(["compare", *map(str, arguments), "--html", str(folder / "page.html")])
    return (folder / "page.html").read_text()


def text_of(page: str) -> str:
    """What is read of a page, without its scripts."""
    bare = re.sub(r"<script>.*?</script>|<style>.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL)
    return " ".join(unescape(bare).split())


def test_waits_are_quotients_and_shares_are_points() -> None:
    figures = [figure(), figure("reuse", -0.2, "worse", stat=None), figure("decode", 1.0, "better", stat="p50")]
    quotients, points = compare_chart.quotients(figures), compare_chart.points(figures)
    assert quotients is not None
    assert points is not None
    assert places(quotients) == [(1.5, 0, "worse"), (2.0, 1, "better")]
    assert segments(quotients)[0] == pytest.approx((1.4, 1.6))
    assert places(points) == [(-20.0, 0, "worse")]
    assert segments(points)[0] == pytest.approx((-30.0, -10.0))


# figures that have no line: they are in the table alone
WITHOUT: list[tuple[str, Figure]] = [
    ("too few turns to have an interval", figure(word="few")),
    ("nothing to divide by", figure(change=None)),
    ("no interval", figure(low=None, high=None)),
]


@pytest.mark.parametrize("one", [row[1] for row in WITHOUT], ids=[row[0] for row in WITHOUT])
def test_what_has_no_interval_has_no_line(one: Figure) -> None:
    assert compare_chart.quotients([one]) is None


@pytest.mark.parametrize(("change", "place"), [(5000.0, 64.0), (-1.0, 1 / 64)])
def test_what_is_far_off_stands_at_the_edge_and_that_is_said(change: float, place: float) -> None:
    chart = compare_chart.quotients([figure(change=change), figure()])
    assert chart is not None
    assert places(chart)[0][0] == pytest.approx(place, abs=1e-4)
    assert "What lies beyond 64 stands there." in chart.caption


def test_a_long_name_leaves_the_figure_readable() -> None:
    label = compare_chart.label(figure(entry="the-fixers-of-the-whole-department"))
    assert len(label) <= 32
    assert label.endswith("… later TTFT p95")


def test_the_verdict_and_what_changed_come_before_the_figures(tmp_path: Path) -> None:
    page = page_of(tmp_path, store(tmp_path / "a", 1.0), store(tmp_path / "b", 1.5), "--allow", "ttft.p95=30%")
    said = text_of(page)
    marks = ["B is worse (status 1)", "B is worse: fixers TTFT p95", "scenario seed 1 2", "broken ttft.p95: fixers +50"]
    places = [said.index(mark) for mark in marks]
    assert places == sorted(places)
    assert re.search(r"worse TTFT p95 0\.32 s 0\.48 s \+50 % \+\d+…\+\d+ %", said)
    assert 'class="verdict broken"' in page
    assert "more is worse of waits, better of speeds" in page


@pytest.mark.parametrize(
    ("slower", "summary", "tone"), [(1.0, {}, "held"), (0.6, {}, "held"), (1.0, {"exit_status": 4}, "open")]
)
def test_the_tone_is_that_of_the_status(tmp_path: Path, slower: float, summary: dict[str, Any], tone: str) -> None:
    page = page_of(tmp_path, store(tmp_path / "a", 1.0), store(tmp_path / "b", slower, **summary))
    assert f'class="verdict {tone}"' in page


def test_cells_of_sweeps_have_a_table_and_sections_of_their_own(tmp_path: Path) -> None:
    for sweep, slower in (("a", 1.0), ("b", 1.5)):
        store(tmp_path / sweep / "step-512", 1.0)
        store(tmp_path / sweep / "step-2048", slower)
    store(tmp_path / "b" / "step-4096", 1.0)
    page = page_of(tmp_path, tmp_path / "a", tmp_path / "b")
    assert '<p class="word">Of 2 cells, B is worse in 1, not different in 1</p>' in page
    said = text_of(page)
    assert "not compared step-4096 only B has this cell" in said
    assert "step-2048: How far B lies from A" in said
    keys = re.findall(r'<section id="([^"]+)"', page)
    assert len(keys) == len(set(keys)) == 7


def test_names_are_text(tmp_path: Path) -> None:
    hostile = "$$x$$<script>alert(1)</script>"
    a, b = store(tmp_path / "a", 1.0), store(tmp_path / "b", 1.5)
    for run in (a, b):
        turns = (run / "turns.jsonl").read_text()
        (run / "turns.jsonl").write_text(turns.replace('"entry": "fixers"', f'"entry": "{hostile}"'))
    page = page_of(tmp_path, a, b)
    assert "<script>alert" not in page
    assert "$$x$$" not in re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)[1]


def test_a_page_that_cannot_be_written_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = store(tmp_path / "a", 1.0), store(tmp_path / "b", 1.0)
    assert cli.main(["compare", str(a), str(b), "--html", str(tmp_path / "none" / "page.html")]) == 2
    assert "cannot be written (No such file or directory)" in capsys.readouterr().err
