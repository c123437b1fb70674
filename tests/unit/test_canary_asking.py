"""When code words are planted and asked for, on real histories; and that asking leaves no trace in them."""

import json
from collections.abc import Iterable
from typing import Any

import pytest

from locust_agents.answers.deltas import Usage
from locust_agents.answers.stream import Answer, ToolCall
from locust_agents.outcome import Outcome
from locust_agents.plugins.api import Agent, Document, Say, Turn
from locust_agents.profile import Profile
from locust_agents.prompts import conversation
from locust_agents.prompts.conversation import Preamble, preamble
from locust_agents.prompts.dialogue import Dialogue, Style
from locust_agents.prompts.sizing import Calibration, Sizer
from locust_agents.right.answer_check import Checks
from locust_agents.right.canary import Crowd, words_in
from locust_agents.right.canary_asking import Asking, Question

PROFILE = Profile("p", "P", "here", 10, 20, ("read",), 64, reminder_tokens=20)
TOOLS: list[dict[str, Any]] = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]
START: Preamble = preamble("p", "m", "be brief", TOOLS, {"temperature": 0.7, "top_p": 0.9, "tool_choice": "auto"}, 30)
READ = ToolCall("call-1", "read", '{"a": 1}')
CROWD = Crowd({"fixers": 3})
FIRST, SECOND = Agent("fixers/0.0", "fixers/0.0#0", "1"), Agent("fixers/0.1", "fixers/0.1#0", "2")


def dialogue(agent: Agent = FIRST) -> Dialogue:
    return Dialogue(agent, Style(PROFILE, START), Sizer(Calibration("", tokens_per_char=0.25)))


def asking(every: int = 3, words: bool = True, alone: str | None = None) -> Asking:
    return Asking(Checks(every, words, alone), CROWD, "m", "n")


def heard(text: str = "so", calls: tuple[ToolCall, ...] = (), reasoning: str = "") -> Answer:
    thought = [reasoning] if reasoning else []
    return Answer(content=[text], reasoning=thought, tool_calls=dict(enumerate(calls)), usage=Usage(100, 0, 7))


def take(asks: Asking, made: Dialogue, turn: Turn, answer: Answer | None = None, kind: str | None = None) -> list[str]:
    """One turn; the questions that come of it."""
    asks.before(turn, made, kind)
    made.take(turn)
    made.body(64)
    made.hear(answer or heard(), Outcome.OK, 0.1)
    return [said(question)[-1]["content"] for question in asks.after(turn.agent, made, kind)]


def said(question: Question) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(question.branch.request.body())["messages"]
    return found


def planted(made: Dialogue) -> list[str]:
    """The words of the last request."""
    return words_in(b"\n".join(made.sent).decode())


def user(agent: Agent = FIRST, text: str = "Go on.") -> Turn:
    return agent.user(text)


def test_the_early_word_is_in_the_first_message_and_the_late_one_in_the_turn_before_the_question() -> None:
    asks, made = asking(), dialogue()
    assert take(asks, made, user()) == []
    assert len(planted(made)) == 1
    assert take(asks, made, user()) == []
    assert len(planted(made)) == 1
    (question,) = take(asks, made, user())
    assert len(planted(made)) == 2
    assert "this task" in question
    assert "step 3" in question
    assert take(asks, made, user()) == []


def test_a_first_turn_that_is_due_carries_both() -> None:
    assert len(take(asking(every=1), made := dialogue(), user())) == 1
    assert len(planted(made)) == 2


def test_turns_are_counted_over_the_sessions_of_an_agent() -> None:
    asks = asking()
    child = FIRST.child()
    assert [take(asks, dialogue(agent), user(agent)) != [] for agent in (FIRST, child, FIRST)] == [False, False, True]


def test_a_call_aside_is_neither_counted_nor_given_a_word() -> None:
    asks, made = asking(every=1), dialogue()
    assert take(asks, made, user(), kind="side") == []
    assert planted(made) == []


def test_without_words_nothing_is_planted_and_identity_is_asked() -> None:
    asks, made = asking(2, words=False, alone="one, two"), dialogue()
    assert take(asks, made, user()) == []
    (question,) = take(asks, made, user())
    assert "thirty" in question
    assert planted(made) == []


def test_both_checks_are_asked_one_after_the_other() -> None:
    assert len(take(asking(1, alone="one, two"), dialogue(), user())) == 2


def test_a_tool_result_carries_a_word_too() -> None:
    asks, made = asking(2), dialogue()
    take(asks, made, user(), heard("", (READ,)))
    (question,) = take(asks, made, Turn(FIRST, (Say("", 40.0, READ),)))
    assert "step 2" in question
    assert len(planted(made)) == 2


def test_a_turn_that_cannot_carry_a_word_puts_the_question_off() -> None:
    asks, made = asking(2), dialogue()
    take(asks, made, user())
    assert take(asks, made, FIRST.again()) == []
    assert len(take(asks, made, user())) == 1


def test_a_hole_has_no_words_but_an_identity() -> None:
    asks, made = asking(1, alone="one"), dialogue()
    (question,) = take(asks, made, FIRST.complete(50, 20))
    assert "thirty" in question


