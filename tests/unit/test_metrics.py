"""What is measured of which turns: waits of every turn sent, speeds of those that ended well."""

import json
from typing import Any

import pytest

from locust_agents import metrics, records
from locust_agents.answers import itl
from locust_agents.figures import Wait
from locust_agents.limits import METRICS
from locust_agents.outcome import Outcome
from locust_agents.records import TurnRecord


def record(**values: Any) -> TurnRecord:
    """An ok turn that was sent at 1 s and ended at 11 s; nothing else is known of it."""
    return records.from_line(json.dumps({"outcome": "ok", "wall_time": 0.0, "sent_s": 1.0, "end_s": 11.0, **values}))


NEVER_SENT = record(outcome="refused", sent_s=None, end_s=0.1)
FAILURES = [outcome for outcome in Outcome if outcome.is_failure]
OUR_DOING = ["cut", "abandoned", "capped"]


@pytest.mark.parametrize(
    ("metric", "turn", "wanted", "remark"),
    [
        ("ttft", record(first_token_s=3.0), Wait(2.0), "from the request's last byte"),
        ("ttft", record(outcome="first_token_timeout"), Wait(10.0, True), "more than it waited"),
        ("ttft", record(outcome="cut"), Wait(10.0, True), "the run's end does not make it shorter"),
        ("ttft", record(outcome="stalled", first_token_s=3.0), Wait(2.0), "it failed later"),
        ("ttft", record(outcome="http_error"), Wait(10.0, True), "a refusal is no token"),
        ("ttft", NEVER_SENT, None, "nobody waited for an answer"),
        ("ttft", record(outcome="capped", sent_s=None), None, "never sent"),
        ("queue", record(headers_s=1.5), Wait(0.5), "from sent to headers"),
        ("queue", record(outcome="reset"), Wait(10.0, True), "no headers came"),
        ("queue", NEVER_SENT, None, "never in the queue"),
        ("queue", record(headers_s=9.0, streamed=False), None, "headers of a whole answer come with it"),
        ("queue", record(outcome="first_token_timeout", streamed=False), None, "nor does their absence tell"),
        ("first_answer", record(first_token_s=2.0, first_answer_s=5.0), Wait(4.0), "after the reasoning"),
        ("first_answer", record(outcome="cut", first_token_s=2.0), Wait(10.0, True), "cut while it was thinking"),
        (
            "first_answer",
            record(outcome="no_answer", first_token_s=2.0),
            None,
            "it ended, and there was none to wait for",
        ),
        ("first_answer", record(outcome="tool_call_lost"), Wait(10.0, True), "the call that was meant never came"),
        ("connect", record(connect_s=0.2), Wait(0.2), "of the turn"),
        ("connect", record(outcome="connect_timeout", sent_s=None), None, "there was no connection"),
        ("prompt", record(prompt_tokens=30), Wait(30), "as the server counts"),
        ("prompt", record(), None, "unknown is no 0"),
        ("prompt", record(outcome="capped", prompt_tokens=90_000), None, "never sent"),
        ("turn", record(), Wait(11.0), "the whole turn"),
        ("stall", record(stall_s=2.0), Wait(2.0), "the longest gap"),
        ("stall", record(), None, "one token has no gap"),
        ("prefill", record(prefill_tokens_s=50.0), Wait(50.0), "the slope"),
        ("prefill", record(prefill_tokens_s=50.0, prefill_is_bound=True), None, "a bound is no speed"),
        ("decode", record(first_token_s=2.0, last_token_s=4.0, completion_tokens=21), Wait(10.0), "gaps, not tokens"),
        ("decode", record(first_token_s=2.0, last_token_s=4.0), None, "without usage"),
        ("decode", record(first_token_s=2.0, last_token_s=2.0, completion_tokens=1), None, "one token"),
        (
            "decode",
            record(
                first_channel="tool_call", prefill_end_s=2.0, first_token_s=6.0, last_token_s=6.0, completion_tokens=40
            ),
            Wait(10.0),
            "a call alone was generated since the prefill's end",
        ),
        (
            "decode",
            record(first_channel="tool_call", first_token_s=6.0, last_token_s=6.001, completion_tokens=40),
            None,
            "two calls at once are not 40,000 tokens a second",
        ),
    ],
)
def test_waits(metric: str, turn: TurnRecord, wanted: Wait | None, remark: str) -> None:
    assert metrics.waits([turn], metric) == ([] if wanted is None else [wanted]), remark


