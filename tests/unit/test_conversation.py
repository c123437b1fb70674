"""A history as bytes: what was sent never changes, and what is sent is what servers and templates take."""

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from locust_agents.answers.deltas import Usage
from locust_agents.answers.stream import Answer, ToolCall
from locust_agents.outcome import Outcome
from locust_agents.plugins.api import Agent, Reply
from locust_agents.profile import Profile
from locust_agents.prompts import messages, preambles
from locust_agents.prompts.conversation import Preamble, body, closing, preamble
from locust_agents.prompts.dialogue import Dialogue, Style
from locust_agents.prompts.sizing import Calibration, Sizer

TOOL = {"type": "function", "function": {"name": "read", "description": "naïve", "parameters": {}}}
PROFILE = Profile("p", "P", "here", 300, 500, ("read", "edit"), 64, {"tool_choice": "auto"}, reasoning_replay="both")
OTHER = Profile("q", "Q", "here", 0, 0, (), None)
CALIBRATION = Calibration("copper lamp street")


def start(profile: Profile = PROFILE, scale: float = 1.0) -> Preamble:
    return preambles.calibrated(profile, "default_model", scale, CALIBRATION)


def dialogue(number: int, style: Style) -> Dialogue:
    agent = Agent(f"fixers/0.{number}", f"fixers/0.{number}#0", f"1 fixers/0.{number} 0")
    return Dialogue(agent, style, Sizer(CALIBRATION))


def to_the_end_of_messages(body: bytes) -> bytes:
    """A body without the end of its list of messages and the parameters behind it."""
    return body[: body.rindex(b"]")]


# -- one body


def test_model_comes_first_and_what_may_differ_last() -> None:
    made = body((start().head, messages.user("hi")), closing(64))
    names = list(json.loads(made))
    assert names == ["model", "stream", "stream_options", "tool_choice", "tools", "messages", "max_tokens"]
    assert made.startswith(b'{"model":"default_model","stream":true,"stream_options":{"include_usage":true},')


PREAMBLES: list[tuple[str, Preamble, list[str]]] = [
    ("tools and a system text", preamble("p", "m", "be brief", [TOOL], {}), ["system"]),
    ("no tools is no key", preamble("p", "m", "be brief", [], {}), ["system"]),
    ("no system text is no message", preamble("p", "m", None, [TOOL], {}), []),
    ("neither", preamble("p", "m", None, [], {}), []),
    ("an empty system text is a message", preamble("p", "m", "", [], {}), ["system"]),
    ("a text that looks like the end of a list", preamble("p", "m", "[", [], {"stop": ["]"]}), ["system"]),
]


@pytest.mark.parametrize(("shared", "roles"), [pytest.param(*row[1:], id=row[0]) for row in PREAMBLES])
@pytest.mark.parametrize("says", [(), ("one",), ("one", "two", "three")])
@pytest.mark.parametrize("max_tokens", [None, 1])
def test_any_body_is_json(shared: Preamble, roles: list[str], says: Sequence[str], max_tokens: int | None) -> None:
    values = json.loads(body((shared.head, *map(messages.user, says)), closing(max_tokens)))
    assert [message["role"] for message in values["messages"]] == [*roles, *("user" for _ in says)]
    assert [message["content"] for message in values["messages"]][len(roles) :] == list(says)
    assert values["stream"] is True
    assert values["stream_options"] == {"include_usage": True}
    assert values.get("max_tokens") == max_tokens
    assert not {"seed", "temperature", "top_p"} & values.keys()
    assert ("tools" in values) == (b"naive" in shared.head or "naïve".encode() in shared.head)


# -- many agents


def test_agents_of_a_profile_share_one_start_and_part_at_their_first_words() -> None:
    style = Style(PROFILE, start())
    one, two = dialogue(0, style), dialogue(1, style)
    assert one.preamble is two.preamble is style.preamble
    bodies = []
    for made in (one, two):
        made.say(made.agent.user("Fix it.", tokens=100).says)
        bodies.append(made.body(None))
    head = style.preamble.head
    assert all(body.startswith(head + b',{"role":"user","content":"') for body in bodies)
    first, second = (json.loads(body)["messages"][-1]["content"] for body in bodies)
    assert first.splitlines()[0] != second.splitlines()[0]


