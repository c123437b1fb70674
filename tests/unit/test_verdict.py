"""Limits: held, broken or open for each entry, and the exit status that follows."""

import json
from typing import Any

import pytest

from locust_agents import records, verdict
from locust_agents.answers import itl
from locust_agents.figures import Wait
from locust_agents.limits import Limit, parse_limit
from locust_agents.records import TurnRecord
from locust_agents.verdict import Judgement

ENTRIES = ("fixers", "giant")


def limit(text: str) -> Limit:
    key, _, bound = text.partition(": ")
    return parse_limit(key, bound, ENTRIES)


def turn(ttft_s: float | None = None, entry: str = "fixers", **values: Any) -> TurnRecord:
    """A later turn, sent at 0 s; without a token it ended after 5 s."""
    base = {"outcome": "ok", "kind": "later", "wall_time": 0.0, "sent_s": 0.0, "end_s": 5.0, "entry": entry}
    return records.from_line(json.dumps({**base, "first_token_s": ttft_s, **values}))


def cut(after_s: float, entry: str = "fixers", outcome: str = "cut") -> TurnRecord:
    return turn(None, entry, outcome=outcome, end_s=after_s)


def judged(text: str, *turns: TurnRecord) -> Judgement:
    found = verdict.judge([limit(text)], turns)
    assert len(found) == 1
    return found[0]


def turns(*ttfts_s: float) -> list[TurnRecord]:
    return [turn(ttft_s) for ttft_s in ttfts_s]


FAST = turns(*[1.0] * 19)


@pytest.mark.parametrize(
    ("text", "of", "held", "value", "stat", "remark"),
    [
        ("ttft.max: 2s", turns(1.0, 2.0), True, Wait(2.0), "max", "exactly the bound is held"),
        ("ttft.max: 2s", turns(1.0, 2.001), False, Wait(2.001), "max", "above it is not"),
        ("ttft.p50: 2s", turns(1.0, 2.0, 9.0), True, Wait(2.0), "p50", "a median needs no number"),
        ("ttft.mean: 3s", turns(1.0, 5.0), True, Wait(3.0), "mean", "the mean"),
        ("ttft.p95: 2s", [*FAST, turn(9.0)], True, Wait(1.0), "p95", "twenty turns: one may be slow"),
        ("ttft.p95: 2s", [*FAST[1:], turn(9.0)], False, Wait(9.0), "max", "nineteen: none may"),
        ("ttft.p99: 2s", [*FAST, turn(9.0)] * 4, False, Wait(9.0), "max", "p99 needs a hundred"),
        ("ttft.p99: 2s", [*FAST * 6, turn(9.0)], True, Wait(1.0), "p99", "here they are"),
        ("first.ttft.max: 2s", turns(9.0), None, None, "max", "no first turn: open"),
        ("first.ttft.max: 2s", [*turns(9.0), turn(1.0, kind="first")], True, Wait(1.0), "max", "only first turns"),
        ("ttft.max: 2s", [turn(None, sent_s=None, outcome="refused")], None, None, "max", "never sent: open"),
        # censored
        ("ttft.max: 2s", [turn(1.0), cut(300.0)], False, Wait(300.0, True), "max", "it waited longer than the bound"),
        ("ttft.max: 2s", [turn(1.0), cut(2.0)], True, Wait(2.0, True), "max", "it may have been in time"),
        ("ttft.max: 2s", [cut(1.0)], None, Wait(1.0, True), "max", "no wait ended: it cannot help to hold"),
        ("ttft.max: 2s", [cut(9.0, outcome="first_token_timeout")], False, Wait(9.0, True), "max", "but it can break"),
        (
            "ttft.p95: 2s",
            [*FAST, *turns(9.0, 9.0), *[cut(0.1)] * 40],
            False,
            Wait(9.0),
            "p95",
            "a crowd of cut turns does not hide two slow ones",
        ),
        ("queue.max: 2s", [turn(9.0, headers_s=1.0)], True, Wait(1.0), "max", "the queue ends with the headers"),
        (
            "stall.max: 2s",
            [turn(1.0, stall_s=1.0), turn(1.0, stall_s=9.0, outcome="cut")],
            True,
            Wait(1.0),
            "max",
            "ok turns",
        ),
        ("turn.max: 4s", [turn(1.0), cut(9.0)], False, Wait(5.0), "max", "ok turns"),
        # shares
        ("failures: 0%", [turn(1.0), cut(1.0)], True, Wait(0.0), None, "a cut turn is no failure"),
        ("failures: 0%", [turn(1.0), turn(outcome="reset")], False, Wait(0.5), None, "a reset is one"),
        ("failures: 50%", [turn(1.0), turn(outcome="reset")], True, Wait(0.5), None, "exactly the bound"),
        ("failures: 0%", [cut(1.0)], None, None, None, "nothing to count"),
        ("reuse: 95%", [turn(1.0, cached_tokens=95, expected_tokens=100)], True, Wait(0.95), None, "exactly the bound"),
        ("reuse: 95%", [turn(1.0, cached_tokens=94, expected_tokens=100)], False, Wait(0.94), None, "below it"),
        ("reuse: 95%", [turn(1.0, expected_tokens=100)], None, None, None, "the server says nothing"),
        # at least
        ("prefill.min: 100", [turn(1.0, prefill_tokens_s=100.0)], True, Wait(100.0), "min", "exactly the bound"),
        (
            "prefill.min: 100",
            [turn(1.0, prefill_tokens_s=s) for s in (99.0, 900.0)],
            False,
            Wait(99.0),
            "min",
            "the slowest",
        ),
        (
            "prefill.p50: 100",
            [turn(1.0, prefill_tokens_s=s) for s in (90.0, 100.0, 900.0)],
            True,
            Wait(100.0),
            "p50",
            "half",
        ),
        (
            "prefill.p95: 100",
            [turn(1.0, prefill_tokens_s=s) for s in (90.0, 900.0)],
            False,
            Wait(90.0),
            "min",
            "too few: all",
        ),
        (
            "prefill.p95: 2",
            [turn(1.0, prefill_tokens_s=float(s)) for s in range(1, 21)],
            True,
            Wait(2.0),
            "p95",
            "19 of 20 are at least as fast: counted from the slow side",
        ),
        ("decode.min: 10", [turn(1.0, last_token_s=3.0, completion_tokens=21)], True, Wait(10.0), "min", "tokens/s"),
        ("decode.min: 10", [turn(1.0)], None, None, "min", "without usage: open"),
    ],
)
def test_judging(
    text: str, of: list[TurnRecord], held: bool | None, value: Wait | None, stat: str | None, remark: str
) -> None:
    found = judged(text, *of)
    assert (found.held, found.value, found.stat) == (held, value, stat), remark


