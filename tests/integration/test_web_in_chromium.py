"""The Agents tab in a real browser, against a live two-rank swarm: start, watch it fill, hover, stop, start again."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration import chromium
from tests.patience import PATIENCE_S

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

BIN = Path(sys.executable).parent
LOCUSTFILE = Path(__file__).parents[2] / "locustfiles" / "coding_agents.py"
# The giant's prompt has many steps, so that somebody is in prefill most of the time.
SCENARIO = """
name: three agents and a giant
server: {launch: {model: tiny, ranks: 2, backend: ring}, options: {prefill-step-size: 128, prompt-cache-size: 20}}
stages: [{for: 5m, fixers: 3, giant: 1}]
scale: 0.05
gaps: {scale: 0.02, cap: 1s}
curve: false
swarm:
  fixers: {behaviour: fix_failing_test, profile: opencode, agents: 3}
  giant: {behaviour: giant_prompt, agents: 1, with: {prompt_tokens: 64k}}
start: {apart: 500ms}
drain: 60s
limits: {failures: 0%}
"""
CHARTS = ("ttft", "stall", "prefill", "reuse", "open")
PATIENCE_MS = 300_000
_TABLES_FILLED = "document.querySelectorAll('#agents [data-table] tbody tr').length >= 2"
_CHARTS_FILLED = """
() => window.Bokeh && Bokeh.documents.length === 5 && Bokeh.documents.every((one) => ["entry 0", "all"].some((name) => {
  const source = one.get_model_by_name(name);
  return source && source.data.t.length >= 3;
}))
"""
_CLIENT_FILLED = """
() => {
  const said = Object.fromEntries([...document.querySelectorAll("#agents [data-client] > span")]
    .map((one) => [one.firstChild.textContent.trim(), one.querySelector("b").textContent]));
  return /worst [\\d.]+ m?s$/.test(said["loop lag"]) && /^\\d+ % of a core$/.test(said["CPU"])
    && /\\d m?s$/.test(said["turns late"]) && /^\\d/.test(said["agents missing"]) && said["turns lost"] === "0";
}
"""
# What a run on a sound machine does not have.
DOUBTS = (
    "the client's own loop was 1.25 s late, more than 500 ms: use fewer agents here",
    "93 % of the tokens came in clumps: something buffers the stream (a proxy?), TTFT is its own",
)
# Where the median of the first entry is drawn last, on the screen.
_POINT = """
() => {
  const view = [...Bokeh.index.roots].find((one) => document.getElementById("agents-ttft").contains(one.el));
  const source = view.model.document.get_model_by_name("entry 0").data, { x_scale, y_scale } = view.frame;
  const at = source.ttft_p50.findLastIndex((value) => !isNaN(value)), box = view.canvas_view.el.getBoundingClientRect();
  return [box.x + x_scale.compute(source.t[at]), box.y + y_scale.compute(source.ttft_p50[at])];
}
"""
# Texts and boxes of ours that stick out of the page, or have no size.
_WRONG = """
() => [...document.querySelectorAll("#agents :is(.chart, .wide, pre, .client, .doubt)")]
  .filter((one) => one.offsetParent).map((one) => [one.id || one.tagName, one.getBoundingClientRect()])
  .filter(([, box]) => box.width < 150 || box.height < 18 || box.right > innerWidth + 1).map(([name]) => name)
"""
_IS_DARK = "getComputedStyle(document.body).backgroundColor !== 'rgb(255, 255, 255)'"
_INK = "Bokeh.documents[0].roots()[0].left[0].axis_label_text_color"


@dataclass(frozen=True, slots=True)
class Served:
    """A Locust page that runs; `said` is all that it printed."""

    url: str
    log: Path
    folder: Path
    process: "subprocess.Popen[bytes]"

    def asked(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=PATIENCE_S) as answer:
            return json.load(answer)


@contextlib.contextmanager
def served(folder: Path, command: list[str], base: str = "") -> Iterator[Served]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "locust.conf").write_text(f"web-port = {port}\nweb-host = 127.0.0.1\n")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    page = Served(f"http://127.0.0.1:{port}{base}", folder / "log", folder, process)
    try:
        _wait_for(page)
        yield page
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(page: Served) -> None:
    while True:
        assert page.process.poll() is None, page.log.read_text()
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"{page.url}/", timeout=PATIENCE_S).close()
            return
        time.sleep(0.1)


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    with chromium.browser() as made:
        yield made


@pytest.fixture
def page(browser: "Browser") -> Iterator["Page"]:
    """What it complains of fails the test."""
    context, wrong = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light"), list[str]()
    made = context.new_page()
    made.set_default_timeout(PATIENCE_MS)
    made.on("pageerror", lambda error: wrong.append(str(error)))
    made.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
    yield made
    context.close()
    assert wrong == []


def picture(page: "Page", name: str) -> None:
    """The whole page, once Bokeh has drawn."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.screenshot(path=chromium.SCREENSHOTS / f"web-{name}.png", full_page=True)
    assert page.evaluate(_WRONG) == [], name


