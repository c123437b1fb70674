"""The Agents tab's routes: below the base path, behind the login, with names that mean harm; and its charts."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE_S

SCRIPT = Path(__file__).parent / "gevent_scripts" / "drive_web_tab.py"
CHARTS = {"ttft", "stall", "prefill", "reuse", "open"}


@pytest.fixture(scope="module")
def answers() -> dict[str, Any]:
    printed = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=True, timeout=PATIENCE_S)
    found: dict[str, Any] = json.loads(printed.stdout)
    return found


def test_all_of_it_is_below_the_base_path(answers: dict[str, Any]) -> None:
    statuses = {path: status for path, (status, _) in answers["based"].items()}
    assert statuses.pop("/agents/charts/sepia") == 404
    assert set(statuses.values()) == {200}
    assert {status for status, _ in answers["beside"].values()} == {404}
    assert len(answers["based"]["/agents/bokeh.min.js"][1]) > 1_000_000, "Bokeh's own file, from its package"


def test_the_page_has_our_tab_and_names_stay_text(answers: dict[str, Any]) -> None:
    page = answers["based"]["/"][1]
    assert '"key": "agents"' in page
    assert '["fixers", 3]' in page
    assert page.index("templateArgs") < page.index('src="./agents/tab.js"') < page.index("</body>")
    told = json.loads(answers["based"]["/agents/live"][1])
    assert told["name"] == "</script><b>$$x$$"
    assert told["entries"] == ["fixers"]
    assert told["elapsed_s"] is None


def test_nothing_is_told_without_a_login(answers: dict[str, Any]) -> None:
    assert {path: status for path, (status, _) in answers["guarded"].items()} == dict.fromkeys(answers["guarded"], 302)


def test_a_start_that_takes_its_time_is_no_start_form(answers: dict[str, Any]) -> None:
    assert 'templateArgs.state = "spawning"' in answers["preparing"]["/"][1]
    assert json.loads(answers["preparing"]["/stats/requests"][1])["state"] == "spawning"
    assert "templateArgs.state" not in answers["based"]["/"][1]


def test_charts_have_axes_with_units_a_legend_and_hover(answers: dict[str, Any]) -> None:
    documents = json.loads(answers["based"]["/agents/charts/light"][1])
    assert set(documents) == CHARTS
    for name, document in documents.items():
        text = json.dumps(document)
        assert "time since the load began, h:mm:ss" in text, name
        assert '"Legend"' in text, name
        assert '"HoverTool"' in text, name
    for name, label in (("ttft", "TTFT, s"), ("prefill", "prefill, tokens/s"), ("open", "open turns")):
        assert f'"axis_label": "{label}"' in json.dumps(documents[name])


def test_names_of_entries_are_no_formulas() -> None:
    command = [sys.executable, "-m", "locust_agents.locustfiles.web.charts"]
    names = json.dumps(["$$x$$", "</script>", *map(str, range(40))])
    drawn = subprocess.run(command, input=names, capture_output=True, text=True, check=True, timeout=PATIENCE_S).stdout
    documents = json.loads(drawn)
    assert set(documents) == {"light", "dark"}
    text = json.dumps(documents["dark"]["ttft"], ensure_ascii=False)
    assert "$$x" not in text, "Bokeh would fetch a renderer of TeX from the net"
    assert text.count('"LegendItem"') == 12


@pytest.mark.parametrize("asked", [b'["fixers"]', b""], ids=["heard no more", "never asked"])
def test_the_charts_say_nothing_to_a_page_that_has_gone(asked: bytes) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "locust_agents.locustfiles.web.charts"]
    done = subprocess.run(command, input=asked, stdout=writing, stderr=subprocess.PIPE, timeout=PATIENCE_S, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
