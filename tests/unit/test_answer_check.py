"""What an answer to a check is called, what a run's checks come to, and what limits make of them."""

import dataclasses
from typing import Any

import pytest

from locust_agents import metrics, records
from locust_agents.answers.stream import Answer, ToolCall
from locust_agents.limits import parse_limit
from locust_agents.outcome import Outcome
from locust_agents.records import TurnRecord
from locust_agents.right import answer_check, answer_check_totals, identity
from locust_agents.right.answer_check import Checked
from locust_agents.verdict import judge

OWN = ["amber-otter-417", "misty-river-351"]
OTHERS = {"royal-walnut-658": "fixers, agent 3"}
BOTH = "amber-otter-417, misty-river-351"


def answer(text: str = "", reasoning: str = "", call: str = "", finish: str = "stop") -> Answer:
    calls = {0: ToolCall("call-1", "read", call)} if call else {}
    return Answer(content=[text], reasoning=[reasoning] if reasoning else [], tool_calls=calls, finish_reason=finish)


@pytest.mark.parametrize(
    ("heard", "verdict", "remark"),
    [
        (answer(BOTH), "right", "both"),
        (answer("They are Misty-River-351 and **amber-otter-417**."), "right", "in another order, in a sentence"),
        (answer("amber-otter-417"), "wrong_answer", "one is missing"),
        (answer("amber-otter-418, misty-river-351"), "wrong_answer", "a digit is off, and nobody has that word"),
        (answer("I am not sure."), "wrong_answer", "no word at all"),
        (answer(""), "wrong_answer", "nothing at all"),
        (answer("royal-walnut-658"), "foreign_answer", "another's word"),
        (answer(f"{BOTH}, royal-walnut-658"), "foreign_answer", "another's word beside the right ones"),
        (answer(BOTH, reasoning="royal-walnut-658?"), "foreign_answer", "another's word in the reasoning"),
        (answer(call='{"filePath": "royal-walnut-658"}'), "foreign_answer", "another's word in a tool call"),
        (answer("the the the the the the the"), "looped", "one token over and over"),
        (answer(f"{BOTH}\n" * 6), "looped", "right, over and over"),
        (answer("", f"so {BOTH}", finish="length"), "right", "in the reasoning, where there is no content"),
        (answer("amber-otter-417", f"so {BOTH}"), "wrong_answer", "what is said counts, not what was thought"),
        (answer("", "The user asks for two", finish="length"), None, "cut before it came to the words"),
        (answer(call='{"filePath": "a.py"}'), None, "a tool was called instead"),
    ],
)  # fmt: skip
def test_verdicts(heard: Answer, verdict: str | None, remark: str) -> None:
    assert answer_check.of_words(heard, OWN, OTHERS.get).canary == verdict, remark


def test_a_verdict_says_whose_word_it_was_and_what_was_said() -> None:
    found = answer_check.of_words(answer("It is royal-walnut-658"), OWN, OTHERS.get)
    assert found.detail == (
        "royal-walnut-658 is a word of fixers, agent 3; "
        "asked for amber-otter-417 and misty-river-351, it said 'It is royal-walnut-658'"
    )


@pytest.mark.parametrize(
    ("text", "looped"),
    [
        ("amber " * 4, True),
        ("amber " * 3, False),
        ("a long answer that ends in a rule of four dashes ----", False),
        ("word: " + "book shelf, " * 8, True),
        ("0000", True),
        ("one, two, three, four, five, six, seven, eight", False),
        ("", False),
        ("no loop, then " * 2 + "x" * 3000, True),
    ],
)
def test_loops(text: str, looped: bool) -> None:
    assert answer_check.is_looped(text) is looped


@pytest.mark.parametrize(
    ("alone", "crowd", "told", "remark"),
    [
        ("one, two", "one, two", None, "the same"),
        ("one, two", "one, too", "differs at character 7: alone 'wo', in the crowd 'oo'", "a letter"),
        ("one, two", "one", "differs at character 4: alone ', two', in the crowd nothing", "cut off"),
        ("", "one", "differs at character 1: alone nothing, in the crowd 'one'", "from the start"),
        ("a", "a ", "differs at character 2: alone nothing, in the crowd ' '", "a blank is a difference"),
    ],
)
def test_differences(alone: str, crowd: str, told: str | None, remark: str) -> None:
    assert answer_check.difference(alone, crowd) == told, remark
    assert answer_check.of_identity(answer(crowd), alone) == Checked(detail=told, same=told is None)


def test_what_is_compared_holds_reasoning_and_calls_but_no_ids() -> None:
    one = answer("so", "thought", '{"a": 1}')
    other = dataclasses.replace(one, tool_calls={0: ToolCall("another", "read", '{"a": 1}')})
    assert answer_check.said(one) == answer_check.said(other) == 'thoughtsoread({"a": 1})'