def test_processes_with_the_same_values_build_the_same_start() -> None:
    assert start().head == start().head
    assert start(scale=0.5).head != start().head
    assert start(OTHER).head != start().head


def test_another_nonce_shares_nothing_behind_the_parameters() -> None:
    other = preambles.calibrated(PROFILE, "default_model", 1.0, Calibration("velvet river stone"))
    here, there = (json.loads(made.head + b"]}") for made in (start(), other))
    assert here["messages"][0]["content"].split()[:5] != there["messages"][0]["content"].split()[:5]
    describe = [values["tools"][0]["function"]["description"].split()[:3] for values in (here, there)]
    assert describe[0] != describe[1]


# -- a long life


def answer(rng: random.Random, number: int) -> tuple[Answer, Outcome]:
    """What a server may have said, in all the ways that a turn can end."""
    outcome = rng.choice([Outcome.OK] * 6 + [Outcome.ABANDONED, Outcome.STALLED, Outcome.REFUSED, Outcome.TRUNCATED])
    made = Answer(usage=Usage(1000 + number, 900, 20) if outcome is Outcome.OK else None)
    if outcome is Outcome.REFUSED:
        return made, outcome
    made.content = rng.choice([[], ["so ", 'a "quote"\n'], ["naïve \ud83d", "\udd25"]])
    made.reasoning = rng.choice([[], ["hm"]])
    for place in range(rng.randrange(3) if made.content else rng.randrange(1, 4)):
        arguments = rng.choice(['{"filePath": "a.py"}', "", '{"cut', "[]"])
        made.tool_calls[place] = ToolCall(f"call-{number}-{place}", rng.choice(["read", ""]), arguments)
    return made, outcome


def life(seed: int, style: Style) -> Iterator[tuple[bytes, bool]]:
    """The bodies of twenty turns of any kind, each with whether the history was shortened before it."""
    rng = random.Random(seed)
    made = dialogue(seed, style)
    agent, shortened = made.agent, False
    reply = older = Reply("", (), Outcome.OK)
    for number in range(20):
        source = rng.choice([reply, reply, reply, older])  # a behaviour may answer what was answered before
        turns = [agent.user("Next.", tokens=rng.randrange(200)), agent.tool_results(source, rng.randrange(300))]
        made.say(rng.choice(turns).says)
        yield made.body(made.max_tokens(None)), shortened
        heard, outcome = answer(rng, number)
        older, reply = reply, made.hear(heard, outcome, 0.1)
        shortened = rng.random() < 0.15
        if shortened:
            made.say(agent.user("Summarise.").says)
            yield made.body(None), False
            summary = made.hear(*answer(rng, 100 + number), 0.1)
            made.compacted(rng.choice([0, 300, 3000]), made.summary(summary.text, 50))


STYLES: list[tuple[str, Style]] = [
    ("live", Style(PROFILE, start())),
    ("scripted", Style(PROFILE, start(), replies="scripted")),
    ("drawn", Style(PROFILE, start(), scale=0.05, outputs="drawn")),
    ("no tools, no system", Style(OTHER, start(OTHER), replies="scripted")),
]


@pytest.mark.parametrize("style", [pytest.param(row[1], id=row[0]) for row in STYLES])
@pytest.mark.parametrize("seed", range(12))
def test_a_life_only_grows_and_no_template_meets_an_orphan(style: Style, seed: int) -> None:
    sent = b""
    for made, shortened in life(seed, style):
        assert made.startswith(style.preamble.head)
        if not shortened:
            assert made.startswith(sent), "a byte that was sent has changed"
        sent = to_the_end_of_messages(made)
        values = json.loads(made)
        assert "seed" not in values
        check_order(values["messages"])


def check_order(said: list[dict[str, Any]]) -> None:
    """Each call has one result, right behind it and in order, and each result its call."""
    waiting: list[str] = []
    for message in said:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            continue
        assert waiting == [], f"{waiting} not answered before {message['role']}"
        calls = message.get("tool_calls", [])
        waiting = [call["id"] for call in calls]
        assert "tool_calls" not in message or calls
        assert message["content"] is not None or calls
        for call in calls:
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            assert call["function"]["name"]
    assert waiting == []
