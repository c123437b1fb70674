"""Two prompts of unlike sizes at the same time."""

from locust_agents.plugins import registry
from locust_agents.plugins.api import Spawn
from locust_agents.plugins.behaviours.mixed_pair import mixed_pair
from locust_agents.plugins.testing import play


def test_mixed_pair() -> None:
    played = play(mixed_pair, pairs=3, profile=registry.profile("opencode"))
    spawns = [step for step in played.steps if isinstance(step, Spawn)]
    assert [(spawn.wait, len(spawn.sessions)) for spawn in spawns] == [(True, 2)] * 3
    sizes = [turn.agent.preamble_tokens + (turn.says[0].tokens or 0) for turn in played.turns]
    assert all(500 <= size < 510 for size in sizes[::2])
    assert all(7000 <= size <= 20000 for size in sizes[1::2])
