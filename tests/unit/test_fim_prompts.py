"""Completions: the prompt of a file being typed, its size, what it shares with the one before, and its body."""

import itertools
import json
from dataclasses import replace

import pytest

from locust_agents.answers.deltas import Usage
from locust_agents.answers.stream import Answer
from locust_agents.outcome import Outcome
from locust_agents.plugins.api import Agent, Hole
from locust_agents.profile import Profile
from locust_agents.prompts.dialogue import Dialogue, Style
from locust_agents.prompts.fim import TypedFile, Typing
from locust_agents.prompts.preambles import calibrated
from locust_agents.prompts.sizing import Calibration, Sizer

CALIBRATION = Calibration("123 456 789", tokens_per_char=0.25)
PROFILE = Profile("autocomplete", "A", "here", 0, 0, (), None, {"temperature": 0.01}, api="completions")


def parts(prompt: str) -> tuple[str, str]:
    assert prompt.startswith("<|fim_prefix|>")
    assert prompt.endswith("<|fim_middle|>")
    before, _, after = prompt.removeprefix("<|fim_prefix|>").removesuffix("<|fim_middle|>").partition("<|fim_suffix|>")
    return before, after


def test_a_prefix_grows_by_what_is_typed_and_the_rest_stays() -> None:
    file = TypedFile("1 2 3", "a")
    prompts = [parts(file.prompt(1200, 800)) for _ in range(20)]
    for (before, after), (longer, same) in itertools.pairwise(prompts):
        assert longer.startswith(before)
        assert 1 <= len(longer) - len(before) <= 12
        assert same == after
    assert prompts[0][0].startswith("# run 1 2 3\n")
    assert (len(prompts[0][0]), len(prompts[0][1])) == pytest.approx((1200, 800), abs=6)


def test_a_window_that_has_grown_too_far_opens_elsewhere_at_its_size() -> None:
    file = TypedFile("", "a")
    lengths = [len(parts(file.prompt(400, 100))[0]) for _ in range(200)]
    assert max(lengths) <= 501
    assert min(lengths) >= 394
    assert sum(b < a for a, b in itertools.pairwise(lengths)) > 3


def test_another_size_is_another_place() -> None:
    file = TypedFile("", "a")
    before, _ = parts(file.prompt(400, 100))
    longer, _ = parts(file.prompt(900, 100))
    assert len(longer) == pytest.approx(900, abs=6)
    assert not longer.startswith(before)


def test_sessions_type_other_files() -> None:
    assert TypedFile("", "a").prompt(400, 0) != TypedFile("", "b").prompt(400, 0)
    assert TypedFile("", "a").prompt(400, 0) == TypedFile("", "a").prompt(400, 0)


def test_what_a_cache_should_hold_is_what_was_typed_before() -> None:
    typing = Typing("", "a", 1.0, Sizer(CALIBRATION))
    typing.move(Hole(300, 200))
    assert typing.continued_tokens is None
    typing.heard(Usage(510, 0, 5))
    typing.move(Hole(300, 200))
    assert typing.continued_tokens == pytest.approx(300, rel=0.06)
    typing.heard(None)  # cancelled at the next key
    typing.move(Hole(300, 200))
    assert typing.continued_tokens == pytest.approx(300, rel=0.06)
    typing.move(Hole(900, 200))
    assert typing.continued_tokens == 0


def dialogue(profile: Profile = PROFILE, scale: float = 1.0) -> Dialogue:
    agent = Agent("typist/0.0", "typist/0.0#0", "1 typist/0.0 0")
    return Dialogue(agent, Style(profile, calibrated(profile, "m", 1.0, CALIBRATION), scale), Sizer(CALIBRATION))


def test_a_completion_is_its_own_request_and_leaves_no_history() -> None:
    made = dialogue()
    made.take(made.agent.complete(300, 200))
    values = json.loads(made.body(32))
    assert made.path == "/v1/completions"
    assert list(values) == ["model", "prompt", "stream", "stream_options", "temperature", "max_tokens"]
    assert (values["model"], values["max_tokens"]) == ("m", 32)
    assert len(values["prompt"]) == pytest.approx(2000 + 42, abs=12)
    assert made.estimate_tokens() == pytest.approx(510, rel=0.05)
    reply = made.hear(Answer(content=["x = 1"], usage=Usage(505, 0, 4)), Outcome.OK, 0.1)
    assert (reply.text, reply.tool_calls, reply.tokens, reply.prompt_tokens) == ("x = 1", (), 4, 505)
    made.say(made.agent.user("Hello.").says)
    assert [message["role"] for message in json.loads(made.body(None))["messages"]] == ["user"]
    assert made.path == "/v1/chat/completions"


def test_no_limit_no_usage_no_stream_and_no_tools() -> None:
    made = dialogue(replace(PROFILE, include_usage=False, tools=("read",), tool_tokens=300), scale=0.5)
    made.take(made.agent.complete(300, 200))
    values = json.loads(made.body(None))
    assert list(values) == ["model", "prompt", "stream", "temperature"]
    assert len(values["prompt"]) == pytest.approx(1000 + 42, abs=12)


def test_again_is_the_same_prompt() -> None:
    made = dialogue()
    made.take(made.agent.complete(300, 200))
    before = made.body(32)
    made.hear(Answer(), Outcome.ABANDONED, None)
    made.take(made.agent.again())
    assert made.body(99) == before
    assert made.path == "/v1/completions"
