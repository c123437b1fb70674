"""A long history that nobody remembers."""

import pytest

from locust_agents.plugins import registry
from locust_agents.plugins.behaviours.cold_resume import cold_resume
from locust_agents.plugins.testing import play


def test_cold_resume() -> None:
    turns = play(cold_resume, history_tokens=50_000, resumes=2, steps=3).turns
    assert [turn.is_fresh for turn in turns] == [True, False, False, False] * 2
    assert turns[0].says[0].tokens == 50_000 - turns[0].agent.preamble_tokens
    assert (turns[4].says[0].tokens or 0) < 20_000


@pytest.mark.parametrize("seed", range(20))
def test_its_history_fits_into_the_window(seed: int) -> None:
    profile = registry.profile("opencode")
    first = play(cold_resume, seed=str(seed), profile=profile).turns[0]
    assert 0 < (first.says[0].tokens or 0) <= 0.9 * profile.window_tokens
