"""Sizes and gaps: the measured percentiles, their medians, and the same values everywhere."""

import os
import random
import statistics
import subprocess
import sys

import pytest

from locust_agents import draws, draws_elsewhere
from locust_agents.draws import Table

MODULES = (draws, draws_elsewhere)
TABLES = [made for module in MODULES for made in vars(module).values() if isinstance(made, Table)]
SHARES = (0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99)
# p50, p90, unit.
MEASURED = {
    # the Claude Code traces of github.com/callanjfox/kv-cache-tester
    "new tool result": (297, 3042, "tokens"),
    "new human text": (196, 2057.5, "tokens"),
    "answer that calls a tool": (209, 843, "tokens"),
    "answer that ends a loop": (346, 1349.4, "tokens"),
    "gap before a tool result": (9, 76, "s"),
    "gap before a human message": (122, 1414, "s"),
    "model calls for one human message": (2, 15, "turns"),
    "human messages of a session": (4, 27, "turns"),
    "model calls of a session": (44, 148.9, "turns"),
    "model calls of a sub-agent": (11, 17, "turns"),
    "longest prompt of a sub-agent": (69923, 95936, "tokens"),
    # Azure's code trace of 2023
    "answer that fills a hole": (13, 55, "tokens"),
    "gap between two keys": (0.06, 0.27, "s"),
    # TraceLab, arXiv 2606.30560
    "run of a tool without its client": (0.3, 13.6, "s"),
    "history that no cache holds": (78000, 344000, "tokens"),
}

pytestmark = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)


def drawn(table: Table, count: int, seed: object = 1) -> list[float]:
    rng = random.Random(str(seed))
    return [draws.draw(table, rng) for _ in range(count)]


def test_median_and_p90_are_those_of_the_source(table: Table) -> None:
    assert (table.values[3], table.values[5], table.unit) == MEASURED[table.name]


def test_the_percentiles_are_those_of_the_table(table: Table) -> None:
    assert len(table.values) == len(SHARES)
    assert [draws.at(table, share) for share in SHARES] == pytest.approx(table.values)


def test_between_two_percentiles_the_values_rise(table: Table) -> None:
    values = [draws.at(table, number / 1000) for number in range(1001)]
    assert values == sorted(values)


def test_nothing_is_drawn_beyond_the_measured_ends(table: Table) -> None:
    assert draws.at(table, 0.0) == draws.at(table, 0.05) == pytest.approx(table.values[0])
    assert draws.at(table, 1.0) == draws.at(table, 0.99) == pytest.approx(table.values[-1])


def test_the_median_of_what_is_drawn_is_the_measured_one(table: Table) -> None:
    assert statistics.median(drawn(table, 40_001)) == pytest.approx(table.values[3], rel=0.02)


def test_a_seed_gives_the_same_values_and_another_one_others(table: Table) -> None:
    assert drawn(table, 20, "a") == drawn(table, 20, "a")
    assert drawn(table, 20, "a") != drawn(table, 20, "b")


def test_another_process_draws_the_same(table: Table) -> None:
    source, name = next((module, name) for module in MODULES for name, made in vars(module).items() if made is table)
    imports = f"import random; from {source.__name__} import {name} as table; from locust_agents.draws import draw"
    code = f"{imports}; print(draw(table, random.Random('7 a')))"
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert float(printed.stdout) == draws.draw(table, random.Random("7 a"))
