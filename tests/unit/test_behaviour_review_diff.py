"""A diff of the size that was asked for, and a look around it."""

from locust_agents.plugins.behaviours.review_diff import review_diff
from locust_agents.plugins.testing import play


def test_review_diff() -> None:
    played = play(review_diff, diff_tokens=9000, reads=3)
    assert played.turns[0].says[0].tokens == 9000
    assert [turn.says[0].answers is None for turn in played.turns] == [True, False, False, False]
    assert len(played.pauses_s) == 4
