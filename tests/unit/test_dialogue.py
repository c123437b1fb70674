"""What one history holds after each way a turn can end, and what the cache should then hold of it."""

import json
from dataclasses import replace
from typing import Any

import pytest

from locust_agents import draws
from locust_agents.answers.deltas import Usage
from locust_agents.answers.stream import Answer, ToolCall
from locust_agents.outcome import Outcome
from locust_agents.plugins.api import Agent, Reply
from locust_agents.profile import Profile
from locust_agents.prompts.conversation import Preamble, preamble
from locust_agents.prompts.dialogue import Dialogue, Style
from locust_agents.prompts.sizing import Calibration, Sizer

PROFILE = Profile("p", "P", "here", 10, 20, ("read", "edit"), 64, tool_result_cap_tokens=1000)
START: Preamble = preamble("p", "m", "be brief", [], {}, tokens=30)
STYLE = Style(PROFILE, START)
SCRIPTED = replace(STYLE, replies="scripted")
READ, EDIT = ToolCall("call-1", "read", '{"a": 1}'), ToolCall("call-2", "edit", "{}")


def dialogue(style: Style = STYLE, sizer: Sizer | None = None) -> Dialogue:
    agent = Agent("fixers/0.0", "fixers/0.0#0", "1 fixers/0.0 0")
    return Dialogue(agent, style, sizer or Sizer(Calibration("", tokens_per_char=0.25, message_tokens=4.0)))


def turn(made: Dialogue, answer: Answer, outcome: Outcome = Outcome.OK, text: str = "Fix it.") -> Reply:
    made.say(made.agent.user(text).says)
    return made.hear(answer, outcome, 0.5)


def heard(
    text: str = "so", calls: tuple[ToolCall, ...] = (), prompt: int | None = 100, completion: int | None = 7
) -> Answer:
    usage = None if prompt is None else Usage(prompt, 0, completion)
    content = [text] if text else []
    return Answer(first_token_s=0.5, content=content, tool_calls=dict(enumerate(calls)), usage=usage)


def said(made: Dialogue) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(made.body(None))["messages"][1:]
    return found


def roles(made: Dialogue) -> list[str]:
    return [message["role"] for message in said(made)]


# -- what a turn leaves behind


def test_an_answer_is_kept_word_for_word_and_told_to_the_behaviour() -> None:
    made = dialogue()
    reply = turn(made, heard("so", (READ,)))
    assert reply == Reply("so", (READ,), Outcome.OK, 7, 0.5, 100)
    assert said(made)[1]["content"] == "so"
    assert [call["id"] for call in said(made)[1]["tool_calls"]] == ["call-1"]
    assert made.turns == 1


# outcome, what came of the answer, whether a text was heard
ENDINGS: list[tuple[str, Outcome, Answer, list[str]]] = [
    ("a whole answer", Outcome.OK, heard("so"), ["user", "assistant"]),
    (
        "half an answer is kept: the behaviour saw it",
        Outcome.ABANDONED,
        heard("so", prompt=None),
        ["user", "assistant"],
    ),
    ("no word of it", Outcome.REFUSED, Answer(), ["user"]),
    ("only reasoning", Outcome.NO_ANSWER, Answer(reasoning=["hm"], usage=Usage(100, 0, 1)), ["user"]),
]


@pytest.mark.parametrize(("outcome", "answer", "left"), [pytest.param(*row[1:], id=row[0]) for row in ENDINGS])
def test_what_a_turn_leaves_in_the_history(outcome: Outcome, answer: Answer, left: list[str]) -> None:
    made = dialogue()
    turn(made, answer, outcome)
    assert roles(made) == left


def test_a_call_of_an_answer_that_did_not_end_is_no_call() -> None:
    made = dialogue()
    reply = turn(made, heard("so", (READ,)), Outcome.TRUNCATED)
    assert reply.tool_calls == ()
    assert "tool_calls" not in said(made)[1]


# -- tool results


def test_each_call_is_answered_by_its_id() -> None:
    made = dialogue()
    reply = turn(made, heard("", (READ, EDIT)))
    made.say(made.agent.tool_results(reply, 40).says)
    assert [message.get("tool_call_id") for message in said(made)] == [None, None, "call-1", "call-2"]


