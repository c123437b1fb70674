"""capacity.html: the answer first, then the curve that it was read from."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from locust_agents.capacity import chart as capacity_chart
from locust_agents.capacity import page as capacity_page
from locust_agents.capacity.steps import Series
from locust_agents.pages.chart import Chart
from tests.unit.test_capacity_steps import MadeUp, ask, five_a_head, search, series, two_minds


def text_of(page: str) -> str:
    """What is read of a page, without its scripts."""
    bare = re.sub(r"<script>.*?</script>|<style>.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL)
    return " ".join(unescape(bare).split())


def curve(found: Series) -> Chart:
    made = capacity_chart.curve(found, found.question.limits[0])
    assert made is not None
    return made


def columns(chart: Chart, glyph: str) -> list[dict[str, Any]]:
    """The data of all glyphs of a kind."""
    return [one.data_source.data for one in chart.model.renderers if type(one.glyph).__name__ == glyph]


def intervals(chart: Chart) -> list[tuple[float, float]]:
    glyphs = [one.glyph for one in chart.model.renderers if type(one.glyph).__name__ == "Segment"]
    return [(glyph.y0, glyph.y1) for glyph in glyphs]


def test_the_answer_comes_first(tmp_path: Path) -> None:
    page = capacity_page.render(search(series(tmp_path, MadeUp(five_a_head))))
    said = text_of(page)
    head = said[: said.index("What decides")]
    assert "4 agents 4 agents keep later TTFT p95 ≤ 20 s; 5 do not (22.6 s)" in head
    assert "waiting for a first token takes 24 % of the median agent's session" in head
    assert 'class="verdict held"' in page
    for row in ("keeps 4 17.6 s 17.6 s – 17.6 s 25 24 % 24 % 4-1", "breaks 5 22.6 s 22.6 s – 22.6 s 25 32 % 32 % 5-1"):
        assert row in said


def test_the_curve_has_a_point_an_interval_and_the_bound(tmp_path: Path) -> None:
    chart = curve(search(series(tmp_path, MadeUp(five_a_head))))
    points = {
        (value, word, y)
        for rows in columns(chart, "Scatter")
        for value, word, y in zip(rows["x"], rows["word"], rows["y"], strict=True)
    }
    assert {(value, word) for value, word, _ in points} == {
        *((value, "kept") for value in (1, 2, 4)),
        *((value, "broken") for value in (5, 6, 8)),
    }
    assert {value: y for value, _, y in points} == pytest.approx(
        {n: 5 * n - 2.44 for n in (1, 2, 4, 5, 6, 8)}, abs=0.01
    )
    assert len(intervals(chart)) == 6
    bound = columns(chart, "Line")[-1]
    assert (list(bound["x"]), list(bound["y"])) == ([1, 8], [20.0, 20.0])
    assert "22.6 s at 5" in chart.words


def test_an_interval_reaches_over_the_bound_where_nobody_can_call_it(tmp_path: Path) -> None:
    question = ask(highest="2", limits={"later.ttft.p50": "20s"})
    found = search(series(tmp_path, MadeUp(lambda _agents, _run, turn: two_minds(turn)), question))
    assert any(low < 20 < high for low, high in intervals(curve(found)))
    assert "too noisy to call" in [key.text for key in curve(found).keys]


def test_who_waits_is_drawn_as_a_share(tmp_path: Path) -> None:
    chart = capacity_chart.waits(search(series(tmp_path, MadeUp(five_a_head))))
    assert chart is not None
    worst, median = columns(chart, "Scatter")
    assert median["y"] == pytest.approx([100 * share for share in median["share"]])
    assert all(high >= low for high, low in zip(worst["share"], median["share"], strict=True))
    assert worst["x"] == [1, 2, 4, 5, 6, 8]


# what is said and in which colour: the waits, why the search ended early, the word, the tone
ENDS: list[tuple[str, float, str | None, str, str]] = [
    ("none keeps", 30.0, None, "none keeps the limits", "broken"),
    ("all keep", 1.0, None, "8 agents", "held"),
    ("one that did not end is told", 30.0, "the server died", "none keeps the limits", "open"),
]


@pytest.mark.parametrize(("wait_s", "error", "word", "tone"), [row[1:] for row in ENDS], ids=[row[0] for row in ENDS])
def test_the_verdict(tmp_path: Path, wait_s: float, error: str | None, word: str, tone: str) -> None:
    page = capacity_page.render(search(series(tmp_path, MadeUp(lambda *_: wait_s))), error)
    assert f'class="verdict {tone}"' in page
    assert f'<p class="word">{word}</p>' in page
    assert ("it did not come to its end: the server died" in page) is (error is not None)


def test_each_limit_of_the_user_has_its_curve_and_the_one_that_broke_is_first(tmp_path: Path) -> None:
    question = ask(limits={"turn.max": "100s", "later.ttft.p95": "20s"})
    page = capacity_page.render(search(series(tmp_path, MadeUp(five_a_head), question)))
    captions = re.findall(r"<figcaption>([^<]+)", page)
    assert [caption.split(" by ")[0] for caption in captions[::2]] == ["later TTFT p95", "turn max"]


def test_names_are_text(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>$$x$$"
    odd = {"1-1": {"turn": {"agent": hostile}}}
    page = capacity_page.render(search(series(tmp_path, MadeUp(five_a_head, odd), ask(name=hostile))))
    assert "<script>alert" not in page
    assert "$$x$$" not in re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)[1]
