"""What is printed and drawn of a sweep."""

import dataclasses
import json
import re
from html.parser import HTMLParser

import pytest
from rich.cells import cell_len

from locust_agents import records
from locust_agents.figures import Wait
from locust_agents.scenarios import with_plugins
from locust_agents.sweep import best, plot, table, words
from locust_agents.sweep import figures as sweep_figures
from locust_agents.sweep.cells import Cell
from locust_agents.sweep.figures import Figures, Result

STEP = "server.options.prefill-step-size"
MANY = {STEP: 4096, "server.options.prompt-cache-size": 10, "swarm.fixers.agents": 8, "server.launch.pipeline": True}
FIGURES = Figures(41, Wait(0.14), Wait(4.4), 1200.0, False, 9_800_000_000, 0.99, 1.0, 900.0)


def one(number: int, values: dict[str, object], figures: Figures | None = FIGURES) -> Result:
    keys = f"server: {{launch: {{model: /models/m, python: python3}}, options: {{prefill-step-size: {values[STEP]}}}}}"
    text = f"{keys}\nswarm: {{fixers: {{behaviour: fix_failing_test}}}}"
    cell = Cell(number, values, with_plugins.parse(text, "here"), text)
    if figures is None:
        return Result(cell, "failed", 3, "rank 1 died:\nout of memory", None)
    turn = {"outcome": "ok", "entry": "fixers", "agent": "a", "session": "s", "turn": 1, "kind": "first", "attempt": 1}
    waited = {"wall_time": 1.0, "sent_s": 0.0, "first_token_s": 0.14, "end_s": 1.0}
    return Result(cell, "held", 0, None, figures, (records.from_line(json.dumps(turn | waited)),))


SLOW = dataclasses.replace(FIGURES, ttft_max=Wait(300.0, is_more=True), memory=None, right=None, is_bound=True)


def test_a_row_for_each_cell_and_a_reason_for_one_that_failed() -> None:
    lines = table.render([one(1, {STEP: 2048}), one(2, {STEP: 4096}, SLOW), one(3, {STEP: 8192}, None)]).split("\n")
    assert [re.sub(r" +", " ", line) for line in lines[:5]] == [
        " prefill- TTFT TTFT prefill peak",
        "cell step-size turns p50 max tok/s memory reuse right limits",
        " 1 2048 41 0.14 s 4.40 s 1.2k 9.80 GB 99 % 100 % held",
        " 2 4096 41 0.14 s > 300 s ≥ 1.2k – 99 % – held",
        " 3 8192 0 – – – – – – failed",
    ]
    assert "cell 3 failed: rank 1 died: out of memory" in lines
    assert lines[-4:] == [
        "worst TTFT by prefill-step-size",
        "2048 █ 4.40 s",
        f"4096 {'█' * 40} > 300 s",
        "8192 –",
    ]


@pytest.mark.parametrize("values", [{STEP: 4096}, MANY])
def test_no_line_is_longer_than_a_terminal(values: dict[str, object]) -> None:
    text = table.render([one(1, values), one(2, {**values, STEP: 8192}, SLOW)])
    assert max(map(cell_len, text.split("\n"))) <= 80
    assert ("prefill-step-size 4096, prompt-cache-size 10, agents 8, pipeline true" in text) is (values is MANY)


def test_the_end_says_which_is_best_what_it_buys_and_how_to_launch_it() -> None:
    results = [one(1, {STEP: 2048}, SLOW), one(2, {STEP: 4096})]
    lines = words.lines(best.find(results), results)
    assert lines[0] == "best   cell 2 · prefill-step-size 4096"
    assert "memory 9.80 GB instead of –" in " ".join(lines)
    assert re.fullmatch(r"launch mlx\.launch -n 2 --backend ring -- .*--port 8080 --prefill-step-size 4096", lines[-1])


def test_no_best_cell_is_said_too() -> None:
    results = [one(1, {STEP: 2048}, None)]
    assert words.lines(None, results)[0].startswith("best   none: every cell failed")


class Attributes(HTMLParser):
    """Elements of a page with their attributes, not of text that its scripts hold."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names |= {f"{tag} {name}" for name, _ in attrs}


def test_the_page_needs_nobody() -> None:
    results = [one(1, {STEP: 2048}), one(2, {STEP: 4096}, SLOW), one(3, {STEP: 8192}, None)]
    page = plot.page("a <sweep>", results)
    assert not [name for name in Attributes(page).names if name.endswith((" src", " href"))]
    assert all(f'"{title}"' in page for title in ("worst TTFT (s)", "median TTFT (s)", "peak memory (GB)", "right (%)"))
    assert "a &lt;sweep&gt;" in page
    nothing = [dataclasses.replace(one(1, {STEP: 2048}), figures=dataclasses.replace(FIGURES, right=None))]
    assert '"right (%)"' not in plot.page("b", nothing)


def test_lines_join_cells_that_differ_in_one_axis_alone() -> None:
    cells = [
        one(n, {STEP: step, "swarm.fixers.agents": agents}) for n, (step, agents) in enumerate([(1, 1), (2, 1), (1, 4)])
    ]
    names = {STEP: "step", "swarm.fixers.agents": "agents"}
    found = plot._lines(cells, STEP, names, lambda figures: figures.reuse)
    assert {others: [x for x, _, _ in points] for others, points in found.items()} == {
        "agents 1": ["1", "2"],
        "agents 4": ["1"],
    }


def test_a_cell_in_the_document_has_plain_values() -> None:
    told = table.as_json(one(1, {STEP: 2048}, SLOW))
    assert (told["folder"], told["state"], told["exit_status"]) == ("cell-001-2048", "held", 0)
    assert told["figures"]["ttft_max"] == {"value": 300.0, "is_more": True}


def test_ttft_is_of_later_turns_where_there_are_some() -> None:
    assert sweep_figures.kind_of([one(1, {STEP: 2048})]) is None