def test_the_identity_prompt_is_the_same_bytes_everywhere_and_cold_in_every_run() -> None:
    body = identity.branch("m", "123 456").request.body()
    assert body == identity.branch("m", "123 456").request.body()
    assert body != identity.branch("m", "123 457").request.body()
    assert b'"temperature":0' in body


# -- of a run


def turn(kind: str = "canary", outcome: Outcome = Outcome.OK, end_s: float = 1.0, **values: Any) -> TurnRecord:
    line = '{"entry": "fixers", "agent": "fixers/0.0", "session": "fixers/0.0#0", "turn": 3, "outcome": "ok"}'
    made = records.from_line(line)
    return dataclasses.replace(made, kind=kind, outcome=outcome, wall_time=0.0, end_s=end_s, **values)


RIGHT, SAME = turn(canary="right"), turn(same=True)
FOREIGN = turn(canary="foreign_answer", canary_detail="royal-walnut-658 is a word of fixers, agent 3")
DIFFERENT = turn(same=False, canary_detail="differs at character 7: alone 'wo', in the crowd 'oo'")
UNJUDGED, FAILED = turn(canary_detail="not judged"), turn(outcome=Outcome.HTTP_ERROR)
LATER = turn("later")


@pytest.mark.parametrize(
    ("told", "are_right", "remark"),
    [
        ([RIGHT, RIGHT, SAME], True, "all right"),
        ([RIGHT, FOREIGN], False, "one was not"),
        ([SAME, DIFFERENT], None, "identity alone does not say that an answer is wrong"),
        ([UNJUDGED, FAILED], None, "nothing was judged"),
    ],
)
def test_whether_answers_are_right(told: list[TurnRecord], are_right: bool | None, remark: str) -> None:
    found = answer_check_totals.answers([LATER, *told])
    assert found is not None
    assert found.are_right is are_right, remark


def test_totals_count_each_check_once() -> None:
    found = answer_check_totals.answers([RIGHT, FOREIGN, SAME, DIFFERENT, UNJUDGED, FAILED, LATER])
    assert found is not None
    assert (found.verdicts, found.compared, found.same) == ({"right": 1, "foreign_answer": 1}, 2, 1)
    assert (found.unjudged, found.failed) == (1, 1)


def test_lines_for_a_person() -> None:
    told = [RIGHT, FOREIGN, UNJUDGED, SAME, DIFFERENT]
    assert answer_check_totals.lines(answer_check_totals.answers(told)) == [
        "right  code words 1 of 2 · 1 foreign_answer · 1 not judged",
        "       fixers/0.0, after turn 3: foreign_answer: royal-walnut-658 is a word of",
        "       fixers, agent 3",
        "       same answers 1 of 2, alone and in the crowd",
        "       fixers/0.0, after turn 3: differs at character 7: alone 'wo', in the",
        "       crowd 'oo'",
    ]
    assert answer_check_totals.lines(answer_check_totals.answers([LATER])) == []
    assert (
        answer_check_totals.lines(answer_check_totals.answers([FOREIGN] * 9))[-1] == "       and 6 more in turns.jsonl"
    )


def test_shares() -> None:
    assert metrics.right([RIGHT, RIGHT, FOREIGN, UNJUDGED, FAILED, LATER]) == pytest.approx(2 / 3)
    assert metrics.same([SAME, DIFFERENT, RIGHT]) == 0.5
    assert (metrics.right([LATER, SAME]), metrics.same([LATER, RIGHT])) == (None, None)


@pytest.mark.parametrize(
    ("limit", "bound", "told", "held", "remark"),
    [
        ("right", "100%", [RIGHT, LATER], True, "all right"),
        ("right", "100%", [RIGHT, FOREIGN], False, "one foreign"),
        ("right", "100%", [SAME], None, "a tiny model's run has nothing to judge"),
        ("same", "90%", [SAME, DIFFERENT], False, "half differ"),
        ("failures", "0%", [LATER, FAILED], False, "a canary turn that failed is a failure"),
        ("turn.max", "1s", [LATER, turn(end_s=9.0)], True, "nobody waits for a canary"),
        ("canary.turn.max", "1s", [LATER, turn(end_s=9.0)], False, "unless it is asked for"),
    ],
)
def test_limits(limit: str, bound: str, told: list[TurnRecord], held: bool | None, remark: str) -> None:
    assert [one.held for one in judge([parse_limit(limit, bound, ("fixers",))], told)] == [held], remark


def test_the_worst_of_right_is_the_first_that_was_not() -> None:
    found = judge([parse_limit("right", "100%", ())], [RIGHT, dataclasses.replace(FOREIGN, turn=8)])
    assert str(found[0].worst) == "fixers/0.0#0 turn 8"