def test_a_swarm_from_its_start_form_to_its_report(page: "Page", tmp_path: Path) -> None:
    (tmp_path / "swarm.yaml").write_text(SCENARIO)
    command = [BIN / "locust", "-f", LOCUSTFILE, "--scenario", "swarm.yaml", "--web-base-path", "/load", "-u", "9"]
    with served(tmp_path, [*map(str, command)], "/load") as swarm:
        page.goto(f"{swarm.url}/")
        start_from_the_form(page)
        read_what_was_said(page)
        page.wait_for_function("/running, /.test(document.querySelector('#agents [data-state]')?.textContent)")
        assert page.get_by_role("tab", selected=True).inner_text().upper() == "AGENTS"
        page.wait_for_function(_TABLES_FILLED)
        page.wait_for_function(_CHARTS_FILLED)
        page.wait_for_function(_CLIENT_FILLED)
        page.locator("#agents .bar").first.wait_for()
        hover_a_chart(page)
        doubt_it(page)
        switch_to_dark(page)
        on_a_phone(page)
        believe_it(page)
        assert_other_tabs_are_locusts_own(page)
        stop_and_read_the_end(page)
        download_the_report(page)
        first = swarm.asked("/agents/live")
        start_again(page)
        second = swarm.asked("/agents/live")
        page.goto("about:blank")  # it would complain that Locust has gone
        assert second["run"] != first["run"]
        assert second["cluster"]["url"] == first["cluster"]["url"], "the server is kept between two runs"
        assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == sorted([first["run"], second["run"]])
    scenario = (tmp_path / "runs" / first["run"] / "scenario.yaml").read_text()
    assert "seed: 42" in scenario
    assert "stages" not in scenario
    assert "-u and -r change nothing: the scenario says how many agents there are (fixers 3, giant 1)" in (
        swarm.log.read_text()
    )


def start_from_the_form(page: "Page") -> None:
    page.get_by_text("The scenario says how many agents there are: fixers 3, giant 1.").wait_for()
    assert not page.locator('input[name="userCount"]').is_visible()
    page.locator('input[name="seed"]').fill("42")
    page.locator('input[name="stages"]').uncheck()
    assert page.locator('input[name="attach"]').is_visible()
    picture(page, "form")
    page.route("**/agents/live", still_preparing)
    page.get_by_role("button", name="Start").click()
    page.locator("#agents [data-state]", has_text="preparing").wait_for()
    page.locator("#agents [data-said]", has_text=re.compile("^the server starts, 1 s$")).wait_for()
    picture(page, "preparing")
    page.unroute("**/agents/live")


def still_preparing(route: "Route") -> None:
    """A preparation can be over between two looks of the page."""
    answer = route.fetch()
    told = answer.json()
    told.update(on=True, elapsed_s=None, said=[{"at": 1.8e9, "what": f"the server starts, {n} s"} for n in range(2)])
    route.fulfill(response=answer, json=told)


def read_what_was_said(page: "Page") -> None:
    """All of it stays there, also for who opens the page later."""
    page.wait_for_function("/running, /.test(document.querySelector('#agents [data-state]')?.textContent)")
    heard = page.locator("#agents [data-heard]")
    heard.locator("summary").click()
    said = heard.locator("li", has_text="measuring what our text costs in the server's tokens")
    said.wait_for()
    assert re.match(r"\d\d:\d\d:\d\d measuring", said.inner_text()), said.inner_text()
    assert "the server starts, " in heard.locator("li").first.inner_text()
    picture(page, "said")
    heard.locator("summary").click()


