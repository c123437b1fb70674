"""The requests of one history: what stands where, what of it changes, and what never does."""

import itertools
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from locust_agents.answers.deltas import Usage
from locust_agents.answers.stream import Answer, ToolCall
from locust_agents.errors import PluginError
from locust_agents.outcome import Outcome
from locust_agents.plugins.api import Agent, Document, Reply, Turn
from locust_agents.profile import Profile, Role, Volatile
from locust_agents.prompts import preambles
from locust_agents.prompts.conversation import Preamble
from locust_agents.prompts.dialogue import Dialogue, Style
from locust_agents.prompts.prefix_break import KINDS, Kind, PrefixBreak
from locust_agents.prompts.sizing import Calibration, Sizer

CALIBRATION = Calibration("123 456 789", tokens_per_char=0.25, message_tokens=4.0)
HASH = Volatile("system_head", 0.0, "billing header", "request")
PROFILE = Profile("p", "P", "here", 400, 800, ("read", "edit"), 64)
AIDER = replace(PROFILE, tools=(), tool_tokens=0, few_shot_tokens=200, reminder_tokens=100)
APP = Document("src/app.py", 300)


def style(profile: Profile = PROFILE, **fields: Any) -> Style:
    return Style(profile, preambles.calibrated(profile, "m", 1.0, CALIBRATION), **fields)


def dialogue(made: Style, number: int = 0) -> Dialogue:
    name = f"fixers/0.{number}"
    return Dialogue(Agent(name, f"{name}#0", f"1 {name} 0"), made, Sizer(CALIBRATION))


