"""What misses come to: by cause, in tokens, and in seconds on a curve."""

import json
from typing import Any

import pytest

from locust_agents import records
from locust_agents.forecast.prefill_curve import Curve
from locust_agents.misses import causes, totals
from locust_agents.misses.causes import Miss
from locust_agents.misses.totals import Total
from locust_agents.records import TurnRecord

# 1 ms for a token, and as much again at 1,000 tokens before it.
CURVE = Curve(((1, 1.0),), 0.001, 0.0000005)


def record(**values: Any) -> TurnRecord:
    return records.from_line(json.dumps({"outcome": "ok", "wall_time": 0.0, "end_s": 1.0, "profile": "p", **values}))


def missed(cause: str | None, cached: int = 0, expected: int = 1000, **values: Any) -> TurnRecord:
    sizes = {"cached_tokens": cached, "expected_tokens": expected, "prompt_tokens": 1200}
    return record(miss=cause, **sizes, **values)


def test_tokens_by_cause_the_most_first() -> None:
    turns = [missed("restart", 990), missed("evicted"), missed("evicted", 900), missed(None), missed("first", 10, 0)]
    assert list(totals.by_cause(turns).items()) == [
        ("first", Total(1, 1190, None)),
        ("evicted", Total(2, 1100, None)),
        ("restart", Total(1, 10, None)),
    ]


@pytest.mark.parametrize(
    ("turns", "wanted_s", "remark"),
    [
        ([missed("evicted")], 1.5, "from the start: 1 s, and half a second for looking back"),
        ([missed("evicted", 1000, 2000)], 2.5, "behind a thousand tokens that were there"),
        ([missed("evicted"), missed("evicted", 1000, 2000)], 4.0, "each by itself"),
    ],
)
def test_seconds_are_those_of_the_curve(turns: list[TurnRecord], wanted_s: float, remark: str) -> None:
    found = totals.by_cause(turns, CURVE)["evicted"]
    assert found.seconds == pytest.approx(wanted_s), remark


def test_what_a_record_s_miss_cost() -> None:
    assert totals.tokens(missed("evicted", 200)) == 800
    assert totals.tokens(missed("evicted", 2000)) == 0, "nothing is ever owed"
    assert totals.tokens(missed("first", 200)) == 1000, "of the whole prompt"
    assert totals.tokens(record(miss="evicted")) == 0, "nothing is known"


@pytest.mark.skipif("miss_tokens" not in TurnRecord.__slots__, reason="records do not have the field yet")
def test_a_record_s_own_count_goes_before_what_can_be_reckoned() -> None:
    twin = causes.marked(missed("first", 7, 0), Miss("not_stored_yet", "b was still prefilling the same start", 1490))
    assert (twin.miss, totals.tokens(twin)) == ("not_stored_yet", 1490)


def test_thrown_away_prefill_by_profile() -> None:
    turns = [
        record(wasted_prefill_tokens=size, profile=name) for size, name in [(5, "a"), (None, "a"), (9, "b"), (0, "c")]
    ]
    assert list(totals.wasted(turns).items()) == [("b", 9), ("a", 5)]


def test_what_a_cap_spared_the_others() -> None:
    turns = [record(outcome="capped", capped_tokens=3000, expected_tokens=expected) for expected in (1000, None, 9000)]
    found = totals.capped([*turns, record(capped_tokens=3000)], CURVE)
    assert found is not None
    assert (found.turns, found.tokens) == (3, 5000)
    assert found.seconds == pytest.approx(CURVE.seconds(1000, 2000) + CURVE.seconds(0, 3000))
    assert totals.capped([record()]) is None