def hover_a_chart(page: "Page") -> None:
    page.locator("#agents-ttft").scroll_into_view_if_needed()
    page.mouse.move(*page.evaluate(_POINT))
    tip = page.locator(".bk-Tooltip").first
    tip.wait_for()
    said = str(tip.evaluate("(tip) => [...tip.shadowRoot.querySelectorAll('div')].map((one) => one.innerText).join()"))
    picture(page, "light")
    assert re.search(r"fixers p50:?\s*[\d.]+ m?s", said), said
    assert "NaN" not in said
    page.mouse.move(0, 0)


def doubt_it(page: "Page") -> None:
    """From now on the tab is told of doubts."""

    def with_doubts(route: "Route") -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "doubts": DOUBTS})

    page.route("**/agents/live", with_doubts)
    page.locator("#agents .doubt").nth(1).wait_for()
    assert [one.inner_text() for one in page.locator("#agents .doubt").all()] == [f"doubt: {one}" for one in DOUBTS]
    picture(page, "doubted")


def believe_it(page: "Page") -> None:
    page.unroute("**/agents/live")
    page.wait_for_function(f"!document.querySelector('#agents [data-doubts]').innerText.includes({DOUBTS[1]!r})")


def switch_to_dark(page: "Page") -> None:
    ink = page.evaluate(_INK)
    page.locator("header button").last.click()
    page.wait_for_function(_IS_DARK)
    page.wait_for_function(f"Bokeh.documents.length === 5 && {_INK} !== {json.dumps(ink)}")
    page.wait_for_function(_CHARTS_FILLED)
    picture(page, "dark")


def on_a_phone(page: "Page") -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(500)
    picture(page, "phone")
    page.set_viewport_size({"width": 1280, "height": 900})


def assert_other_tabs_are_locusts_own(page: "Page") -> None:
    page.get_by_role("tab", name="Statistics").click()
    page.locator("#agents").wait_for(state="hidden")
    page.get_by_role("tab", name="Agents").click()
    page.locator("#agents").wait_for()


def stop_and_read_the_end(page: "Page") -> None:
    page.get_by_role("button", name="Stop", exact=True).click()
    page.locator("#agents [data-end]").wait_for()
    assert "held" in page.locator("#agents [data-verdict]").inner_text()
    text = page.locator("#agents [data-text]").inner_text()
    assert text.startswith("three agents and a giant   2 ranks ring, tiny model")
    picture(page, "ended")


def download_the_report(page: "Page") -> None:
    page.get_by_role("tab", name="Download Data").click()
    link = page.get_by_role("link", name="Download Report")
    with page.context.expect_page() as opened:
        link.click()
    report = opened.value
    report.wait_for_load_state()
    report.get_by_text("Coding agents: held").wait_for()
    report.screenshot(path=chromium.SCREENSHOTS / "web-locust-report.png", full_page=True)
    report.close()
    page.get_by_role("tab", name="Agents").click()


def start_again(page: "Page") -> None:
    page.get_by_role("button", name="New").click()
    page.get_by_role("button", name="Start").click()
    page.wait_for_function("/running, /.test(document.querySelector('#agents [data-state]').textContent)")
    page.wait_for_function(_TABLES_FILLED)


def test_the_quickstart_fills_its_tab(page: "Page", tmp_path: Path) -> None:
    environment = {"SSH_CONNECTION": "10.0.0.9 51000 10.0.0.5 22", "USER": "ann"}
    command = ["env", *(f"{name}={value}" for name, value in environment.items())]
    command += [str(BIN / "locust-agents"), "run", "quickstart", "--web", "--set", "curve=false"]
    with served(tmp_path, command) as swarm:
        page.emulate_media(color_scheme="dark")
        page.goto(f"{swarm.url}/")
        page.wait_for_function(_TABLES_FILLED.replace("2", "1"))
        page.wait_for_function("window.Bokeh && Bokeh.documents.length === 5")
        assert page.evaluate(_IS_DARK)
        picture(page, "quickstart-dark")
        page.goto("about:blank")
    said = swarm.log.read_text()
    port = swarm.url.rpartition(":")[2]
    assert f"the Agents tab: http://127.0.0.1:{port}/?tab=agents" in said
    assert f"ssh -L {port}:127.0.0.1:{port} ann@10.0.0.5" in said
    assert os.listdir(tmp_path / "runs"), "the run has its folder"
