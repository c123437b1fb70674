"""Sizes and gaps: the measured percentiles, their medians, and the same values everywhere."""

import os
import random
import statistics
import subprocess
import sys

import pytest

from locust_agents import draws
from locust_agents.draws import Table

TABLES = [made for made in vars(draws).values() if isinstance(made, Table)]
SHARES = (0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99)
# Of the Claude Code traces of github.com/callanjfox/kv-cache-tester.
MEDIANS = {
    "new tool result": (297, "tokens"),
    "new human text": (196, "tokens"),
    "answer that calls a tool": (209, "tokens"),
    "answer that ends a loop": (346, "tokens"),
    "gap before a tool result": (9, "s"),
    "gap before a human message": (122, "s"),
    "model calls for one human message": (2, "turns"),
}

pytestmark = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)


def drawn(table: Table, count: int, seed: object = 1) -> list[float]:
    rng = random.Random(str(seed))
    return [draws.draw(table, rng) for _ in range(count)]


def test_the_medians_are_those_of_the_traces(table: Table) -> None:
    assert (table.values[3], table.unit) == MEDIANS[table.name]


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
    name = next(name for name, made in vars(draws).items() if made is table)
    code = f"import random; from locust_agents import draws; print(draws.draw(draws.{name}, random.Random('7 a')))"
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert float(printed.stdout) == draws.draw(table, random.Random("7 a"))
