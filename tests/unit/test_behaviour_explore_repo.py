"""Searches, and reads what they found."""

from statistics import mean

from locust_agents.plugins.behaviours.explore_repo import explore_repo
from locust_agents.plugins.testing import play


def test_explore_repo() -> None:
    played = play(explore_repo, searches=200, reads=2)
    sizes = [turn.says[0].tokens or 0.0 for turn in played.turns[1:]]
    assert len(sizes) == 600
    assert 230 < mean(sizes[::3]) < 360
    assert 800 < mean(sizes[1::3]) < 1060
