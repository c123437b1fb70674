"""Which turn a limit's judgement names, and how far from the bound it stands."""

import json
from typing import Any

import pytest

from locust_agents import records, verdict, worst_turn
from locust_agents.answers import itl
from locust_agents.figures import Wait
from locust_agents.limits import parse_limit
from locust_agents.records import TurnRecord


def turn(number: int, **values: Any) -> TurnRecord:
    """An ok turn that was sent at 0 s and had its first token after 1 s."""
    base: dict[str, Any] = {"outcome": "ok", "kind": "later", "entry": "a", "agent": "a/0.1", "session": "a/0.1#2"}
    base |= {"turn": number, "attempt": 1, "wall_time": 100.0 + number, "sent_s": 0.0, "first_token_s": 1.0}
    return records.from_line(json.dumps({**base, "end_s": 5.0, **values}))


GAP, LONG_GAP = itl.bucket(0.01), itl.bucket(2.0)
NEVER: dict[str, Any] = {"first_token_s": None, "outcome": "stalled"}


@pytest.mark.parametrize(
    ("key", "turns", "number", "remark"),
    [
        ("ttft.p50", [turn(1), turn(2, first_token_s=3.0), turn(3)], 2, "the longest wait, whatever the statistic"),
        ("ttft.max", [turn(1), turn(2)], 1, "of equals the first"),
        ("ttft.max", [turn(2), turn(1)], 1, "the first to start, not to end"),
        ("ttft.max", [turn(1, first_token_s=5.0), turn(2, **NEVER)], 2, "of equals the one that never ended"),
        ("ttft.max", [turn(1, sent_s=None)], None, "none was sent"),
        ("ttft.max", [], None, "no turn"),
        ("stall.max", [turn(1, stall_s=1.0), turn(2, stall_s=9.0, outcome="cut")], 1, "of ok turns only"),
        ("prefill.min", [turn(1, prefill_tokens_s=9.0), turn(2, prefill_tokens_s=5.0)], 2, "the slowest"),
        ("failures", [turn(1), turn(2, outcome="cut"), turn(3, outcome="reset"), turn(4, outcome="reset")], 3, "first"),
        ("failures", [turn(1), turn(2, outcome="cut")], None, "none failed"),
        (
            "reuse",
            [
                turn(1, cached_tokens=0, expected_tokens=10),
                turn(2, cached_tokens=900, expected_tokens=1000),
                turn(3, cached_tokens=None, expected_tokens=9999),
            ],
            2,
            "the most tokens read again, not the worst share",
        ),
        ("reuse", [turn(1, cached_tokens=20, expected_tokens=10)], None, "nothing was missed"),
        (
            "itl.p99",
            [
                turn(1, itl_hist={GAP: 50}),
                turn(2, itl_hist={GAP: 9, LONG_GAP: 1}),
                turn(3, itl_hist={LONG_GAP + 9: 1}, outcome="cut"),
            ],
            2,
            "the longest gap of an ok turn",
        ),
        ("itl.p99", [turn(1)], None, "no gaps"),
    ],
)
def test_the_turn_that_did_worst(key: str, turns: list[TurnRecord], number: int | None, remark: str) -> None:
    found = worst_turn.find(parse_limit(key, 1 if "." in key else "5%", ()), turns)
    assert (None if found is None else found.turn) == number, remark


def test_a_turn_is_named_by_its_session_and_only_a_later_attempt_is_counted() -> None:
    limit = parse_limit("ttft.max", "1s", ())
    assert str(worst_turn.find(limit, [turn(7)])) == "a/0.1#2 turn 7"
    assert str(worst_turn.find(limit, [turn(7, attempt=2)])) == "a/0.1#2 turn 7 attempt 2"


@pytest.mark.parametrize(
    ("key", "bound", "turns", "margin", "remark"),
    [
        ("ttft.max", "4s", [turn(1)], 3.0, "held: what was left"),
        ("ttft.max", "250ms", [turn(1)], -0.75, "broken: below 0"),
        ("prefill.min", 40, [turn(1, prefill_tokens_s=50.0)], 10.0, "at least: above the bound is held"),
        ("prefill.min", 60, [turn(1, prefill_tokens_s=50.0)], -10.0, "and below it broken"),
        ("failures", "25%", [turn(1), turn(2, outcome="reset")], -0.25, "a share"),
        ("ttft.max", "9s", [turn(1, **NEVER)], None, "open: how much was left is not known"),
        ("first.ttft.max", "9s", [turn(1)], None, "nothing to judge"),
    ],
)
def test_how_far_from_the_bound(
    key: str, bound: object, turns: list[TurnRecord], margin: float | None, remark: str
) -> None:
    (found,) = verdict.judge([parse_limit(key, bound, ())], turns)
    assert found.margin == margin, remark


def test_a_judgement_names_a_turn_of_its_own_entry_and_kind() -> None:
    slow = {"first_token_s": 9.0}
    turns = [turn(1), turn(2, first_token_s=2.0), turn(3, entry="b", **slow), turn(4, kind="first", **slow)]
    (found,) = verdict.judge([parse_limit("a.later.ttft.max", "1s", ("a", "b"))], turns)
    assert found.worst is not None
    assert (found.worst.turn, found.value) == (2, Wait(2.0))
