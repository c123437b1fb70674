"""The figures of a run: a row for each kind of each entry, and what all turns say together."""

import dataclasses
import json
from typing import Any

import pytest

from locust_agents import records, summary
from locust_agents.answers import itl
from locust_agents.figures import Wait
from locust_agents.forecast.prefill_curve import through
from locust_agents.limits import parse_limit
from locust_agents.misses.totals import Total
from locust_agents.records import TurnRecord
from locust_agents.summary import Summary, summarise


def turn(entry: str = "fixers", kind: str = "later", **values: Any) -> TurnRecord:
    """An ok turn that was sent at 0 s, answered at 1 s and ended at 2 s."""
    base: dict[str, Any] = {"outcome": "ok", "run": "r", "wall_time": 100.0, "sent_s": 0.0, "headers_s": 0.5}
    base |= {"first_token_s": 1.0, "end_s": 2.0, "prompt_tokens": 100, "entry": entry, "kind": kind}
    return records.from_line(json.dumps({**base, **values}))


def test_a_row_for_each_kind_of_each_entry() -> None:
    turns = [turn(kind="compaction"), turn(), turn("giant", "first"), turn(kind="first"), turn(kind="side"), turn()]
    rows = summarise(turns).rows
    wanted = [("fixers", "first", 1), ("fixers", "later", 2), ("fixers", "side", 1), ("fixers", "compaction", 1)]
    assert [(row.entry, row.kind, row.turns) for row in rows] == [*wanted, ("giant", "first", 1)]


def test_entries_stand_in_the_order_of_their_first_turns() -> None:
    turns = [turn("late", wall_time=50.0), turn("early", wall_time=10.0), turn("late", wall_time=5.0)]
    assert [row.entry for row in summarise(turns).rows] == ["late", "early"]


def test_a_row() -> None:
    turns = [turn(prompt_tokens=size, first_token_s=size / 100, end_s=9.0) for size in (100, 200, 300)]
    turns += [turn(outcome="first_token_timeout", first_token_s=None, headers_s=None, end_s=30.0, prompt_tokens=None)]
    turns += [turn(cached_tokens=45, expected_tokens=50)]
    (row,) = summarise(turns).rows
    assert (row.turns, row.failures, row.reuse) == (5, 1, 0.9)
    assert (row.prompt_p50, row.prompt_max) == (Wait(100), Wait(300))
    assert (row.ttft_p50, row.ttft_p95, row.ttft_max) == (Wait(2.0), None, Wait(30.0, True))
    assert (row.queue_p95, row.queue_max) == (None, Wait(30.0, True))


def test_p95_is_stated_from_twenty_turns_on() -> None:
    assert summarise([turn()] * 19).rows[0].ttft_p95 is None
    assert summarise([turn()] * 20).rows[0].ttft_p95 == Wait(1.0)
    assert summarise([turn()] * 20).rows[0].queue_p95 == Wait(0.5)


def test_what_all_turns_say_together() -> None:
    speeds: dict[str, Any] = {"last_token_s": 2.0, "completion_tokens": 11, "prefill_tokens_s": 50.0}
    speeds |= {"first_progress_s": 0.6, "prefill_end_s": 0.9, "stall_s": 0.25, "loop_lag_s": 0.003}
    turns = [
        turn(**speeds, itl_hist={itl.bucket(0.01): 99}, tool_calls=[2, 1]),
        turn("giant", wall_time=110.0, **(speeds | {"completion_tokens": 21}), itl_hist={itl.bucket(0.5): 1}),
        turn(outcome="cut", stall_s=9.0, wall_time=112.0, end_s=3.0, prompt_tokens=None, tool_calls=[1, 0]),
    ]
    found = summarise(turns)
    assert (found.run, found.turns, found.seconds) == ("r", 3, 15.0)
    assert found.outcomes == {"ok": 2, "cut": 1}
    assert (found.tool_calls, found.bad_tool_calls) == (3, 1)
    assert (found.decode_each, found.decode_all) == (Wait(10.0), 15.0)
    assert found.itl_p50_s == pytest.approx(0.01, rel=0.01)
    assert found.itl_p99_s == pytest.approx(0.01, rel=0.01)
    assert (found.stall_max, found.loop_lag_p99) == (Wait(0.25), Wait(0.003))
    assert (found.prefill, found.prefill_is_bound) == (Wait(50.0), False)


