"""Step after step, with no human in between."""

from statistics import median

from locust_agents.plugins.behaviours.batch_agent import batch_agent
from locust_agents.plugins.testing import play


def test_batch_agent() -> None:
    lengths = [len(play(batch_agent, seed=str(seed)).turns) for seed in range(40)]
    assert 26 <= min(lengths) < max(lengths) <= 64
    played = play(batch_agent, least_steps=600, most_steps=600)
    assert [turn.says[0].answers is None for turn in played.turns].count(True) == 1
    assert 0.2 < median(played.pauses_s) < 0.5
