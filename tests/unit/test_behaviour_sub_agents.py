"""Sub-agents behind one prefix, awaited or not, on bounded levels."""

from collections import Counter

import pytest

from locust_agents.plugins import registry
from locust_agents.plugins.api import Join, Spawn
from locust_agents.plugins.behaviours.sub_agents import sub_agents
from locust_agents.plugins.testing import Played, play


def levels(played: Played) -> list[int]:
    """How many agents there are at each depth."""
    sessions = {turn.agent.session for turn in played.turns}
    return [number for _, number in sorted(Counter(name.count(".") for name in sessions).items())]


def test_sub_agents() -> None:
    played = play(sub_agents, n=3, profile=registry.profile("opencode"))
    (spawn,) = [step for step in played.steps if isinstance(step, Spawn)]
    subs = [turn.agent for turn in played.turns if turn.agent.role]
    assert (spawn.wait, len(spawn.sessions)) == (True, 3)
    assert {(one.role, one.preamble_tokens) for one in subs} == {("sub", 2023 + 3270)}
    assert levels(played) == [1, 3]


def test_a_parent_that_goes_on_joins_them_later() -> None:
    steps = play(sub_agents, n=2, profile=registry.profile("qwen-code")).steps
    assert [step.wait for step in steps if isinstance(step, Spawn)] == [False]
    assert sum(isinstance(step, Join) for step in steps) == 1


# remark, n, depth, agents on each level
DEPTHS: list[tuple[str, int, int, list[int]]] = [
    ("one", 1, 1, [1, 1]),
    ("as Qwen Code was seen", 2, 4, [1, 2, 4, 8, 16]),
    ("no level has more than sixteen", 3, 4, [1, 3, 9, 9, 9]),
    ("a full level delegates no further", 16, 2, [1, 16]),
    ("more than there may be", 40, 1, [1, 16]),
    ("less than one", 0, 1, [1, 1]),
]


@pytest.mark.parametrize(("n", "depth", "agents"), [pytest.param(*row[1:], id=row[0]) for row in DEPTHS])
def test_levels_are_bounded(n: int, depth: int, agents: list[int]) -> None:
    assert levels(play(sub_agents, n=n, depth=depth)) == agents


def test_a_product_may_allow_fewer() -> None:
    assert levels(play(sub_agents, n=16, profile=registry.profile("claude-code"))) == [1, 3]


def test_the_scenario_may_say_whether_to_wait() -> None:
    steps = play(sub_agents, wait=False, profile=registry.profile("opencode")).steps
    assert [step.wait for step in steps if isinstance(step, Spawn)] == [False]