FAST_GAP, SLOW_GAP = itl.bucket(0.01), itl.bucket(1.0)


@pytest.mark.parametrize(
    ("text", "gaps", "held", "gap_s", "stat", "remark"),
    [
        ("itl.p95: 100ms", {FAST_GAP: 19, SLOW_GAP: 1}, True, 0.01, "p95", "twenty gaps"),
        ("itl.p95: 100ms", {FAST_GAP: 18, SLOW_GAP: 1}, False, 1.0, "max", "too few gaps"),
        ("itl.p99: 100ms", {FAST_GAP: 98, SLOW_GAP: 2}, False, 1.0, "p99", "two of a hundred"),
        ("itl.p50: 100ms", {FAST_GAP: 2, SLOW_GAP: 1}, True, 0.01, "p50", "half"),
        ("itl.max: 100ms", {FAST_GAP: 999, SLOW_GAP: 1}, False, 1.0, "max", "the longest"),
        ("itl.mean: 600ms", {FAST_GAP: 1, SLOW_GAP: 1}, True, 0.505, "mean", "the mean"),
        ("itl.max: 100ms", {}, None, None, "max", "no gaps: open"),
    ],
)
def test_judging_gaps(
    text: str, gaps: dict[int, int], held: bool | None, gap_s: float | None, stat: str, remark: str
) -> None:
    found = judged(text, turn(1.0, itl_hist=gaps), turn(1.0, itl_hist={SLOW_GAP: 999}, outcome="cut"))
    assert (found.held, found.stat) == (held, stat), remark
    value = None if found.value is None else found.value.value
    assert value == (None if gap_s is None else pytest.approx(gap_s, rel=0.01)), remark


def test_each_entry_holds_a_limit_by_itself() -> None:
    of = [*[turn(1.0)] * 30, turn(9.0, "giant")]
    found = verdict.judge([limit("ttft.p50: 2s")], of)
    assert [(judgement.entry, judgement.held) for judgement in found] == [("fixers", True), ("giant", False)]


def test_a_limit_of_one_entry_is_not_the_others() -> None:
    assert judged("giant.ttft.max: 20s", turn(99.0), turn(9.0, "giant")).held is True


@pytest.mark.parametrize("text", ["giant.ttft.max: 20s", "giant.failures: 0%", "giant.later.reuse: 95%"])
def test_an_entry_without_a_turn_is_open(text: str) -> None:
    assert judged(text, turn(1.0)) == Judgement(limit(text), "giant", None, None, limit(text).stat)


def test_a_run_without_a_turn_leaves_every_limit_open() -> None:
    found = verdict.judge([limit("ttft.max: 2s"), limit("giant.failures: 0%")], [])
    assert [judgement.held for judgement in found] == [None] * len(found)
    assert {judgement.limit.key for judgement in found} == {"ttft.max", "giant.failures"}


@pytest.mark.parametrize(
    ("of", "limits", "status", "remark"),
    [
        ([turn(1.0)], ["ttft.max: 2s"], 0, "held"),
        ([turn(1.0)], [], 0, "nothing was demanded"),
        ([turn(9.0)], ["ttft.max: 2s"], 1, "broken"),
        ([turn(1.0), turn(9.0, "giant")], ["ttft.max: 2s"], 1, "by one entry"),
        ([turn(9.0)], ["first.ttft.max: 2s"], 0, "open is not broken"),
        ([], [], 3, "no turn"),
        ([cut(1.0)], [], 3, "no turn was ok"),
        ([turn(9.0, outcome="reset")], ["ttft.max: 2s", "failures: 0%"], 3, "that comes before a broken limit"),
    ],
)
def test_exit_status(of: list[TurnRecord], limits: list[str], status: int, remark: str) -> None:
    judgements = verdict.judge([limit(text) for text in limits], of)
    assert verdict.exit_status(of, judgements) == status, remark
