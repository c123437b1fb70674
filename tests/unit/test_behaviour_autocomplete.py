"""Requests at the pace of typing, all but a burst's last one dropped."""

from locust_agents.plugins.behaviours.autocomplete import autocomplete
from locust_agents.plugins.testing import play


def test_autocomplete() -> None:
    turns = play(autocomplete, bursts=50).turns
    assert all(turn.hole is not None and turn.answer_tokens for turn in turns)
    left = [turn.patience.after_s for turn in turns if turn.patience.after_s is not None]
    assert len(turns) - len(left) == 50
    assert max(left) <= 2.21


def test_it_sends_when_the_fingers_have_rested() -> None:
    assert 0.35 in play(autocomplete, bursts=1, most_keys=1).pauses_s
