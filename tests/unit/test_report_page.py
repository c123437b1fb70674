"""The frame of a page: everything that comes from outside is text in it, and nothing is fetched."""

import re
from pathlib import Path

import pytest
from markupsafe import Markup

from locust_agents.pages import chart as html_chart
from locust_agents.pages import frame
from locust_agents.pages import table as html_table
from locust_agents.pages.chart import Chart, Key
from locust_agents.pages.frame import Section, Verdict

HOSTILE = "</script></title><script>alert(1)</script>\"'&$$x$$"


def hostile_page() -> str:
    table = html_table.table(HOSTILE, ("a", HOSTILE), [(HOSTILE, HOSTILE)], tones=["held"])
    named = html_table.facts({HOSTILE: HOSTILE})
    made = html_chart.plot(HOSTILE, HOSTILE)
    parts = [table, named, html_table.folded(HOSTILE, HOSTILE), html_table.button(HOSTILE, plot=HOSTILE)]
    chart = Chart(made, HOSTILE, [Key(HOSTILE, "#000")], HOSTILE)
    verdict = Verdict(HOSTILE, "broken", [HOSTILE])
    return frame.page(HOSTILE, verdict, [Section("s", HOSTILE, [*parts, chart])], [HOSTILE])


def test_whatever_a_page_is_told_is_text() -> None:
    page = hostile_page()
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 16
    assert page.count("<script>") == page.count("</script>") == 3
    assert not re.search(r"""<(?:script|link|img|iframe)[^>]*(?:src|href)=""", page)


def test_no_text_is_taken_for_a_formula() -> None:
    for formula in ("$$x$$", r"\[x\]", r"\(x\)"):
        assert formula not in html_chart.plain(f"a {formula} b")
    assert html_chart.plain("costs 5 $ a\nday") == "costs 5 $ a day"


def test_a_page_without_charts_needs_no_script() -> None:
    page = frame.page("t", Verdict("held", "held"), [Section("s", "S", [Markup("<p>x</p>")])])
    assert "<p>x</p>" in page
    assert "<script" not in page
    assert len(page) < 20_000


def test_a_section_without_parts_is_left_out() -> None:
    page = frame.page("t", Verdict("held", "held"), [Section("none", "Nothing", []), Section("s", "S", [Markup("x")])])
    assert "Nothing" not in page


def test_a_browser_may_fetch_nothing() -> None:
    page = frame.page("t", Verdict("held", "held"), [])
    assert "default-src 'none'" in page


@pytest.mark.parametrize("name", ["frame.html", "frame.css", "frame.js"])
def test_the_frame_lies_in_the_package(name: str) -> None:
    assert (Path(frame.__file__).parent / name).is_file()


def test_a_table_has_heads_for_those_who_cannot_see_it() -> None:
    page = html_table.table("what it is", ("a", "b"), [("x", 1), ("y", 2)], numbers=[1], classes={0: "text"})
    assert page.count('<th scope="row">') == page.count('<th scope="col"') == 2
    assert page.count('class="number"') == 3
    assert 'aria-label="what it is"' in page


@pytest.mark.parametrize(
    ("values", "expected"),
    [([], False), ([0.0], False), ([1.0, 19.0], False), ([1.0, 20.0], True), ([0.0, 1.0], False)],
)
def test_an_axis_is_logarithmic_where_it_must_be(values: list[float], expected: bool) -> None:
    assert html_chart.is_wide(values) is expected
