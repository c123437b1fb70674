"""Figures that are kept up while a run goes on: after each turn, they are those of all turns gone through again."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from locust_agents import breach_so_far, records, trust, verdict, verdict_so_far, window
from locust_agents.answers import itl
from locust_agents.breach_so_far import BreachSoFar
from locust_agents.limits import METRICS, Limit, parse_limit
from locust_agents.records import TurnRecord
from locust_agents.setting import Setting
from locust_agents.trust import Witness
from locust_agents.trust_so_far import TrustSoFar
from locust_agents.window_so_far import Measuring

BEGAN = 1000.0
GAPS = (0, itl.bucket(0.0003), itl.bucket(0.02), itl.bucket(2.0))
# Few values, so that many are equal, and some stand on a bound.
TENTHS = [place / 10 for place in range(12)]
KINDS = ("first", "later", "later", "later", "side", "canary")
OUTCOMES = ("ok", "ok", "ok", "ok", "cut", "abandoned", "capped", "stalled", "refused")


def turns(seed: int, number: int) -> list[TurnRecord]:
    """As they end: the attempts of each turn in their order, and now and then a long turn that started early."""
    draw = random.Random(seed)
    found = [one for place in range(number) for one in _tries(draw, place)]
    return sorted(found, key=lambda one: one.wall_time + one.end_s)


def _tries(draw: random.Random, place: int) -> Iterator[TurnRecord]:
    at_s, kind, entry = draw.randrange(60) / 2, draw.choice(KINDS), draw.choice("ab")
    lasts_s = draw.choice((0.1, 0.1, 0.5, 1.0, 2.0, 25.0))
    tries = draw.choice((1, 1, 1, 3))
    outcomes = OUTCOMES if tries == 1 else [one for one in OUTCOMES if one != "capped"]  # which is never tried again
    for attempt in range(1, tries + 1):
        who = {
            "outcome": draw.choice(outcomes),
            "entry": entry,
            "kind": kind,
            "session": f"{entry}{place}",
            "turn": 0,
            "attempt": attempt,
        }
        yield _turn(draw, at_s, lasts_s, who)
        at_s += lasts_s + draw.choice((0.0, 5.0))


def _turn(draw: random.Random, at_s: float, lasts_s: float, who: dict[str, Any]) -> TurnRecord:
    def maybe(values: list[float]) -> float | None:
        return draw.choice([None, *values])

    told: dict[str, Any] = {
        "wall_time": BEGAN + at_s,
        "end_s": lasts_s,
        "sent_s": maybe([0.0, 0.0, 0.1]),
        "loop_lag_s": maybe(TENTHS) if draw.random() < 0.996 else 9.0,
        "late_s": maybe(TENTHS) if draw.random() < 0.996 else 9.0,
        **{name: maybe(TENTHS) for name in ("connect_s", "headers_s", "first_token_s", "first_answer_s", "stall_s")},
        "last_token_s": maybe([2.0, 3.0]),
        "completion_tokens": draw.choice([None, 11, 21]),
        "prefill_tokens_s": maybe([500.0, 1000.0, 2000.0]),
        "prefill_is_bound": draw.random() < 0.2,
        "cached_tokens": draw.choice([None, 0, 5, 10, 20]),
        "expected_tokens": draw.choice([None, 0, 10]),
        "canary": draw.choice([None, "right", "wrong"]) if who["kind"] == "canary" else None,
        "same": draw.choice([None, True, False]) if who["kind"] == "canary" else None,
        "itl_hist": {gap: draw.randrange(1, 30) for gap in draw.sample(GAPS, draw.randrange(3))},
    }
    return records.from_line(json.dumps({"run": "r", "agent": "a/0.0", **told, **who}))


# remark, what is known of the run
SETTINGS: list[tuple[str, Setting]] = [
    ("no warm-up", Setting(BEGAN)),
    ("a time", Setting(BEGAN, warm_up_s=8.0)),
    ("a time, and nobody knows when it began", Setting(warm_up_s=8.0)),
    ("one turn", Setting(BEGAN, warm_up_turns=1)),
    ("many turns", Setting(BEGAN, warm_up_turns=30)),
    ("more than there are", Setting(BEGAN, warm_up_turns=900)),
    ("a clock", Setting(BEGAN, due={"a": [0.0, 1.0]}, clocked=frozenset("a"))),
]
each_setting = pytest.mark.parametrize("setting", [pytest.param(setting, id=remark) for remark, setting in SETTINGS])


@each_setting
def test_the_same_turns_are_measured(setting: Setting) -> None:
    for seed in range(8):
        taken, live, so_far = turns(seed, 60), Measuring(setting), list[TurnRecord]()
        for number, record in enumerate(taken, 1):
            so_far += live.take(record)
            wanted = window.measured(taken[:number], setting)
            assert sorted(map(id, so_far)) == sorted(map(id, wanted))


@each_setting
def test_trust_so_far_is_the_trust_of_all(setting: Setting) -> None:
    limits = [parse_limit("itl.p99", "100ms", ()), parse_limit("ttft.max", "1s", ())]
    witness = Witness(cpu=0.95, cpu_s=20.0, missing=(1, 4), lost=2, slept="the machine slept")
    doubted = set()
    for seed in range(8):
        taken, live = turns(seed, 200), TrustSoFar(setting)
        for number, record in enumerate(taken, 1):
            live.take(record)
            if number % 7 == 0 or number == len(taken):
                found = live.told(None, limits, witness)
                assert found == trust.of(taken[:number], setting, limits, witness)
                doubted.add(len(found.doubts))
    assert len(doubted) > 1 or setting.warm_up_turns == 900, "some were told of more than others"


def test_what_was_cut_at_the_end_is_known_when_the_end_is() -> None:
    for seed in range(20):
        taken, live = turns(seed, 60), TrustSoFar(Setting(BEGAN))
        for record in taken:
            live.take(record)
        assert live.told().cut == 0
        for until in (BEGAN, BEGAN + 12.5, BEGAN + 20.0):
            assert live.told(until) == trust.of(taken, Setting(BEGAN, until))


def test_the_worst_lag() -> None:
    live = TrustSoFar(Setting(BEGAN))
    assert live.worst_lag_s is None
    taken = [record for record in turns(1, 150) if record.kind != "canary"]
    for record in taken:
        live.take(record)
    assert live.worst_lag_s == max(record.loop_lag_s for record in taken if record.loop_lag_s is not None)


def _limits() -> list[Limit]:
    """Every metric with every statistic, at bounds that some values are on."""
    bounds = {"s": ("1ms", "300ms", "700ms", "2s"), "tok/s": ("6", "700", "1500"), "share": ("0%", "50%", "90%")}
    return [
        parse_limit(f"{front}{name}{stat and '.'}{stat}", bound, ("a", "b"))
        for front in ("", "a.later.", "b.canary.")
        for name, metric in METRICS.items()
        for stat in metric.stats or ("",)
        for bound in bounds[metric.unit]
    ]


def test_a_limit_is_broken_as_soon_as_it_is_judged_broken() -> None:
    broken, all_turns = set(), turns(3, 260)
    for limit in _limits():
        entry = limit.entry or "a"
        taken, tally = [one for one in all_turns if verdict.is_meant(limit, entry, one)], verdict_so_far.tally(limit)
        for number, record in enumerate(taken, 1):
            tally.take(record)
            if number in (1, 2, 5, 19, 20, 21, 40, 60, 110, 140, len(taken)):
                judged = next(one for one in verdict.judge([limit], taken[:number]) if one.entry == entry)
                assert tally.is_broken() is (judged.held is False) or _is_at_its_bound(limit, judged), (limit, number)
                broken.add((limit.metric, limit.stat, tally.is_broken()))
    every = {(name, stat) for name, metric in METRICS.items() for stat in metric.stats or (None,)}
    assert broken == {(*one, is_broken) for one in every for is_broken in (True, False)}, "each was held by some"


def _is_at_its_bound(limit: Limit, judged: verdict.Judgement) -> bool:
    """Then the look at all says whether it is broken."""
    return limit.stat == "mean" and judged.value is not None and judged.value.value == pytest.approx(limit.bound)


@each_setting
def test_a_run_ends_early_with_the_same_turn(setting: Setting) -> None:
    ended, chosen = [], _limits()
    for seed in range(12):
        limits = random.Random(seed).sample(chosen, 3)
        taken, live = turns(seed, 90), BreachSoFar(limits, setting)
        for number, record in enumerate(taken, 1):
            live.take([record])
            found = breach_so_far.found(limits, taken[:number], setting)
            assert live.is_likely() or found is None
            if live.is_likely():
                assert found is not None or any(limit.stat == "mean" for limit in limits)
            if found is not None:
                ended.append(number)
                break
    assert ended or setting.warm_up_turns == 900


# remark, the limit, how many turns keep it and how many then do not, whether the run ends
ENDS: list[tuple[str, str, int, int, bool]] = [
    ("a worst value cannot be made good again", "ttft.max: 500ms", 0, 1, True),
    ("nor a failure where none is allowed", "failures: 0%", 3, 1, True),
    ("a share may come back to its side of the bound", "failures: 10%", 0, 19, False),
    ("not of enough turns", "failures: 10%", 0, 20, True),
    ("a percentile of too few", "ttft.p50: 500ms", 9, 10, False),
    ("a percentile of enough", "ttft.p50: 500ms", 9, 11, True),
    ("all is well", "ttft.max: 500ms", 30, 0, False),
]


@pytest.mark.parametrize(("limit", "good", "bad", "ends"), [pytest.param(*row[1:], id=row[0]) for row in ENDS])
def test_what_ends_a_run(limit: str, good: int, bad: int, ends: bool) -> None:
    key, _, bound = limit.partition(": ")
    limits, live = [parse_limit(key, bound, ())], BreachSoFar([parse_limit(key, bound, ())], Setting(BEGAN))
    kept = [_plain(place, first_token_s=0.5) for place in range(good)]
    taken = [*kept, *(_plain(good + place, outcome="stalled", first_token_s=0.6) for place in range(bad))]
    live.take(taken)
    assert live.is_likely() is (breach_so_far.found(limits, taken, Setting(BEGAN)) is not None) is ends


def _plain(turn: int, **told: Any) -> TurnRecord:
    who = {"run": "r", "entry": "a", "agent": "a/0.0", "session": "s", "turn": turn, "kind": "later", "attempt": 1}
    return records.from_line(
        json.dumps({"outcome": "ok", "wall_time": BEGAN, "sent_s": 0.0, "end_s": 2.0, **who, **told})
    )
