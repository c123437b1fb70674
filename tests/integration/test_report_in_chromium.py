"""report.html as a person opens it: from disk, with no network, in light, dark, on a phone, and on paper."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from locust_agents import show_command, stored_run
from locust_agents.pages import report
from locust_agents.pages import run as html_run
from tests.integration import chromium
from tests.made_run import make

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

Opens = Callable[..., "Page"]

_FEW, _MANY = 20, 20_000
_MOST_BYTES = 5_000_000
# Where a turn's bar is on the screen: the chart knows it alone.
_PLACE = """
() => {
  const view = [...Bokeh.index.roots].flatMap(function all(v) { return [v, ...(v.child_views || []).flatMap(all)] })
    .find((v) => v.model.name === "waterfall");
  const bars = view.model.renderers[0].data_source.data, box = view.canvas_view.el.getBoundingClientRect();
  const [x0, x1] = [view.model.x_range.start, view.model.x_range.end];
  let at = 0;
  for (let n = 0; n < bars.t0.length; n++)
    if (bars.t0[n] > x0 && bars.t0[n] + bars.open_w[n] < x1 && bars.open_w[n] > bars.open_w[at]) at = n;
  const { x_scale, y_scale } = view.frame;
  return [box.x + x_scale.compute(bars.open_x[at]), box.y + y_scale.compute(bars.line[at])];
}
"""
_RANGE = """
() => {
  const plot = Bokeh.documents.flatMap((d) => [...d._all_models.values()]).find((m) => m.name === "waterfall");
  return [plot.x_range.start, plot.x_range.end, plot.y_range.end, plot.y_range.start];
}
"""


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    with chromium.browser() as made:
        yield made


def build(folder: Path) -> Path:
    run = stored_run.read(folder)
    told = html_run.of(run)
    return report.write(told, show_command.text(run, told.summary), show_command.remarks(run))


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(make(tmp_path_factory.mktemp("few") / "run", _FEW))


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(make(tmp_path_factory.mktemp("many") / "run", _MANY, agents=40))


@pytest.fixture
def opens(browser: "Browser") -> Iterator[Opens]:
    """Opens a page and waits until it is drawn; what it asked for, complained of or popped up fails the test."""
    contexts: list[Any] = []
    wrong: list[str] = []

    def popped_up(dialog: "Dialog") -> None:
        wrong.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def opened(path: Path, **kind: Any) -> "Page":
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **kind})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(chromium.PATIENCE_MS)
        page.on("request", lambda asked: wrong.append(asked.url) if asked.url.startswith("http") else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
        page.on("dialog", popped_up)
        page.goto(path.as_uri())
        page.wait_for_function("document.documentElement.dataset.drawn === 'yes'")
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def hover(page: "Page") -> str:
    """Holds the mouse on the longest turn that is shown; what is said of it then."""
    page.locator("#turns figure").first.scroll_into_view_if_needed()
    return chromium.said_at(page, _PLACE)


LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True},
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("size", ["few", "many"])
def test_it_opens_in_every_look(size: str, look: str, opens: Opens, request: pytest.FixtureRequest) -> None:
    page = opens(request.getfixturevalue(size), **LOOKS[look])
    page.screenshot(path=chromium.SCREENSHOTS / f"report-{size}-{look}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out to the right"
    assert page.evaluate(_EMPTY) == [], "each chart has something drawn in it"
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(20, 23, 26)") == (look == "dark")


_EMPTY = """
() => [...document.querySelectorAll(".chart")].filter((chart) => chart.offsetHeight < 100 || chart.offsetWidth < 200)
  .map((chart) => chart.ariaLabel)
"""


def test_twenty_thousand_turns_are_few_bytes(many: Path) -> None:
    assert many.stat().st_size <= _MOST_BYTES


@pytest.mark.parametrize("size", ["few", "many"])
def test_a_turn_says_all_of_itself(size: str, opens: Opens, request: pytest.FixtureRequest) -> None:
    page = opens(request.getfixturevalue(size))
    said = hover(page)
    page.screenshot(path=chromium.SCREENSHOTS / f"report-{size}-hover.png")
    assert "NaN" not in said
    assert "???" not in said
    for word in ("agent", "turn", "TTFT", "queue", "prefill", "decode", "prompt", "reused", "outcome"):
        assert word in said
    assert "/0." in said


def test_buttons_move_the_chart(many: Path, opens: Opens) -> None:
    page = opens(many)
    start, end, top, bottom = page.evaluate(_RANGE)
    page.get_by_role("button", name="later ▶").click()
    assert page.evaluate(_RANGE)[0] == pytest.approx((start + end) / 2)
    page.get_by_role("button", name="whole run").click()
    assert page.evaluate(_RANGE)[1] > 10 * (end - start)
    page.get_by_role("button", name="all agents").click()
    assert page.evaluate(_RANGE)[2:] == [-0.5, 40.5]
    page.get_by_role("button", name="show").first.click()
    assert page.evaluate(_RANGE) == pytest.approx([start, end, top, bottom], abs=0.01)


def test_hostile_names_stay_text(tmp_path: Path, opens: Opens) -> None:
    name = "<img src=x onerror=alert(1)>$$x$$"
    folder = make(tmp_path / "run", _FEW)
    lines = [json.loads(line) for line in (folder / "turns.jsonl").read_text().splitlines()]
    for line in lines:
        agent = "$$x$$/0.1" if line["turn"] % 2 else f"{name}/0.{line['turn']}"
        line |= {"entry": name, "agent": agent, "session": f"</script>{name}", "kind": name}
    (folder / "turns.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    page = opens(build(folder))
    assert "<img src=x onerror=alert(1)>" in hover(page), "and no renderer of formulas was asked for"
    assert page.locator("img").count() == 0


def test_paper_leaves_the_screen_as_it_was(many: Path, opens: Opens) -> None:
    page = opens(many)
    before = page.evaluate(_WIDTHS)
    page.pdf(path=chromium.SCREENSHOTS / "report-many.pdf", format="A4")
    page.wait_for_function(f"(before) => JSON.stringify({_WIDTHS}) === JSON.stringify(before)", arg=before)


_WIDTHS = "[...document.querySelectorAll('.chart')].map((one) => [one.offsetWidth, one.style.zoom])"