ANSWERED = {"headers_s": 1.5, "first_token_s": 2.0, "first_answer_s": 2.0, "last_token_s": 4.0, "stall_s": 1.0}
COUNTED = {"completion_tokens": 21, "prefill_tokens_s": 9.0, "first_progress_s": 1.6, "prefill_end_s": 1.9}


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.OK])
@pytest.mark.parametrize("metric", ["stall", "turn", "decode", "prefill"])
def test_speeds_are_of_ok_turns(metric: str, outcome: Outcome) -> None:
    ok, other = record(**ANSWERED, **COUNTED), record(outcome=outcome, **ANSWERED, **COUNTED)
    assert len(metrics.waits([ok, other], metric)) == 1


@pytest.mark.parametrize("outcome", list(Outcome))
@pytest.mark.parametrize("metric", ["ttft", "queue", "first_answer"])
def test_waits_are_of_every_turn_sent(metric: str, outcome: Outcome) -> None:
    assert metrics.waits([record(outcome=outcome, **ANSWERED)], metric) != []


def test_every_limit_has_its_measure() -> None:
    of_one_turn = set(METRICS) - {"itl", "reuse", "failures"}
    assert [metrics.waits([], metric) for metric in of_one_turn] == [[]] * len(of_one_turn)


def test_gaps_are_of_ok_turns() -> None:
    bucket = itl.bucket(0.02)
    turns = [record(itl_hist={bucket: 2}), record(itl_hist={bucket: 1, 0: 4}), record(outcome="cut", itl_hist={0: 9})]
    assert metrics.gaps(turns) == {bucket: 3, 0: 4}


@pytest.mark.parametrize(
    ("pairs", "wanted", "remark"),
    [
        ([], None, "no turn"),
        ([(None, 50)], None, "the server reports none"),
        ([(0, None), (9, 0)], None, "nothing was expected"),
        ([(45, 50)], 0.9, "of one turn"),
        ([(0, 100), (100, 100), (None, 900)], 0.5, "of those that are known"),
        ([(100, 100), (0, 300)], 0.25, "long prompts weigh more"),
        ([(60, 50)], 1.0, "more than was expected is all of it"),
        ([(200, 100), (0, 100)], 0.5, "and makes up for no other's miss"),
    ],
)
def test_reuse(pairs: list[tuple[int | None, int | None]], wanted: float | None, remark: str) -> None:
    turns = [record(cached_tokens=cached, expected_tokens=expected) for cached, expected in pairs]
    assert metrics.reuse(turns) == wanted, remark


@pytest.mark.parametrize(
    ("sizes", "wanted", "remark"),
    [
        ([], None, "no turn"),
        ([(None, 50, 100)], None, "the server does not say what it found"),
        ([(50, None, 100)], None, "nobody knows what it could have found"),
        ([(50, 60, None)], None, "of an unknown whole"),
        ([(0, 0, 0)], None, "of nothing"),
        ([(45, 50, 100)], (0.45, 0.5), "of one turn"),
        ([(0, 0, 300), (90, 90, 100)], (0.225, 0.225), "a first turn finds nothing, and could not"),
        ([(80, 50, 100)], (0.8, 0.8), "what was found could have been found"),
    ],
)
def test_reuse_of_all_prompt_tokens(
    sizes: list[tuple[int | None, int | None, int | None]], wanted: tuple[float, float] | None, remark: str
) -> None:
    turns = [record(cached_tokens=cached, expected_tokens=want, prompt_tokens=size) for cached, want, size in sizes]
    assert metrics.reuse_of_all(turns) == wanted, remark


@pytest.mark.parametrize(
    ("said", "wanted"), [([], None), ([None], None), ([True, None, False, False, False], 0.25), ([False], 0.0)]
)
def test_no_call_is_a_share_of_the_turns_that_one_was_expected_of(
    said: list[bool | None], wanted: float | None
) -> None:
    assert metrics.no_call([record(no_call=one) for one in said]) == wanted