def test_calls_that_nobody_answers_get_a_short_result_before_the_user_speaks() -> None:
    made = dialogue()
    turn(made, heard("", (READ, EDIT)))
    made.say(made.agent.user("Stop.").says)
    assert roles(made)[2:] == ["tool", "tool", "user"]
    assert all(0 < len(message["content"]) < 40 for message in said(made)[2:4])


def test_a_call_left_out_is_answered_in_its_place() -> None:
    made = dialogue()
    turn(made, heard("", (READ, EDIT)))
    made.say(made.agent.tool_results(Reply("", (EDIT,), Outcome.OK), 40).says)
    assert [message.get("tool_call_id") for message in said(made)[2:]] == ["call-1", "call-2"]


def test_a_result_that_answers_no_open_call_is_said_as_the_user() -> None:
    made = dialogue()
    reply = turn(made, heard("", (READ,)))
    for _ in range(2):  # the second time, nothing is open
        made.say(made.agent.tool_results(reply, 40).says)
        made.hear(heard("so"), Outcome.OK, 0.5)
    assert roles(made) == ["user", "assistant", "tool", "assistant", "user", "assistant"]


def test_without_a_call_the_same_text_is_said_as_the_user() -> None:
    made = dialogue()
    reply = turn(made, heard("so", prompt=None))
    made.say(made.agent.tool_results(reply, 400).says)
    assert roles(made)[2:] == ["user"]
    assert len(said(made)[2]["content"]) * 0.25 + 4 == pytest.approx(400, abs=12)


# -- sizes, in tokens of 4 characters, a message's template being 4


# tokens asked for, scale, calls, tokens of each message that should come
SIZES: list[tuple[str, float, float, int, float]] = [
    ("as asked", 400, 1.0, 0, 400),
    ("scaled", 4000, 0.05, 0, 200),
    ("a result", 400, 1.0, 1, 400),
    ("two results share", 400, 1.0, 2, 200),
    ("the product cuts a long result", 50_000, 1.0, 1, 1000),
    ("it cuts before scaling", 50_000, 0.5, 1, 500),
    ("nobody cuts a human", 5000, 1.0, 0, 5000),
]


@pytest.mark.parametrize(("tokens", "scale", "calls", "each"), [pytest.param(*row[1:], id=row[0]) for row in SIZES])
def test_sizes(tokens: float, scale: float, calls: int, each: float) -> None:
    made = dialogue(replace(STYLE, scale=scale))
    reply = turn(made, heard("so", (READ, EDIT)[:calls], prompt=None))
    made.say(made.agent.tool_results(reply, tokens).says)
    for message in said(made)[2:]:
        assert len(message["content"]) / 4 + 4 == pytest.approx(each, abs=12, rel=0.02)


def test_sessions_part_at_their_first_words_and_repeat_themselves_in_another_run() -> None:
    agents = [Agent("a/0.0", session, f"1 {session}") for session in ("a/0.0#0", "a/0.0#1", "a/0.0#0")]
    texts = []
    for agent in agents:
        made = Dialogue(agent, STYLE, Sizer(Calibration("")))
        made.say(agent.user("Fix it.", tokens=200).says)
        texts.append(said(made)[0]["content"])
    assert texts[0] == texts[2]
    assert texts[0].splitlines()[0] != texts[1].splitlines()[0]


# -- limits of the answer


def test_whose_limit_is_sent() -> None:
    assert dialogue().max_tokens(None) == 64
    assert dialogue().max_tokens(7) == 7
    assert dialogue(replace(STYLE, profile=replace(PROFILE, max_tokens=None))).max_tokens(None) is None


def test_drawn_outputs_set_the_limit_to_a_drawn_size() -> None:
    made = dialogue(replace(STYLE, outputs="drawn"))
    drawn = {made.max_tokens(None) for _ in range(20)}
    assert len(drawn) > 5
    assert all(draws.TOOL_CALL.values[0] <= tokens <= draws.TOOL_CALL.values[-1] for tokens in drawn if tokens)
    assert made.max_tokens(7) == 7


def test_drawn_sizes_are_scaled_and_never_nothing() -> None:
    made = dialogue(replace(STYLE, outputs="drawn", scale=0.0001))
    assert {made.max_tokens(None) for _ in range(20)} == {1}