def turn(made: Dialogue, step: Turn | None = None, answer: str = "So.", calls: Sequence[ToolCall] = ()) -> Reply:
    """A whole turn that ends well, with a count of a quarter of the body's bytes."""
    made.take(step or made.agent.user("Next.", tokens=100))
    body = made.body(made.max_tokens(None))
    usage = Usage(len(body) // 4, 0, 5)
    return made.hear(Answer(content=[answer], tool_calls=dict(enumerate(calls)), usage=usage), Outcome.OK, 0.1)


def said(made: Dialogue) -> list[dict[str, Any]]:
    assert made.request is not None
    found: list[dict[str, Any]] = json.loads(made.request.body())["messages"]
    return found


def changed(made: Dialogue) -> list[int]:
    """The parts that the last request has otherwise than the one before; those that are the same are one object."""
    assert made.request is not None
    assert made.request_before is not None
    pairs = list(zip(made.request_before.parts, made.request.parts, strict=False))
    assert all(a is b for a, b in pairs if a == b)
    return [place for place, (a, b) in enumerate(pairs) if a is not b]


# -- the order of things


def test_files_stand_between_examples_and_history_and_the_reminder_last() -> None:
    made = dialogue(style(AIDER))
    turn(made, made.agent.user("First.", tokens=100).showing(APP))
    turn(made, made.agent.user("Second.", tokens=100))
    roles = [message["role"][0] for message in said(made)]
    assert "".join(roles) == "s" + "uaua" + "ua" + "ua" + "u"
    assert said(made)[5]["content"].startswith("src/app.py\n")
    assert len(made.sent) == 1 + 2 + 3  # the examples are part of the head


def test_a_reminder_is_at_the_last_user_message_alone_and_is_always_the_same() -> None:
    made = dialogue(style(AIDER))
    texts = []
    for _ in range(3):
        turn(made, made.agent.user("Next.", tokens=100))
        texts.append(said(made)[-1]["content"])
        assert made.request is not None
    (reminder,) = {text.partition("Next.")[2] for text in texts}
    assert len(reminder) == pytest.approx(400, abs=8)
    assert sum(reminder in str(message["content"]) for message in said(made)) == 1
    assert changed(made) == [3]  # the user's message before


def test_a_reminder_stays_where_it_is_through_a_tool_loop() -> None:
    made = dialogue(style(replace(PROFILE, reminder_tokens=100)))
    reply = turn(made, calls=[ToolCall("c", "read", '{"filePath": "a"}')])
    turn(made, made.agent.tool_results(reply, 50))
    assert changed(made) == []


def test_an_environment_opens_the_first_user_message_and_each_of_them_has_its_own_end() -> None:
    made = dialogue(style(replace(PROFILE, first_user_tokens=300, each_user_tokens=50)))
    for text in ("One.", "Two."):
        turn(made, made.agent.user(text, tokens=100))
    sizes = [len(message["content"]) for message in said(made) if message["role"] == "user"]
    assert sizes == pytest.approx([(300 + 92 + 50) * 4, (92 + 50) * 4], abs=16)
    assert changed(made) == []
    assert said(made)[1]["content"].partition("One.")[2].strip()


# -- the same again, and from the start


def test_again_sends_the_same_bytes_and_drops_what_was_heard() -> None:
    made = dialogue(style(replace(PROFILE, volatile=(HASH,))))
    turn(made)
    made.take(made.agent.user("Go on.", tokens=100))
    before = made.body(64)
    made.hear(Answer(content=["Half an"]), Outcome.ABANDONED, 0.1)
    made.take(made.agent.again())
    assert made.body(99) == before
    assert made.request is not None
    assert made.request.changes == ()
    made.hear(Answer(content=["Whole."], usage=Usage(700, 0, 5)), Outcome.OK, 0.1)
    turn(made)
    assert [message["content"] for message in said(made) if message["role"] == "assistant"] == ["So.", "Whole."]


def test_after_again_only_the_prompt_is_expected() -> None:
    made = dialogue(style())
    turn(made, answer="")
    assert made.continued_tokens is not None
    prompt = made.continued_tokens - 5
    made.take(made.agent.again())
    assert made.continued_tokens == prompt


def test_calls_of_an_answer_that_was_dropped_are_not_answered() -> None:
    made = dialogue(style())
    turn(made, calls=[ToolCall("c", "read", "{}")])
    turn(made, made.agent.again())
    turn(made)
    assert [message["role"] for message in said(made)] == ["system", "user", "assistant", "user"]


def test_again_needs_a_turn_before() -> None:
    made = dialogue(style())
    with pytest.raises(PluginError, match="yield a turn first"):
        made.take(made.agent.again())


def test_a_fresh_history_has_another_first_line_and_other_files_and_is_else_the_same() -> None:
    made = dialogue(style())
    turn(made, made.agent.user("First.", tokens=100).showing(APP))
    turn(made)
    lines = made.sent[3].split(b"\\n")
    turn(made, made.agent.user("Long ago.", tokens=100).fresh())
    assert changed(made) == [1, 3]
    assert made.sent[3].split(b"\\n")[0] != lines[0]
    assert made.sent[3].split(b"\\n")[1:] == lines[1:]
    assert len(made.sent[3].split(b"\\n")[0]) == len(lines[0])
    assert made.request is not None
    assert made.request.changes


def test_nothing_is_expected_of_a_fresh_history() -> None:
    made = dialogue(style())
    turn(made)
    made.take(made.agent.user("Long ago.").fresh())
    assert made.continued_tokens is None


def test_a_fresh_start_of_a_history_that_has_none_is_a_turn() -> None:
    made = dialogue(style())
    turn(made, made.agent.user("First.").fresh())
    assert [message["role"] for message in said(made)] == ["system", "user"]


# -- breaks


# the kind, which part changes in the second turn (0: the head, 1: the first message), with a file before the history
BREAKS: list[tuple[Kind, list[int]]] = [
    ("head_hash", [0]),
    ("date_tail", [0]),
    ("tools_change", [0]),
    ("moving_reminder", [3]),
    ("file_refresh", [1]),
    ("none", []),
]


@pytest.mark.parametrize(("kind", "parts"), BREAKS)
def test_a_break_changes_what_it_says(kind: Kind, parts: list[int]) -> None:
    made = dialogue(style(prefix=PrefixBreak(kind)))
    turn(made, made.agent.user("First.", tokens=100).showing(APP))
    turn(made)
    assert changed(made) == parts
    assert made.request is not None
    assert bool(made.request.changes) == (kind not in ("none", "moving_reminder"))


def test_a_break_is_drawn_with_its_probability_and_changes_no_text() -> None:
    made = [dialogue(style(prefix=prefix)) for prefix in (None, PrefixBreak("date_tail", 0.3))]
    heads = []
    for _ in range(200):
        for one in made:
            turn(one, one.agent.user("Next.", tokens=20))
        heads.append(made[1].sent[0])
        assert made[0].sent[1:] == made[1].sent[1:]
    changes = sum(a is not b for a, b in itertools.pairwise(heads))
    assert changes == pytest.approx(60, abs=20)


def test_a_reminder_that_was_drawn_is_gone_in_the_next_request() -> None:
    made = dialogue(style(prefix=PrefixBreak("moving_reminder", 0.5)))
    seen = set()
    for _ in range(30):
        turn(made, made.agent.user("Next.", tokens=20))
        ends = [len(message["content"]) > 2000 for message in said(made) if message["role"] == "user"]
        assert not any(ends[:-1])
        seen.add(ends[-1])
    assert seen == {True, False}


def test_none_switches_off_what_the_product_changes_in_each_request() -> None:
    profile = replace(PROFILE, volatile=(HASH,))
    for prefix, parts in ((None, [0]), (PrefixBreak("none"), [])):
        made = dialogue(style(profile, prefix=prefix))
        turn(made)
        turn(made)
        assert changed(made) == parts


@pytest.mark.parametrize("kind", KINDS)
def test_breaks_draw_nothing_from_the_plan(kind: Kind) -> None:
    made = dialogue(style(prefix=PrefixBreak(kind)))
    before = made.agent.rng.getstate()
    for _ in range(3):
        turn(made)
    assert made.agent.rng.getstate() == before


# -- roles


def test_a_role_has_its_own_preamble_limit_and_tools() -> None:
    profile = replace(PROFILE, roles={"sub": Role(200, 400, ("grep",), 32)})

    def preamble(role: str) -> Preamble:
        return preambles.calibrated(profile.in_role(role), "m", 1.0, CALIBRATION)

    parent = Agent("a/0.0", "a/0.0#0", "1 a", profile=profile)
    child = Dialogue(parent.child("sub"), style(profile, role_preambles=preamble), Sizer(CALIBRATION))
    turn(child)
    assert child.preamble.name == "p.sub"
    values = json.loads(child.request.body() if child.request else b"")
    assert [tool["function"]["name"] for tool in values["tools"]] == ["grep"]
    assert values["max_tokens"] == 32
    assert len(child.preamble.head) < len(style().preamble.head) * 0.7


def test_without_a_role_a_child_has_the_parents() -> None:
    made = style()
    assert Dialogue(dialogue(made).agent.child(), made, Sizer(CALIBRATION)).preamble is made.preamble


# -- the end of a body


ENDS: list[tuple[str, Style, dict[str, Any]]] = [
    ("a limit", style(), {"max_tokens": 64}),
    (
        "its newer name",
        style(replace(PROFILE, max_tokens_field="max_completion_tokens")),
        {"max_completion_tokens": 64},
    ),
    ("none", style(replace(PROFILE, max_tokens=None)), {}),
    ("thinking", style(thinking=True), {"max_tokens": 64, "chat_template_kwargs": {"enable_thinking": True}}),
    (
        "no thinking, no limit",
        style(replace(PROFILE, max_tokens=None), thinking=False),
        {"chat_template_kwargs": {"enable_thinking": False}},
    ),
]


@pytest.mark.parametrize(("made", "end"), [pytest.param(*row[1:], id=row[0]) for row in ENDS])
def test_what_stands_behind_the_messages(made: Style, end: dict[str, Any]) -> None:
    one = dialogue(made)
    turn(one)
    names = list(json.loads(one.request.body() if one.request else b""))
    values = json.loads(one.request.body() if one.request else b"")
    assert {name: values[name] for name in names[names.index("messages") + 1 :]} == end


# -- calls that a client cannot run


CALLS: list[tuple[str, ToolCall, str]] = [
    ("no JSON", ToolCall("c", "read", '{"cut'), "not a JSON object"),
    ("no such tool", ToolCall("c", "fly", "{}"), "no tool named fly"),
]


@pytest.mark.parametrize(("call", "words"), [pytest.param(*row[1:], id=row[0]) for row in CALLS])
def test_a_call_that_cannot_be_run_gets_a_short_answer(call: ToolCall, words: str) -> None:
    made = dialogue(style())
    reply = turn(made, calls=[call])
    turn(made, made.agent.tool_results(reply, 900))
    assert words in said(made)[-1]["content"]
    assert len(said(made)[-1]["content"]) < 100


KEPT: list[tuple[str, Answer, int]] = [
    ("word for word", Answer(content=["So."], usage=Usage(600, 0, 20)), 620),
    ("a call that is mended", Answer(tool_calls={0: ToolCall("c", "read", '{"cut')}, usage=Usage(600, 0, 20)), 600),
    ("reasoning that is dropped", Answer(content=["So."], reasoning=["hm"], usage=Usage(600, 0, 20)), 600),
]


@pytest.mark.parametrize(("answer", "expected"), [pytest.param(*row[1:], id=row[0]) for row in KEPT])
def test_only_what_goes_back_word_for_word_is_expected(answer: Answer, expected: int) -> None:
    made = dialogue(style())
    made.say(made.agent.user("Next.").says)
    made.body(None)
    made.hear(answer, Outcome.OK, 0.1)
    assert made.continued_tokens == expected


# -- estimates


def tokens(made: Dialogue) -> int:
    """What a server of four characters a token would count for the last request."""
    assert made.request is not None
    text = sum(len(message["content"] or "") for message in said(made)[1:])
    return 1200 + round(text / 4 + 4 * (len(made.sent) - 1) + 4)


def test_an_estimate_is_near_what_the_server_counts() -> None:
    profile = replace(PROFILE, reminder_tokens=100)
    made = dialogue(replace(style(profile), preamble=replace(style(profile).preamble, tokens=1200)))
    steps = [made.agent.user("Next.", tokens=size) for size in (100, 4000, 900, 50)]
    for number, step in enumerate([*steps, made.agent.user("More.", tokens=300).showing(APP)] * 2):
        made.take(step)
        estimate = made.estimate_tokens()
        made.body(None)
        assert estimate == pytest.approx(tokens(made), rel=0.03), number
        usage = Usage(tokens(made), 0, 30) if number % 2 else None
        made.hear(Answer(content=["x" * 120], usage=usage), Outcome.OK, 0.1)


@pytest.mark.parametrize(
    ("profile", "documents"), [(replace(PROFILE, reminder_tokens=900), ()), (PROFILE, (APP,))], ids=["reminder", "file"]
)
def test_what_is_no_message_of_the_turn_teaches_no_sizes(profile: Profile, documents: tuple[Document, ...]) -> None:
    known = style(profile)
    sizer = Sizer(CALIBRATION)
    made = Dialogue(dialogue(known).agent, replace(known, preamble=replace(known.preamble, tokens=1200)), sizer)
    for _ in range(2):
        made.take(made.agent.user("x" * 8000).showing(*documents))
        made.body(None)
        made.hear(Answer(content=["So."], usage=Usage(9000, 0, 5)), Outcome.OK, 0.1)
    assert sizer.tokens_per_char == 0.25
