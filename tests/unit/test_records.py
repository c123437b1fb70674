"""A record is one line of JSON: what did not happen is null, and every field of the contract is there."""

import dataclasses
import json
from typing import Any

import pytest

from locust_agents import records
from locust_agents.outcome import Outcome
from locust_agents.records import TurnRecord

WHO = "schema run entry agent behaviour profile session turn parent kind attempt epoch worker replies"
WHEN = (
    "wall_time late_s connect_s sent_s headers_s first_progress_s prefill_end_s first_token_s first_channel "
    "first_answer_s last_token_s end_s stall_s tool_silence_s itl_hist loop_lag_s"
)
HOW_MUCH = (
    "chunks prompt_tokens cached_tokens expected_tokens computed_tokens completion_tokens request_bytes "
    "response_bytes miss"
)
HOW_IT_ENDED = "outcome finish_reason http_status error tool_calls"

REFUSED = TurnRecord(
    schema=1, run="r", entry="fixers", agent="fixers/0.0", behaviour="b", profile="opencode", session="s", turn=0,
    parent=None, kind="first", attempt=1, epoch=1, worker=0, replies="live", wall_time=1790000000.123456789,
    late_s=None, connect_s=None, sent_s=None, headers_s=None, first_progress_s=None, prefill_end_s=None,
    first_token_s=None, first_channel=None, first_answer_s=None, last_token_s=None, end_s=0.5, stall_s=None,
    tool_silence_s=None, itl_hist={}, loop_lag_s=None, chunks=0, prompt_tokens=None, cached_tokens=None,
    expected_tokens=None, computed_tokens=None, completion_tokens=None, request_bytes=0, response_bytes=0, miss=None,
    miss_detail=None, miss_tokens=None, wasted_prefill_tokens=None, capped_tokens=None,
    prefill_tokens_s=None, prefill_is_bound=False, outcome=Outcome.REFUSED, finish_reason=None, http_status=None,
    error="nobody listens", tool_calls=(0, 0), tool_call_kinds={}, no_call=None, reasoning_chunks=None, streamed=None,
)  # fmt: skip
ANSWERED = dataclasses.replace(
    REFUSED, wall_time=1790000000.25, late_s=0.001, connect_s=0.01, sent_s=0.02, headers_s=0.5, first_progress_s=1.0,
    prefill_end_s=1.5, first_token_s=2.0, first_channel="reasoning", first_answer_s=2.5, last_token_s=3.0, end_s=3.25,
    stall_s=0.25, tool_silence_s=0.125, itl_hist={0: 3, 487: 1}, loop_lag_s=0.0, chunks=5, prompt_tokens=30,
    cached_tokens=0, expected_tokens=0, computed_tokens=30, completion_tokens=6, request_bytes=400,
    response_bytes=900, miss="first", prefill_tokens_s=40.5, prefill_is_bound=True, outcome=Outcome.OK,
    finish_reason="stop", http_status=200, error=None, tool_calls=(2, 1), parent="p", kind="sub",
)  # fmt: skip
WORDY = dataclasses.replace(REFUSED, entry="né", error="one\ntwo\r\u2028three \U0001f600 \ud83d \x00", parent='"')


@pytest.mark.parametrize("group", [WHO, WHEN, HOW_MUCH, HOW_IT_ENDED], ids=["who", "when", "how much", "how it ended"])
def test_every_field_of_the_contract_is_in_a_line(group: str) -> None:
    line = json.loads(records.to_line(REFUSED))
    assert [name for name in group.split() if name not in line] == []


@pytest.mark.parametrize("record", [dataclasses.replace(REFUSED, wall_time=1.5), ANSWERED], ids=["refused", "answered"])
def test_a_record_is_the_same_after_a_round_trip(record: TurnRecord) -> None:
    assert records.from_line(records.to_line(record)) == record
    assert records.from_line(records.to_line(record).encode() + b"\n") == record


def test_what_did_not_happen_is_null_and_what_was_0_is_0() -> None:
    nothing, something = json.loads(records.to_line(REFUSED)), json.loads(records.to_line(ANSWERED))
    assert [name for name, value in nothing.items() if name.endswith("_s") and value is not None] == ["end_s"]
    assert [name for name, value in nothing.items() if name.endswith("_tokens") and value is not None] == []
    assert (something["cached_tokens"], something["expected_tokens"], something["loop_lag_s"]) == (0, 0, 0.0)


def test_times_are_kept_to_the_microsecond() -> None:
    assert json.loads(records.to_line(REFUSED))["wall_time"] == 1790000000.123457


@pytest.mark.parametrize("record", [REFUSED, ANSWERED, WORDY], ids=["refused", "answered", "wordy"])
def test_a_record_is_one_line_that_anybody_can_read(record: TurnRecord) -> None:
    line = records.to_line(record)
    assert len(line.splitlines()) == 1
    assert line.isascii()
    assert records.from_line(line).error == record.error


def changed(line: str, **values: Any) -> str:
    return json.dumps({**json.loads(line), **values})


def test_a_field_of_a_later_schema_is_left_out() -> None:
    assert records.from_line(changed(records.to_line(ANSWERED), schema=1, new_field={"a": 1})) == ANSWERED


def test_a_field_of_an_earlier_schema_is_unknown() -> None:
    line = json.loads(records.to_line(ANSWERED))
    for name in ("miss", "itl_hist", "tool_calls", "prefill_is_bound", "loop_lag_s"):
        del line[name]
    record = records.from_line(json.dumps(line))
    assert (record.miss, record.itl_hist, record.tool_calls, record.loop_lag_s) == (None, {}, (0, 0), None)
    assert record.prefill_is_bound is False


@pytest.mark.parametrize("line", ["", "{", "[]", "7", "null", '"text"', "{}", '{"outcome": "fine"}'])
def test_what_is_no_record_is_a_value_error(line: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        records.from_line(line)


def test_waits_count_from_the_last_byte_of_the_request() -> None:
    assert (ANSWERED.queue_s, ANSWERED.ttft_s) == (0.48, 1.98)
    assert (REFUSED.queue_s, REFUSED.ttft_s) == (None, None)
    assert not ANSWERED.is_failure
    assert REFUSED.is_failure
