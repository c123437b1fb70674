"""Whoever shows what is said of a figure knows every word that may be said."""

from typing import get_args

from locust_agents.compare import chart, words
from locust_agents.sweep import best

WORDS = set(get_args(words.Word))


def test_a_sweep_knows_each() -> None:
    assert set(best._WORDS) == WORDS


def test_the_chart_knows_each_that_has_an_interval() -> None:
    assert set(chart.LOOKS) == WORDS - {"few"}
