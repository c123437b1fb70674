"""Agent n of a twin sends what agent n of the other entry sends, in size and pause, and no word of it."""

import json
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import Any

import pytest

from locust_agents import arrival, session_seed
from locust_agents.answers.deltas import Usage
from locust_agents.answers.stream import Answer
from locust_agents.forecast import input
from locust_agents.forecast.prefill_curve import Speed
from locust_agents.forecast.session_plan import Bounds, PlannedTurn
from locust_agents.forecast.timetable import timetable
from locust_agents.outcome import Outcome
from locust_agents.plugins.api import Agent
from locust_agents.profile import Profile
from locust_agents.prompts import preambles
from locust_agents.prompts.dialogue import Dialogue, Style
from locust_agents.prompts.prefix_break import PrefixBreak
from locust_agents.prompts.sizing import Calibration, Sizer
from locust_agents.scenarios import with_plugins
from locust_agents.setting import Setting

CALIBRATION = Calibration("123 456 789", tokens_per_char=0.25, message_tokens=4.0)
PROFILE = Profile("p", "P", "here", 400, 800, ("read", "edit"), None)
PREAMBLE = preambles.calibrated(PROFILE, "m", 1.0, CALIBRATION)
SWARM = """\
swarm:
  alone: {behaviour: explore_repo, agents: 3}
  beside: {twin_of: alone}
  other: {behaviour: explore_repo, agents: 3}
"""


def test_the_plans_of_twins_are_the_same() -> None:
    scenario = with_plugins.parse(SWARM, "s.yaml")
    loads, terms = input.loads_of(scenario), input.terms_of(scenario)
    table = timetable(loads, replace(terms, outputs="drawn", answer_tokens=None), Bounds(sessions=2), Speed())
    alone, beside, other = (
        sorted(map(_sent, (turn.turn for turn in table.turns if turn.entry == name))) for name in scenario.swarm
    )
    assert len(alone) > 50
    assert alone == beside
    assert alone != other


def _sent(turn: PlannedTurn) -> tuple[Any, ...]:
    return turn.kind, turn.prompt_tokens, turn.said_tokens, turn.answer_tokens, sorted(turn.waits.values())


def test_a_seed_does_not_know_which_process_sends() -> None:
    assert session_seed.of(7, "alone", 2, 5) == session_seed.of(7, "alone", 2, 5)
    assert len({session_seed.of(*of) for of in [(7, "a", 1, 1), (8, "a", 1, 1), (7, "b", 1, 1), (7, "a", 2, 1)]}) == 4


def test_sessions_of_twins_that_start_on_a_clock_are_due_together() -> None:
    scenario = with_plugins.parse(f"{SWARM}arrival: 2/s\nduration: 60s\n", "s.yaml")
    due = Setting.of(scenario, 0.0, 60.0).due
    assert due["alone"] == due["beside"]
    assert due["alone"] != due["other"]
    assert Setting.of(scenario, 0.0, 60.0).twins == {"beside": "alone"}
    assert due["alone"] == arrival.due_until(*_clock(scenario), 60.0)


def _clock(scenario: Any) -> tuple[Any, str]:
    return scenario.arrival, arrival.seed_of(scenario.seed, "alone")


def dialogue(entry: str, worker: int = 0, **style: Any) -> Dialogue:
    name = f"{entry}/{worker}.2"
    agent = Agent(name, f"{name}#1", session_seed.of(1, "alone", 2, 1), 1200.0, profile=PROFILE)
    return Dialogue(agent, Style(PROFILE, PREAMBLE, 1.0, **style), Sizer(CALIBRATION))


def talked(made: Dialogue, turns: int = 12) -> list[dict[str, Any]]:
    """The requests of some turns that all end well."""
    found = []
    for _ in range(turns):
        made.take(made.agent.user("Next.", tokens=made.agent.rng.randrange(100, 900)))
        body = made.body(made.max_tokens(None))
        found.append(json.loads(body))
        made.hear(Answer(content=["So."], usage=Usage(len(body) // 4, 0, 5)), Outcome.OK, 0.1)
    return found


def typed(made: Dialogue, turns: int = 12) -> list[str]:
    """The prompts of a person who types."""
    found = []
    for _ in range(turns):
        made.take(made.agent.complete(800, 100))
        found.append(json.loads(made.body(64))["prompt"])
        made.hear(Answer(content=["x"]), Outcome.OK, 0.1)
    return found


def test_twins_type_as_much_from_one_completion_to_the_next() -> None:
    one, other = typed(dialogue("alone")), typed(dialogue("beside"))
    grown, repeated = ([len(b) - len(a) for a, b in pairwise(prompts)] for prompts in (one, other))
    assert grown == repeated
    assert len(set(grown)) > 3
    assert one[0] != other[0]


@pytest.mark.parametrize(
    ("style", "near", "remark"),
    [
        ({}, 12, "what agents say; texts are of whole lines, some characters longer or shorter than asked"),
        ({"outputs": "drawn"}, 12, "answers of drawn sizes"),
        ({"replies": "scripted"}, 24, "and answers that a script gives"),
        ({"prefix": PrefixBreak("moving_reminder", 0.5)}, 12, "breaks on purpose come in the same turns"),
    ],
)
def test_requests_of_twins_are_of_one_size(style: dict[str, Any], near: int, remark: str) -> None:
    alone, beside = talked(dialogue("alone", **style)), talked(dialogue("beside", worker=3, **style))
    for number, (one, other) in enumerate(zip(alone, beside, strict=True), 1):
        assert one.get("max_tokens") == other.get("max_tokens"), remark
        assert abs(len(json.dumps(one)) - len(json.dumps(other))) <= near * number, (remark, number)


def test_and_are_one_text_in_the_preamble_alone() -> None:
    (one, *_), (other, *_) = talked(dialogue("alone")), talked(dialogue("beside"))
    said, repeated = one["messages"][1]["content"], other["messages"][1]["content"]
    assert one["messages"][0] == other["messages"][0]
    assert len(list(takewhile(lambda pair: pair[0] == pair[1], zip(said, repeated, strict=False)))) < 16
