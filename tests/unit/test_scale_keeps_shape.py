"""At a smaller scale a session has the same turns, the same reuse and the same share of new tokens, within 10 %.

With `outputs: drawn`, which shrinks answers too. A live model says what it says at any scale: there it holds down to a
quarter.
"""

from functools import cache
from typing import Literal

import pytest

from locust_agents.forecast.dry_run import dry_run
from locust_agents.forecast.session_plan import Load, PlannedTurn, Terms
from locust_agents.plugins import registry
from locust_agents.plugins.api import Agent
from locust_agents.plugins.behaviours.coding_session import coding_session
from locust_agents.prompts.prefix_break import PrefixBreak

SESSIONS = 500


@cache
def shape(name: str, scale: float, outputs: Literal["live", "drawn"] = "drawn") -> tuple[float, float, float, int]:
    """Turns of a session, reuse that is possible, share of new tokens, and compactions in all."""
    profile = registry.profile(name)
    load, terms = Load("a", coding_session, profile, prefix=PrefixBreak("none")), Terms(scale=scale, outputs=outputs)
    turns: list[PlannedTurn] = []
    for number in range(SESSIONS):
        agent = Agent("a/0.0", f"a/0.0#{number}", f"1 a/0.0 {number}", profile=profile)
        turns += dry_run(load, agent, terms).turns
    prompts = sum(turn.prompt_tokens for turn in turns)
    kept = sum(turn.shared_tokens if turn.kept_tokens is None else turn.kept_tokens for turn in turns)
    new = sum(turn.said_tokens for turn in turns)
    return len(turns) / SESSIONS, kept / prompts, new / prompts, sum(turn.kind == "compaction" for turn in turns)


@pytest.mark.parametrize("parts", [2, 4, 8, 16])
@pytest.mark.parametrize("name", ["claude-code", "opencode"])
def test_a_scaled_plan_has_the_shape_of_the_whole(name: str, parts: int) -> None:
    *whole, compactions = shape(name, 1.0)
    *scaled, fewer = shape(name, 1 / parts)
    assert compactions > 100
    assert scaled == pytest.approx(whole, rel=0.1)
    assert fewer == pytest.approx(compactions, rel=0.1)  # its bound shrinks, too


def test_live_answers_do_not_shrink() -> None:
    *whole, _ = shape("opencode", 1.0, "live")
    *quarter, _ = shape("opencode", 1 / 4, "live")
    assert quarter == pytest.approx(whole, rel=0.1)
    assert shape("opencode", 1 / 16, "live")[1] < 0.9 * whole[1]
