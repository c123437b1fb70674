"""A whole session: what a human says, and the loop of tool calls after it."""

from locust_agents.plugins import registry
from locust_agents.plugins.api import Turn
from locust_agents.plugins.behaviours.coding_session import coding_session
from locust_agents.plugins.testing import play


def spoken(turns: list[Turn]) -> list[bool]:
    """Whether each turn is a human's."""
    return [turn.says[0].answers is None for turn in turns]


def test_coding_session() -> None:
    played = play(coding_session, human_turns=2, loop_length=3)
    assert spoken(played.turns) == [True, False, False, True, False, False]
    assert len(played.pauses_s) == 6  # a gap after each turn: its tool, or its reader
    assert len({id(turn.agent) for turn in played.turns}) == 1


def test_its_lengths_are_drawn() -> None:
    lengths = [spoken(play(coding_session, seed=str(seed)).turns) for seed in range(30)]
    assert len({len(turns) for turns in lengths}) > 15
    assert len({turns.count(True) for turns in lengths}) > 5


def test_the_last_answer_of_a_loop_calls_no_tool() -> None:
    turns = play(coding_session, human_turns=2, loop_length=3).turns
    assert [turn.ends_loop for turn in turns] == [False, False, True, False, False, True]


def test_a_product_asks_for_its_title_first() -> None:
    played = play(coding_session, human_turns=1, loop_length=1, profile=registry.profile("opencode"))
    assert [turn.agent.role for turn in played.turns] == ["title", None]