@pytest.mark.parametrize(
    ("turns", "wanted", "remark"),
    [
        ([], None, "no turn"),
        ([record(chunks=10)], None, "an older record, or no stream"),
        ([record(chunks=10, reasoning_chunks=0)], 0.0, "no reasoning"),
        ([record(chunks=10, reasoning_chunks=5)], 0.5, "by deltas, where no usage came"),
        ([record(chunks=10, reasoning_chunks=5, completion_tokens=50)], 0.1, "a tool call is one delta of 41 tokens"),
        (
            [record(chunks=10, reasoning_chunks=5), record(chunks=90, reasoning_chunks=5)],
            0.1,
            "long answers weigh more",
        ),
        ([record(chunks=10, reasoning_chunks=5, outcome="cut")], None, "of ok turns"),
        ([record(chunks=0, reasoning_chunks=0)], None, "nothing was written"),
    ],
)
def test_the_share_of_thinking(turns: list[TurnRecord], wanted: float | None, remark: str) -> None:
    assert metrics.thinking(turns) == wanted, remark


def test_failures_leave_out_what_we_ended_ourselves() -> None:
    ours = [record(outcome=outcome) for outcome in OUR_DOING]
    assert metrics.failures([]) is None
    assert metrics.failures(ours) is None
    assert metrics.failures([*ours, record()]) == 0.0
    assert metrics.failures([*ours, record(), record(outcome="reset")]) == 0.5


@pytest.mark.parametrize("outcome", FAILURES)
def test_every_failure_counts(outcome: Outcome) -> None:
    assert metrics.failures([record(outcome=outcome)]) == 1.0


def prefill(tokens_s: float, seconds: float, **more: Any) -> TurnRecord:
    return record(prefill_tokens_s=tokens_s, first_progress_s=2.0, prefill_end_s=2.0 + seconds, **more)


@pytest.mark.parametrize(
    ("turns", "wanted", "remark"),
    [
        ([], None, "no turn"),
        ([prefill(100.0, 4.0)], 100.0, "one"),
        ([prefill(100.0, 3.0), prefill(500.0, 1.0)], 200.0, "1 token/s more for 4 s weighs as 4 for 1 s"),
        ([prefill(100.0, 1.0), prefill(900.0, 1.0, prefill_is_bound=True)], 100.0, "a bound is left out"),
        ([prefill(100.0, 1.0), prefill(900.0, 1.0, outcome="stalled")], 100.0, "so is a turn that is not ok"),
        ([prefill(100.0, 0.0)], None, "no time, no speed"),
        ([record(prefill_tokens_s=100.0)], None, "it did not end"),
    ],
)
def test_prefill_of_all(turns: list[TurnRecord], wanted: float | None, remark: str) -> None:
    assert metrics.prefill_all(turns) == wanted, remark


def decode(start_s: float, end_s: float, tokens: int | None, wall_time: float = 0.0, **more: Any) -> TurnRecord:
    return record(wall_time=wall_time, first_token_s=start_s, last_token_s=end_s, completion_tokens=tokens, **more)


@pytest.mark.parametrize(
    ("turns", "wanted", "remark"),
    [
        ([], None, "no turn"),
        ([decode(2.0, 4.0, 21)], 10.0, "one"),
        ([decode(2.0, 4.0, 21), decode(2.0, 4.0, 21)], 20.0, "two at once"),
        (
            [decode(2.0, 4.0, 21), decode(2.0, 4.0, 21, wall_time=100.0)],
            10.0,
            "one after the other: pauses do not count",
        ),
        ([decode(2.0, 4.0, 21), decode(2.0, 4.0, 21, outcome="cut")], 10.0, "of ok turns"),
        ([decode(2.0, 4.0, None)], None, "without usage"),
        (
            [decode(6.0, 6.0, 40, first_channel="tool_call", prefill_end_s=2.0)],
            10.0,
            "a call alone was generated since the prefill's end",
        ),
    ],
)
def test_decode_of_all(turns: list[TurnRecord], wanted: float | None, remark: str) -> None:
    assert metrics.decode_all(turns) == wanted, remark
