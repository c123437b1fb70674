"""Why the worst turns waited: one sentence each, from records alone."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from locust_agents import records
from locust_agents.forecast import prefill_curve
from locust_agents.forecast.prefill_curve import Curve
from locust_agents.records import TurnRecord
from locust_agents.why import lines as why_lines
from locust_agents.why import reasons
from locust_agents.why.reasons import Cause

CURVE = prefill_curve.through([(1_000, 1.0), (10_000, 10.0)])
"""A thousand tokens a second."""


def turn(agent: str, at: float, **values: Any) -> TurnRecord:
    """Sent as it starts; prompts of 500 tokens of which 400 were found, unless said otherwise."""
    entry = agent.partition("/")[0]
    who = {"entry": entry, "agent": agent, "session": f"{agent}#0", "turn": 9, "attempt": 1, "kind": "later"}
    how = {"outcome": "ok", "sent_s": 0.0, "prompt_tokens": 500, "cached_tokens": 400, "expected_tokens": 400}
    times = {"end_s": values.get("last_token_s", values.get("first_token_s", 1.0))}
    return records.from_line(
        json.dumps({"wall_time": at, "epoch": 1, "computed_tokens": 100, **who, **how, **times, **values})
    )


def waiting(headers_s: float, **values: Any) -> TurnRecord:
    """A fixer, from 100 s on, whose first token came 0.04 s after its headers."""
    times = {"headers_s": headers_s, "prefill_end_s": headers_s + 0.03, "first_token_s": headers_s + 0.04}
    return turn("fixers/0.2", 100.0, **{**times, **values})


def giant(at: float, prefill_s: float, size: int = 4_096, agent: str = "giant/0.0", **values: Any) -> TurnRecord:
    """Its headers came at once; it answers for two seconds."""
    times = {"headers_s": 0.0, "prefill_end_s": prefill_s, "first_token_s": prefill_s, "last_token_s": prefill_s + 2.0}
    sizes = {"prompt_tokens": size, "cached_tokens": 0, "computed_tokens": size, "expected_tokens": 0}
    return turn(agent, at, **{**times, **sizes, "turn": 0, "kind": "first", **values})


def other(agent: str, at: float, prefill_s: float, until_s: float, **values: Any) -> TurnRecord:
    times = {"headers_s": 0.0, "prefill_end_s": prefill_s, "first_token_s": prefill_s, "last_token_s": until_s}
    return turn(agent, at, **{**times, **values})


def first(found: Sequence[Cause], metric: str = "ttft", entry: str = "fixers") -> Cause:
    return next(cause for cause in found if (cause.entry, cause.metric) == (entry, metric))


READ_14K = {"prompt_tokens": 15_000, "cached_tokens": 1_000, "expected_tokens": 15_000, "computed_tokens": 14_000}
LONG = {"headers_s": 0.02, "prefill_end_s": 9.12, "first_token_s": 9.2, "prompt_tokens": 14_000, "cached_tokens": 0}

CASES: list[tuple[TurnRecord, list[TurnRecord], Mapping[str, Any], str, str]] = [
    (
        waiting(2.66),
        [giant(99.5, 3.2)],
        {},
        "2.66 s before headers, while giant/0 prefilled 4,096 tokens",
        "the sentence of the table",
    ),
    (
        waiting(2.66),
        [giant(99.5, 3.2, 61_000, agent="giant/1.0")],
        {},
        "2.66 s before headers, while giant/1.0 prefilled 61k tokens",
        "of another worker",
    ),
    (
        waiting(2.66),
        [giant(99.5, 3.2, prefill_end_s=None, first_token_s=None, end_s=3.2, wasted_prefill_tokens=1_024)],
        {},
        "2.66 s before headers, while giant/0 prefilled 1,024 tokens",
        "it was cut in its prefill: not all of its prompt was read",
    ),
    (
        waiting(4.0),
        [giant(99.0, 4.0)],
        {},
        "4.00 s before headers, 3.00 s of them while giant/0 prefilled 4,096 tokens",
        "its seconds are those of the records",
    ),
    (
        waiting(2.0),
        [other("peers/0.0", 99.0, 2.2, 2.4), other("peers/0.1", 101.0, 0.9, 1.2)],
        {},
        "2.00 s before headers, while peers/0 and peers/1 prefilled 200 tokens",
        "two after each other",
    ),
    (
        waiting(3.0),
        [other(f"peers/0.{number}", 99.0, 4.0 - number / 10, 5.0) for number in (3, 4, 5, 6)],
        {},
        "3.00 s before headers, while peers/3 and 3 others prefilled 400 tokens",
        "four together: the longest",
    ),
    (
        waiting(2.0),
        [other("fixers/0.0", 98.0, 1.0, 6.0)],
        {},
        "2.00 s before headers, while the server was decoding for others and looked at its queue in bursts",
        "nobody was prefilled",
    ),
    (
        waiting(2.0),
        [giant(99.2, 1.6)],
        {},
        "2.00 s before headers, 0.80 s of them while giant/0 prefilled 4,096 tokens, the rest while others were being "
        "answered",
        "some of both",
    ),
    (
        waiting(2.0),
        [giant(90.0, 3.0)],
        {},
        "2.00 s before headers; no other turn was open: the server itself",
        "the giant was over",
    ),
    (
        waiting(2.0),
        [],
        {"is_shared": True},
        "2.00 s before headers; no other turn of ours was open: the server itself, or others who use it",
        "somebody else's server",
    ),
    (
        waiting(2.0),
        [giant(99.2, 1.0, last_token_s=1.5)],
        {},
        "unexplained: 2.00 s before headers",
        "0.2 s of prefill and half a second of an answer do not add up to two",
    ),
    (
        waiting(2.0),
        [giant(99.0, 1.0, headers_s=None, prefill_end_s=None, first_token_s=None, last_token_s=None, end_s=5.0)],
        {},
        "unexplained: 2.00 s before headers",
        "the other one waited too: that is no work",
    ),
    (
        waiting(12.0),
        [],
        {"notes": [{"event": "gap", "time": 111.5, "seconds": 11.0, "epoch": 2}]},
        "12.0 s before headers, as the server was started again",
        "a gap",
    ),
    (
        waiting(12.0),
        [giant(99.0, 20.0)],
        {"notes": [{"event": "slept", "time": 111.0, "seconds": 10.0}]},
        "12.0 s before headers, as the machine slept",
        "asleep",
    ),
    (
        turn("fixers/0.2", 100.0, **{**LONG, "computed_tokens": 14_000}),
        [],
        {},
        "its own 14k tokens took 9.10 s to prefill",
        "a long prompt",
    ),
    (
        turn("fixers/0.2", 100.0, **{**LONG, "computed_tokens": 14_000}),
        [],
        {"curve": CURVE},
        "its own 14k tokens took 9.10 s to prefill",
        "as the curve says",
    ),
    (
        turn("fixers/0.2", 100.0, **{**LONG, "prompt_tokens": 3_000, "computed_tokens": 3_000}),
        [giant(101.0, 7.0)],
        {"curve": CURVE},
        "its own 3,000 tokens took 9.10 s to prefill, as giant/0 prefilled 4,096 tokens beside it",
        "in one batch",
    ),
    (
        turn("fixers/0.2", 100.0, **{**LONG, "prompt_tokens": 3_000, "computed_tokens": 3_000}),
        [other("fixers/0.0", 98.0, 1.0, 20.0), other("fixers/0.1", 98.0, 1.0, 20.0)],
        {"curve": CURVE},
        "its own 3,000 tokens took 9.10 s to prefill (3.00 s on an idle server), as 2 other answers were written "
        "beside it",
        "between the tokens of others",
    ),
    (
        turn("fixers/0.2", 100.0, **{**LONG, "prompt_tokens": 3_000, "computed_tokens": 3_000}),
        [],
        {"curve": CURVE},
        "unexplained: its own 3,000 tokens took 9.10 s to prefill (3.00 s on an idle server)",
        "three times as slow, and nobody there",
    ),
    (
        turn("fixers/0.2", 100.0, **{**LONG, **READ_14K, "miss": "template", "miss_detail": "the bytes only grew"}),
        [],
        {},
        "read 14k tokens again in 9.10 s: the template writes its answer otherwise (the bytes only grew)",
        "a miss",
    ),
    (
        turn("fixers/0.2", 100.0, **{**LONG, **READ_14K, "miss": "first"}),
        [],
        {},
        "its own 14k tokens took 9.10 s to prefill",
        "first is none",
    ),
    (
        turn("fixers/0.2", 100.0, **{**LONG, **READ_14K, "cached_tokens": 14_900, "miss": "template"}),
        [],
        {},
        "its own 14k tokens took 9.10 s to prefill",
        "100 tokens are not what took so long",
    ),
    (
        turn("fixers/0.2", 100.0, headers_s=0.1, prefill_end_s=0.2, first_token_s=3.2),
        [giant(99.0, 3.5)],
        {},
        "3.00 s from its prefill to its first token, while giant/0 prefilled 4,096 tokens",
        "its first token waited",
    ),
    (
        turn("fixers/0.2", 100.0, headers_s=0.1, prefill_end_s=0.2, first_token_s=3.2, first_channel="tool_call"),
        [],
        {},
        "3.00 s in which a tool call was written, which is not streamed",
        "silence that is work",
    ),
    (
        turn("fixers/0.2", 100.0, headers_s=2.0, prefill_end_s=4.0, first_token_s=4.1),
        [giant(99.0, 4.0)],
        {},
        "2.00 s before headers, while giant/0 prefilled 4,096 tokens; its own 100 tokens took 2.00 s to prefill, as "
        "giant/0 prefilled 4,096 tokens beside it",
        "two parts, in their order",
    ),
    (
        turn("fixers/0.2", 100.0, outcome="first_token_timeout", end_s=300.0),
        [giant(99.0, 400.0)],
        {},
        "300 s before headers, while giant/0 prefilled 4,096 tokens",
        "it never had headers",
    ),
    (
        turn("fixers/0.2", 100.0, headers_s=5.0, first_token_s=5.0, end_s=5.0, streamed=False),
        [],
        {},
        "5.00 s before its answer; no other turn was open: the server itself",
        "an answer in one piece",
    ),
]


@pytest.mark.parametrize(("turn", "others", "known", "sentence", "remark"), CASES, ids=[case[-1] for case in CASES])
def test_the_worst_ttft(
    turn: TurnRecord, others: list[TurnRecord], known: Mapping[str, Any], sentence: str, remark: str
) -> None:
    quick = [turn_at(50.0 + place) for place in range(3)]
    cause = first(reasons.why([*quick, turn, *others], **known), entry=turn.entry)
    assert (cause.agent, cause.turn) == (turn.agent, turn.turn), remark
    assert cause.sentence == sentence, remark
    assert (cause.explained >= 0.7) is not sentence.startswith("unexplained"), remark
    assert sum(cause.parts.values()) == pytest.approx(cause.value.value), remark


def turn_at(at: float) -> TurnRecord:
    return turn("fixers/0.9", at, headers_s=0.01, prefill_end_s=0.02, first_token_s=0.03)


def test_without_the_giant_nobody_is_named() -> None:
    found = reasons.why([waiting(2.66)])
    assert "giant" not in first(found).sentence


def test_a_turn_is_no_neighbour_of_itself() -> None:
    found = reasons.why([giant(100.0, 3.0)])
    assert first(found, entry="giant").sentence == "its own 4,096 tokens took 3.00 s to prefill"


@pytest.mark.parametrize(
    ("entries", "wanted"),
    [(10, "evicted, 12 histories for 10 entries"), (None, "evicted (the cache holds 10 entries)")],
)
def test_evicted(entries: int | None, wanted: str) -> None:
    missed = turn(
        "fixers/0.2", 100.0, **{**LONG, **READ_14K, "miss": "evicted", "miss_detail": "the cache holds 10 entries"}
    )
    before = other("fixers/0.2", 80.0, 0.1, 1.0)
    since = [other(f"fixers/0.{number}", 85.0, 0.1, 1.0) for number in range(10, 21)]
    long_ago = [other(f"fixers/0.{number}", 60.0, 0.1, 1.0) for number in range(30, 40)]
    found = reasons.why([before, missed, *since, *long_ago], entries=entries)
    assert first(found).sentence == f"read 14k tokens again in 9.10 s: {wanted}"


@pytest.mark.parametrize(
    ("others", "sentence", "remark"),
    [
        ([giant(101.0, 2.4)], "a gap of 2.40 s in its answer, in which giant/0 prefilled 4,096 tokens", "within it"),
        ([], "a gap of 2.40 s in its answer; no other turn was open: the server itself", "alone"),
        ([giant(101.0, 0.5)], "unexplained: a gap of 2.40 s in its answer", "half a second is not 2.4"),
        ([giant(95.0, 5.0)], "unexplained: a gap of 2.40 s in its answer", "its prefill was over"),
    ],
)
def test_the_worst_stall(others: list[TurnRecord], sentence: str, remark: str) -> None:
    stalled = other("fixers/0.2", 100.0, 0.1, 5.0, stall_s=2.4)
    quick = other("fixers/0.1", 50.0, 0.1, 2.0, stall_s=0.1)
    assert first(reasons.why([quick, stalled, *others]), "stall").sentence == sentence, remark


@pytest.mark.parametrize(
    ("connect_s", "sentence"),
    [
        (0.4, None),
        (1.03, "connect took 1.03 s: the server's backlog"),
        (3.1, "connect took 3.10 s: the server's backlog"),
        (0.7, "unexplained: connect took 0.70 s"),
    ],
)
def test_connect(connect_s: float, sentence: str | None) -> None:
    found = reasons.why([waiting(0.1, connect_s=connect_s)])
    said = [cause.sentence for cause in found if cause.metric == "connect"]
    assert said == ([] if sentence is None else [sentence])


def test_warm_up_is_load_and_not_looked_at() -> None:
    warm, measured = waiting(9.0), turn("fixers/0.3", 200.0, headers_s=1.0, prefill_end_s=1.1, first_token_s=1.2)
    found = reasons.why([warm, measured, giant(199.0, 3.0)], measured=[measured])
    assert [cause.entry for cause in found if cause.metric == "ttft"] == ["fixers"]
    assert first(found).sentence == "1.00 s before headers, while giant/0 prefilled 4,096 tokens"


def test_canary_turns_are_load_and_nobody_waits_for_them() -> None:
    canary = giant(99.5, 3.2, kind="canary")
    found = reasons.why([waiting(2.66), canary])
    assert {cause.entry for cause in found} == {"fixers"}
    assert "giant/0 prefilled" in first(found).sentence


def test_no_turn_no_cause() -> None:
    assert reasons.why([]) == ()
    assert reasons.why([turn("fixers/0.1", 1.0, outcome="refused", sent_s=None)]) == ()


def test_lines() -> None:
    stalled = other("fixers/0.1", 50.0, 0.1, 2.0, stall_s=0.4)
    lines = why_lines.lines(reasons.why([stalled, waiting(2.66, connect_s=1.01, attempt=2), giant(99.5, 3.2)]))
    assert lines == [
        "why    fixers worst 2.70 s (agent 2, turn 9, attempt 2): 2.66 s before headers,",
        "       while giant/0 prefilled 4,096 tokens",
        "       fixers connect 1.01 s (agent 2, turn 9, attempt 2): connect took 1.01 s:",
        "       the server's backlog",
        "       giant worst 3.20 s (agent 0, turn 0): its own 4,096 tokens took 3.20 s to",
        "       prefill",
    ]
    assert why_lines.lines([]) == []


def test_curves_are_of_an_idle_server() -> None:
    assert isinstance(CURVE, Curve)
    assert CURVE.seconds(0, 3_000) == pytest.approx(3.0)
