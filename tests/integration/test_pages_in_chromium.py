"""The pages of a search for capacity and of a comparison, as a person opens them: from disk, with no network."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from locust_agents import cli
from locust_agents.capacity import page as capacity_page
from tests.integration import chromium
from tests.made_run import make
from tests.unit.test_capacity_steps import MadeUp, ask, search, series

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Opens = Callable[..., "Page"]

LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True},
}
_SMALL = (
    "() => [...document.querySelectorAll('.chart')].filter((one) => one.offsetHeight < 80 || one.offsetWidth < 200)"
)
# Where the first mark of the first chart is on the screen: the chart knows it alone.
_PLACE = """
() => {
  const all = (view) => [view, ...(view.child_views || []).flatMap(all)];
  const first = document.querySelector(".chart").getBoundingClientRect();
  const plots = [...Bokeh.index.roots].flatMap(all).filter((view) => view.model.type === "Figure");
  const view = plots.find((one) => Math.abs(one.el.getBoundingClientRect().y - first.y) < 50);
  const { glyph, data_source } = view.model.renderers.find((one) => one.glyph.type === "Scatter");
  const box = view.canvas_view.el.getBoundingClientRect(), { x_scale, y_scale } = view.frame;
  return [box.x + x_scale.compute(data_source.data.x[0]), box.y + y_scale.compute(data_source.data.y[0])];
}
"""


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    with chromium.browser() as made:
        yield made


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    (folder / "steps").mkdir()
    question = ask(limits={"later.ttft.p95": "20s", "turn.max": "60s"})
    found = search(series(folder / "steps", MadeUp(lambda agents, _run, turn: 4.0 * agents + turn % 9), question))
    (folder / "capacity.html").write_text(capacity_page.render(found))
    a, b = make(folder / "a", 400), make(folder / "b", 400, agents=16, seed=2)
    cli.main(["compare", str(a), str(b), "--allow", "ttft.p95=10%", "--html", str(folder / "compare.html")])
    return {name: folder / f"{name}.html" for name in ("capacity", "compare")}


@pytest.fixture
def opens(browser: "Browser") -> Iterator[Opens]:
    """Opens a page and waits until it is drawn; what it asked for or complained of fails the test."""
    contexts: list[Any] = []
    wrong: list[str] = []

    def opened(path: Path, **kind: Any) -> "Page":
        contexts.append(browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **kind}))
        page: Page = contexts[-1].new_page()
        page.set_default_timeout(chromium.PATIENCE_MS)
        page.on("request", lambda asked: wrong.append(asked.url) if asked.url.startswith("http") else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
        page.goto(path.as_uri())
        page.wait_for_function("document.documentElement.dataset.drawn === 'yes'")
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", ["capacity", "compare"])
def test_it_opens_in_every_look(name: str, look: str, opens: Opens, pages: dict[str, Path]) -> None:
    page = opens(pages[name], **LOOKS[look])
    page.screenshot(path=chromium.SCREENSHOTS / f"{name}-{look}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out to the right"
    assert page.evaluate(_SMALL) == [], "each chart has something drawn in it"
    assert page.locator(".chart").count() >= 2


@pytest.mark.parametrize(
    ("name", "words"),
    [("capacity", ("agents", "figure", "between", "turns", "kept")), ("compare", ("change", "95 % interval", "B is"))],
)
def test_a_mark_says_all_of_itself(name: str, words: tuple[str, ...], opens: Opens, pages: dict[str, Path]) -> None:
    page = opens(pages[name])
    page.locator(".chart").first.scroll_into_view_if_needed()
    said = chromium.said_at(page, _PLACE)
    page.screenshot(path=chromium.SCREENSHOTS / f"{name}-hover.png")
    assert "???" not in said
    assert "NaN" not in said
    for word in words:
        assert word in said