def test_after_compaction_a_new_early_word_stands_in_the_summarised_history() -> None:
    asks, made = asking(), dialogue()
    for _ in range(2):
        take(asks, made, user())
    made.compaction_request(None, "Sum up.", 50)
    made.hear(heard("a summary"), Outcome.OK, 0.1)
    made.compacted(0, "a summary")
    (question,) = take(asks, made, user())
    assert len(planted(made)) == 2
    assert "this task" in question


# -- the question itself


@pytest.mark.parametrize("calls", [(), (READ,)], ids=["an answer", "an open call"])
def test_a_question_leaves_no_trace(calls: tuple[ToolCall, ...]) -> None:
    """Two histories, one of which is asked: the next requests are the same bytes, and the same objects are kept."""
    asked, left = dialogue(), dialogue()
    for made in (asked, left):
        made.take(Turn(FIRST, (Say("Fix it.", 90.0),), documents=(Document("a.py", 40.0),)))
        made.body(64)
        made.hear(heard("so", calls), Outcome.OK, 0.1)
    before = (asked.turns, asked.continued_tokens, asked.estimate_tokens(), asked.sent)
    asked.branch("What is it?", 48)
    assert (asked.turns, asked.continued_tokens, asked.estimate_tokens(), asked.sent) == before
    for made in (asked, left):
        made.take(user())
    assert asked.body(64) == left.body(64)
    assert all(one is other for one, other in zip(asked.sent[:3], before[3][:3], strict=True) if one == other)


def test_a_question_goes_on_from_what_was_sent() -> None:
    made = dialogue()
    made.take(user())
    made.body(64)
    made.hear(heard("so", (READ,)), Outcome.OK, 0.1)
    branch = made.branch("What is it?", 48)
    assert branch.request.parts[1:2] == made.sent[1:2]
    found = json.loads(branch.request.body())
    assert [message["role"] for message in found["messages"]] == ["system", "user", "assistant", "tool", "user"]
    assert (found["max_tokens"], found["temperature"], found["tool_choice"]) == (48, 0, "auto")
    assert "top_p" not in found
    assert found["tools"] == json.loads(made.request.body() if made.request else b"{}")["tools"]
    assert (branch.turns, branch.continued_tokens) == (0, made.continued_tokens)


def test_the_start_of_a_question_is_shared_and_named_like_the_turns() -> None:
    assert conversation.greedy(START) is conversation.greedy(START)
    assert conversation.greedy(START).starts == START.starts


@pytest.mark.parametrize(("reasoning", "sent"), [("hm", {"enable_thinking": False}), ("", None)])
def test_a_model_that_reasons_is_asked_not_to(reasoning: str, sent: object) -> None:
    made = dialogue()
    made.take(user())
    made.body(64)
    made.hear(heard(reasoning=reasoning), Outcome.OK, 0.1)
    assert json.loads(made.branch("What is it?", 48).request.body()).get("chat_template_kwargs") == sent


# -- the judge


def judged(asks: Asking, made: Dialogue, text: str) -> tuple[str | None, str | None]:
    """What the question after the next turn makes of an answer with this text."""
    turn = user(made.agent)
    asks.before(turn, made, None)
    made.take(turn)
    made.body(64)
    made.hear(heard(), Outcome.OK, 0.1)
    (question,) = asks.after(made.agent, made, None)
    own = words_in(json.dumps(said(question)))
    found = question.judge(heard(text.format(own=", ".join(own))))
    return found.canary, found.detail


def of_elsewhere(agents: Iterable[Agent]) -> list[str]:
    """The words that these agents have, as another process knows them."""
    words: list[str] = []
    for agent in agents:
        take(asking(1), made := dialogue(agent), user(agent))
        words += planted(made)
    return words


def test_own_words_are_right() -> None:
    assert judged(asking(1), dialogue(), "{own}") == ("right", None)


def test_the_word_of_an_agent_of_another_process_is_foreign() -> None:
    word = of_elsewhere([SECOND])[0]
    verdict, detail = judged(asking(1), dialogue(), f"{{own}} {word}")
    assert verdict == "foreign_answer"
    assert f"{word} is a word of fixers, agent 1" in (detail or "")


def test_the_word_of_an_earlier_session_of_the_same_agent_is_foreign_too() -> None:
    asks, earlier = asking(1), dialogue()
    take(asks, earlier, user())
    later = replace_session(FIRST, "fixers/0.0#1")
    verdict, detail = judged(asks, dialogue(later), planted(earlier)[0])
    assert verdict == "foreign_answer"
    assert "fixers/0.0#0" in (detail or "")


def test_an_earlier_word_of_the_same_history_is_wrong_and_not_foreign() -> None:
    asks, made = asking(1), dialogue()
    take(asks, made, user())
    late = planted(made)[-1]
    assert judged(asks, made, late)[0] == "wrong_answer"


def replace_session(agent: Agent, session: str) -> Agent:
    return Agent(agent.name, session, agent.seed)