# -- scripted replies


def test_a_script_goes_on_the_same_whatever_the_server_says() -> None:
    ends = []
    for answer in (heard("so"), heard("quite another", (EDIT,), completion=900)):
        made = dialogue(SCRIPTED)
        reply = turn(made, answer)
        made.say(made.agent.tool_results(reply, 300).says)
        ends.append((reply.text, reply.tool_calls, made.body(64)))
        assert reply.tokens == (answer.usage.completion_tokens if answer.usage else None)
    assert ends[0] == ends[1]
    assert "so" not in ends[0][0].split()


def test_a_scripted_answer_calls_a_tool_of_the_profile() -> None:
    made = dialogue(SCRIPTED)
    replies = [turn(made, heard("so")) for _ in range(3)]
    calls = [call for reply in replies for call in reply.tool_calls]
    assert [call.name for call in calls] == ["read"] * 3
    assert len({call.id for call in calls}) == 3
    assert not any(call.is_bad for call in calls)


def test_a_script_without_tools_calls_none() -> None:
    made = dialogue(replace(SCRIPTED, profile=replace(PROFILE, tools=())))
    assert turn(made, heard("so", (READ,))).tool_calls == ()
    assert roles(made) == ["user", "assistant"]


# -- expected tokens of the next turn


EXPECTED: list[tuple[str, Style, Outcome, Answer, int | None]] = [
    ("live: the prompt and the answer", STYLE, Outcome.OK, heard(), 107),
    ("scripted: the answer was not sent back", SCRIPTED, Outcome.OK, heard(), 100),
    ("cut short: only the prompt was computed for sure", STYLE, Outcome.TRUNCATED, heard(), 100),
    ("ended without a word: the prompt was computed", STYLE, Outcome.NO_ANSWER, heard(""), 100),
    ("no token at all, and yet a count", STYLE, Outcome.NO_ANSWER, Answer(usage=Usage(100, 0, 0)), 100),
    ("no completion count", STYLE, Outcome.OK, heard(completion=None), 100),
    ("left: what the turn before left", STYLE, Outcome.ABANDONED, heard(prompt=None), 57),
    ("refused: what the turn before left", STYLE, Outcome.REFUSED, Answer(), 57),
]


@pytest.mark.parametrize(
    ("style", "outcome", "answer", "expected"), [pytest.param(*row[1:], id=row[0]) for row in EXPECTED]
)
def test_expected_tokens(style: Style, outcome: Outcome, answer: Answer, expected: int | None) -> None:
    made = dialogue(style)
    assert made.continued_tokens is None
    turn(made, heard(prompt=50))
    turn(made, answer, outcome)
    assert made.continued_tokens == expected


def test_a_server_without_usage_leaves_it_unknown() -> None:
    made = dialogue()
    turn(made, heard(prompt=None))
    assert made.continued_tokens is None


# -- compaction


def old_history(made: Dialogue) -> None:
    for number in range(6):
        made.say(made.agent.user(f"Question {number}.", tokens=100).says)
        made.hear(heard(f"Answer {number}.", (READ,) if number % 2 else (), prompt=None), Outcome.OK, 0.5)


def compact(made: Dialogue, keep_tokens: float, summary: Answer | None = None) -> None:
    made.say(made.agent.user("Summarise this.").says)
    reply = made.hear(summary or heard("It is a long story."), Outcome.OK, 0.5)
    made.compacted(keep_tokens, made.summary(reply.text, 50))


KEPT: list[tuple[str, float, int]] = [
    ("nothing but the summary", 0, 0),
    ("less than a message", 20, 0),
    ("a question and its answer", 220, 1),
    ("two", 320, 2),
    ("more than there is", 1e6, 6),
]


@pytest.mark.parametrize(("keep_tokens", "questions"), [pytest.param(*row[1:], id=row[0]) for row in KEPT])
def test_compaction_keeps_whole_messages_from_a_user_message_on(keep_tokens: float, questions: int) -> None:
    made = dialogue()
    old_history(made)
    compact(made, keep_tokens)
    texts = [message["content"] for message in said(made)]
    assert texts[0] == "It is a long story."
    assert [text.rsplit("\n", 1)[-1] for text in texts if text.endswith("?") or "Question" in text] == [
        f"Question {number}." for number in range(6 - questions, 6)
    ]
    assert roles(made)[1:2] in ([], ["user"])


