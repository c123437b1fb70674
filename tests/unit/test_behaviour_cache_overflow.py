"""Histories in turn, more than a cache holds."""

from locust_agents.plugins.behaviours.cache_overflow import cache_overflow
from locust_agents.plugins.testing import play


def test_cache_overflow() -> None:
    turns = play(cache_overflow, histories=12, tokens=20_000, rounds=3).turns
    sessions = [turn.agent.session for turn in turns]
    assert len(set(sessions)) == 12
    assert sessions == sessions[:12] * 3
    assert all(turn.agent.preamble_tokens + (turn.says[0].tokens or 0) == 20_000 for turn in turns[:12])
