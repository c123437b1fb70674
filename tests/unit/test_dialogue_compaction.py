"""Compaction: how a product asks for a summary, and what is left of the history when it has come or has not."""

import json
from dataclasses import replace
from typing import Any, Literal

import pytest

from locust_agents.answers.deltas import Usage
from locust_agents.answers.stream import Answer, ToolCall
from locust_agents.outcome import Outcome
from locust_agents.plugins.api import Agent
from locust_agents.profile import Compaction, Profile
from locust_agents.prompts import preambles
from locust_agents.prompts.dialogue import Dialogue, Style
from locust_agents.prompts.sizing import Calibration, Sizer

CALIBRATION = Calibration("123 456 789", tokens_per_char=0.25, message_tokens=4.0)
PROFILE = Profile("p", "P", "here", 400, 800, ("read", "edit"), 64, {"tool_choice": "auto", "temperature": 0})
Call = Literal["same", "without_tools", "flattened"]


def rule(call: Call, instruction_tokens: int = 0) -> Compaction:
    return Compaction(3000, 0, 200, call, system_tokens=100, instruction_tokens=instruction_tokens)


def dialogue(profile: Profile = PROFILE) -> Dialogue:
    style = Style(profile, preambles.calibrated(profile, "m", 1.0, CALIBRATION))
    made = Dialogue(Agent("a/0.0", "a/0.0#0", "1 a"), style, Sizer(CALIBRATION))
    for number in range(4):
        made.say(made.agent.user(f"Question {number}.", tokens=100).says)
        made.body(64)
        calls = {0: ToolCall(f"c{number}", "read", '{"filePath": "a"}')} if number % 2 else {}
        made.hear(Answer(content=["So."], tool_calls=calls, usage=Usage(1300 + number, 0, 5)), Outcome.OK, 0.1)
    return made


def ask(made: Dialogue, call: Call | None, instruction_tokens: int = 0) -> dict[str, Any]:
    """The call for a summary; the last answer's tool call is still open."""
    compaction = None if call is None else rule(call, instruction_tokens)
    found: dict[str, Any] = json.loads(made.compaction_request(compaction, "Summarise.", 200))
    return found


def hear(made: Dialogue, text: str = "A long story.", outcome: Outcome = Outcome.OK) -> None:
    made.hear(Answer(content=[text], usage=Usage(1400, 0, 9)), outcome, 0.1)


@pytest.mark.parametrize("call", [None, "same"])
def test_the_same_prompt_and_a_request(call: Call | None) -> None:
    made = dialogue()
    before = made.sent
    values = ask(made, call)
    assert made.sent[: len(before)] == before
    assert [message["role"] for message in values["messages"]][-3:] == ["assistant", "tool", "user"]
    assert values["messages"][-1]["content"] == "Summarise."
    assert values["max_tokens"] == 200
    assert "tools" in values


def test_the_same_messages_without_tools() -> None:
    made = dialogue()
    before = made.sent
    values = ask(made, "without_tools")
    assert not {"tools", "tool_choice"} & values.keys()
    assert values["temperature"] == 0
    assert made.sent[1 : len(before)] == before[1:]
    assert made.preamble.name == "p without tools"


def test_one_message_of_another_system_prompt() -> None:
    made = dialogue()
    values = ask(made, "flattened")
    assert not {"tools", "tool_choice"} & values.keys()
    system, history = values["messages"]
    assert system["content"].startswith("# summary 123 456 789\n")
    assert len(system["content"]) == pytest.approx(400, abs=6)
    text = history["content"]
    assert [text.count(f"Question {number}.") for number in range(4)] == [1] * 4
    assert "assistant: So.\nread({" in text
    assert text.endswith("\n\nSummarise.")
    assert text.index("Question 3.") < text.rindex("tool: The call was not run.")


@pytest.mark.parametrize("call", ["same", "without_tools", "flattened"])
def test_what_asks_for_it_has_the_products_size(call: Call) -> None:
    made = dialogue()
    text = ask(made, call, instruction_tokens=300)["messages"][-1]["content"]
    shorter = ask(dialogue(), call)["messages"][-1]["content"]
    assert text.endswith("Summarise.")
    assert len(text) - len(shorter) == pytest.approx(292 * 4 - len("Summarise."), abs=8)


@pytest.mark.parametrize("call", [None, "same", "without_tools", "flattened"])
def test_a_summary_replaces_the_history(call: Call | None) -> None:
    made = dialogue()
    ask(made, call)
    hear(made)
    made.compacted(0, made.summary("A long story.", 50))
    assert made.continued_tokens is None
    made.say(made.agent.user("Go on.", tokens=100).says)
    values = json.loads(made.body(64))
    assert [message["role"] for message in values["messages"]] == ["system", "user", "user"]
    assert values["messages"][1]["content"] == "A long story."
    assert "tools" in values
    assert made.preamble.name == "p"
    assert made.request is not None
    assert made.request.changes == ("compacted",)
    assert made.request_before is None


@pytest.mark.parametrize("call", [None, "same", "without_tools", "flattened"])
def test_without_a_summary_all_is_as_it_was(call: Call | None) -> None:
    made = dialogue()
    before, expected, estimate = made.sent, made.continued_tokens, made.estimate_tokens()
    ask(made, call)
    hear(made, "A lo", Outcome.STALLED)
    made.unasked()
    assert made.continued_tokens == expected
    assert 0 <= made.estimate_tokens() - estimate < 40  # the open call was answered
    made.say(made.agent.user("Go on.", tokens=100).says)
    made.body(64)
    assert made.sent[: len(before)] == before
    assert made.preamble.name == "p"


def test_the_environment_is_told_again_with_the_summary() -> None:
    made = dialogue(replace(PROFILE, first_user_tokens=300))
    ask(made, "same")
    hear(made)
    made.compacted(0, "A long story.")
    made.say(made.agent.user("Go on.").says)
    first = json.loads(made.body(None))["messages"][1]["content"]
    assert first.endswith("A long story.")
    assert len(first) == pytest.approx(1200, abs=30)


def test_after_compaction_the_history_is_estimated_anew() -> None:
    made = dialogue()
    ask(made, "same")
    made.hear(Answer(content=["A long story."], usage=Usage(9000, 0, 9)), Outcome.OK, 0.1)
    assert made.estimate_tokens() == pytest.approx(9000, rel=0.01)
    made.compacted(0, "A long story.")
    assert made.estimate_tokens() == pytest.approx(1220, rel=0.05)