def test_compaction_drops_the_request_for_the_summary_and_its_answer() -> None:
    made = dialogue()
    old_history(made)
    compact(made, 1e6, heard("It is a long story.", (EDIT,)))
    texts = " ".join(message["content"] for message in said(made)[1:])
    assert "Summarise" not in texts
    assert "long story" not in texts


def test_a_summary_that_did_not_come_leaves_the_history_as_it_was() -> None:
    made = dialogue()
    old_history(made)
    before = said(made)
    made.say(made.agent.user("Summarise this.").says)
    made.hear(heard("It is a", prompt=None), Outcome.STALLED, 0.5)
    made.unasked()
    # the last answer's call was answered on the way
    assert said(made)[:-1] == before
    assert roles(made)[-1] == "tool"
    made.say(made.agent.user("Go on.").says)
    assert roles(made)[-2:] == ["tool", "user"]


@pytest.mark.parametrize("keep_tokens", [0, 150, 1e6])
def test_no_result_is_an_orphan_after_compaction(keep_tokens: float) -> None:
    made = dialogue()
    old_history(made)
    made.say(made.agent.user("Read.").says)
    reply = made.hear(heard("", (READ,)), Outcome.OK, 0.5)
    compact(made, keep_tokens)
    made.say(made.agent.tool_results(reply, 40).says)
    open_calls: set[str] = set()
    for message in said(made):
        if message["role"] == "tool":
            assert message["tool_call_id"] in open_calls
        open_calls = {call["id"] for call in message.get("tool_calls", ())} or open_calls
    assert roles(made)[-1] == "user"


def test_nothing_is_expected_of_a_history_that_was_rewritten() -> None:
    made = dialogue()
    old_history(made)
    compact(made, 0)
    assert made.continued_tokens is None


def test_a_scripted_summary_is_filler_of_its_size() -> None:
    made = dialogue(SCRIPTED)
    old_history(made)
    compact(made, 0)
    (summary,) = said(made)
    assert summary["role"] == "user"
    assert len(summary["content"]) / 4 + 4 == pytest.approx(50, abs=12)


# -- learning what text costs


def learnt(*turns: tuple[Answer, Outcome], style: Style = STYLE) -> float:
    """Tokens for each character after so many turns of a user message of 8,000 characters each."""
    sizer = Sizer(Calibration("", tokens_per_char=0.25, message_tokens=0.0))
    made = dialogue(style, sizer)
    for answer, outcome in turns:
        made.say(made.agent.user("x" * 8000).says)
        made.hear(answer, outcome, 0.5)
    return sizer.tokens_per_char


def counted(prompt: int, **fields: Any) -> tuple[Answer, Outcome]:
    return replace(heard(prompt=prompt, completion=0), **fields), Outcome.OK


def test_a_turn_that_comes_back_corrects_the_size() -> None:
    assert learnt(counted(30 + 4000)) == pytest.approx(0.30, rel=0.01)
    assert learnt(counted(30 + 2000), counted(30 + 6000)) == pytest.approx(0.30, rel=0.01)


LOST: list[tuple[str, tuple[Answer, Outcome]]] = [
    ("refused: its message stays in the history and in no count", (Answer(), Outcome.REFUSED)),
    ("left: no count came", (heard(prompt=None), Outcome.ABANDONED)),
    ("half an answer was kept", (heard("x" * 8000, prompt=4030), Outcome.TRUNCATED)),
    ("reasoning counts, and a template may drop it", counted(4030, reasoning=["hm"])),
]


@pytest.mark.parametrize("lost", [pytest.param(row[1], id=row[0]) for row in LOST])
def test_what_is_in_no_count_does_not_spoil_the_next_turns(lost: tuple[Answer, Outcome]) -> None:
    assert learnt(counted(2030), lost, counted(8030)) == pytest.approx(0.25, rel=0.01)
    assert learnt(counted(2030), lost, counted(8030), counted(12030)) == pytest.approx(0.30, rel=0.01)


def test_what_a_script_said_is_in_no_count() -> None:
    assert learnt(counted(2030), counted(9030), style=SCRIPTED) == pytest.approx(0.25, rel=0.01)