@pytest.mark.parametrize(
    ("turns", "wanted", "remark"),
    [
        ([turn()], (None, False), "nothing is known"),
        ([turn(prefill_tokens_s=s, prefill_is_bound=True) for s in (9.0, 5.0)], (Wait(9.0), True), "the best bound"),
        ([turn(prefill_tokens_s=9.0, prefill_is_bound=True, outcome="cut")], (None, False), "of ok turns"),
        (
            [
                turn(prefill_tokens_s=9.0, prefill_is_bound=True),
                turn(prefill_tokens_s=5.0, first_progress_s=0.1, prefill_end_s=0.2),
            ],
            (Wait(5.0), False),
            "a measured speed is better than a bound",
        ),
    ],
)
def test_prefill(turns: list[TurnRecord], wanted: tuple[Wait | None, bool], remark: str) -> None:
    found = summarise(turns)
    assert (found.prefill, found.prefill_is_bound) == wanted, remark


def test_a_run_without_a_turn_is_a_summary_of_nothing() -> None:
    found = summarise([], [parse_limit("ttft.max", "2s", ())])
    unknown = {field.name for field in dataclasses.fields(Summary) if getattr(found, field.name) is None}
    waits = {"decode_each", "decode_all", "itl_p50_s", "itl_p99_s", "stall_max", "prefill", "loop_lag_p99"}
    assert unknown == waits | {"no_call", "thinking", "reuse", "capped", "window", "late", "answers", "clumped"}
    assert (found.turns, found.seconds, found.rows, found.outcomes) == (0, 0.0, (), {})
    assert [judgement.held for judgement in found.judgements] == [None]


def test_a_summary_is_json() -> None:
    made = summarise([turn(), turn(outcome="reset")], [parse_limit("ttft.max", "2s", ())])
    read = json.loads(json.dumps(dataclasses.asdict(made)))
    assert read["outcomes"] == {"ok": 1, "reset": 1}
    assert read["judgements"][0]["limit"]["key"] == "ttft.max"


def test_what_was_read_again_thrown_away_and_spared() -> None:
    missed: dict[str, Any] = {"cached_tokens": 1000, "expected_tokens": 3000, "prompt_tokens": 4000, "miss": "evicted"}
    turns = [
        turn(**missed),
        turn(outcome="abandoned", profile="cline", wasted_prefill_tokens=512),
        turn(outcome="capped", capped_tokens=2000, expected_tokens=1000, prompt_tokens=None),
        turn(tool_call_kinds={"not_json": 1}, no_call=True, reasoning_chunks=5, chunks=20),
    ]
    found = summarise(turns, curve=through([(1000, 1.0)]))
    assert found.misses == {"evicted": Total(1, 2000, 2.0)}
    assert found.wasted_prefill == {"cline": 512}
    assert found.capped == Total(1, 1000, 1.0)
    assert (found.tool_call_kinds, found.no_call, found.thinking) == ({"not_json": 1}, 1.0, 0.25)
    assert found.reuse == (0.25, 0.75)
    assert json.loads(json.dumps(dataclasses.asdict(found)))["misses"] == {
        "evicted": {"turns": 1, "tokens": 2000, "seconds": 2.0}
    }
    assert summarise(turns).misses == {"evicted": Total(1, 2000, None)}


def test_for_each_limit_the_entry_that_did_worst() -> None:
    limits = [parse_limit(key, bound, ()) for key, bound in (("ttft.max", "5s"), ("failures", "0%"), ("reuse", "95%"))]
    turns = [
        turn("a", first_token_s=3.0, cached_tokens=99, expected_tokens=100),
        turn("b", first_token_s=4.0, cached_tokens=97, expected_tokens=100),
        turn("c", first_token_s=1.0, outcome="stalled"),
    ]
    found = summary.worst(summarise(turns, limits).judgements)
    assert [(one.limit.key, one.entry, one.held) for one in found] == [
        ("ttft.max", "b", True),
        ("failures", "c", False),
        ("reuse", "b", True),
    ]


def test_an_entry_whose_wait_never_ended_hides_behind_none_that_held() -> None:
    turns = [turn("a", first_token_s=3.0), turn("b", first_token_s=None, end_s=2.0, outcome="cut")]
    (found,) = summary.worst(summarise(turns, [parse_limit("ttft.max", "5s", ())]).judgements)
    assert (found.entry, found.held) == ("b", None)


def test_an_entry_without_a_turn_to_judge_hides_behind_one_that_held() -> None:
    turns = [turn("a", kind="later", cached_tokens=99, expected_tokens=100), turn("b", kind="first")]
    (found,) = summary.worst(summarise(turns, [parse_limit("later.reuse", "95%", ())]).judgements)
    assert (found.entry, found.held) == ("a", True)
