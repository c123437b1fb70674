"""Two runs against each other, on generated records with fixed seeds: what differs is found, and noise is not."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from locust_agents import records
from locust_agents.compare import comparing
from locust_agents.compare.comparing import Comparison, Figure
from locust_agents.figures import Wait
from locust_agents.records import TurnRecord

ROUNDS = 199
"""Enough to tell one in twenty; a command draws five times as often."""


def turn(**values: Any) -> TurnRecord:
    base = {"outcome": "ok", "entry": "fixers", "kind": "later", "agent": "fixers/0.0", "session": "fixers/0.0#0"}
    return records.from_line(json.dumps({**base, "turn": 1, "attempt": 1, "wall_time": 0.0, "sent_s": 0.0, **values}))


def waited(ttft_s: float, **values: Any) -> TurnRecord:
    return turn(first_token_s=ttft_s, first_answer_s=ttft_s, headers_s=0.2 * ttft_s, end_s=ttft_s + 1.0, **values)


def run(noise: int, sessions: int = 20, turns: int = 10, slower: float = 1.0, work: int = 1) -> list[TurnRecord]:
    """Sessions that differ in their work, which depends on `work` alone, and noise of turns and of sessions."""
    of_work, rng = Random(work), Random(noise)
    return [
        one
        for number in range(sessions)
        for one in _session(number, turns, of_work.lognormvariate(0, 0.3), slower * rng.lognormvariate(0, 0.04), rng)
    ]


def _session(number: int, turns: int, work: float, slower: float, rng: Random) -> list[TurnRecord]:
    who = {"agent": f"fixers/0.{number % 4}", "session": f"fixers/0.{number % 4}#{number // 4}"}
    return [_turn(place, work * slower * rng.lognormvariate(0, 0.15), rng, who) for place in range(turns)]


def _turn(place: int, factor: float, rng: Random, who: dict[str, str]) -> TurnRecord:
    ttft_s = 0.2 * (1 + 0.2 * place) * factor
    tokens = 500 * (place + 1)
    return waited(
        ttft_s,
        **who,
        turn=place,
        outcome="ok" if rng.random() > 0.02 else "stalled",
        stall_s=0.1 * rng.lognormvariate(0, 0.5),
        completion_tokens=20,
        last_token_s=ttft_s + rng.lognormvariate(0, 0.2),
        prompt_tokens=tokens,
        expected_tokens=tokens - 400,
        cached_tokens=tokens - 400 if rng.random() > 0.1 else 0,
        itl_hist={str(round(470 + rng.gauss(0, 20))): 15},
    )


def sessions_of(of: Sequence[TurnRecord]) -> dict[str, list[TurnRecord]]:
    found: dict[str, list[TurnRecord]] = {}
    for record in of:
        found.setdefault(record.session, []).append(record)
    return found


def resampled(of: Sequence[TurnRecord], rng: Random) -> list[TurnRecord]:
    """As many sessions with replacement, each in the place of one that there was."""
    sessions = sessions_of(of)
    drawn = {name: rng.choice(list(sessions.values())) for name in sessions}
    return [replace(one, agent=name.partition("#")[0], session=name) for name, turns in drawn.items() for one in turns]


def renamed(of: Sequence[TurnRecord]) -> list[TurnRecord]:
    return [replace(record, agent=f"x{record.agent}", session=f"x{record.session}") for record in of]


def differing(found: Comparison) -> list[Figure]:
    return [figure for figure in found.figures if figure.word in ("worse", "better")]


def figure(found: Comparison, metric: str, stat: str | None, kind: str | None = "later") -> Figure:
    return next(one for one in found.figures if (one.metric, one.stat, one.kind) == (metric, stat, kind))


def test_a_run_against_itself_is_no_other() -> None:
    a = run(1)
    found = comparing.compare(a, a, rounds=ROUNDS)
    assert differing(found) == []
    assert {one.change for one in found.figures} <= {0.0, None}


AGAIN: list[tuple[str, Callable[[int], tuple[list[TurnRecord], list[TurnRecord]]]]] = [
    ("sessions drawn from it", lambda seed: (run(seed), resampled(run(seed), Random(seed)))),
    ("turns drawn from it", lambda seed: (run(seed), Random(seed).choices(run(seed), k=200))),
    ("the same work once more", lambda seed: (run(seed), run(seed + 100))),
    ("other work, under other names", lambda seed: (run(seed, work=seed), renamed(run(seed + 100, work=seed + 100)))),
    ("four long sessions once more", lambda seed: (run(seed, 4, 50), run(seed + 100, 4, 50))),
]


@pytest.mark.parametrize(("remark", "runs"), AGAIN, ids=[remark for remark, _ in AGAIN])
def test_noise_is_called_a_difference_in_at_most_one_of_twenty(
    remark: str, runs: Callable[[int], tuple[list[TurnRecord], list[TurnRecord]]]
) -> None:
    alarms = [seed for seed in range(20) if differing(comparing.compare(*runs(seed), rounds=ROUNDS))]
    assert len(alarms) <= 1, remark


@pytest.mark.parametrize(
    ("sessions", "turns", "slower", "word"),
    [(20, 10, 1.2, "worse"), (20, 10, 1 / 1.2, "better"), (4, 50, 1.2, "worse")],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_fifth_is_found_in_200_turns(sessions: int, turns: int, slower: float, word: str, seed: int) -> None:
    found = comparing.compare(run(seed, sessions, turns), run(seed + 50, sessions, turns, slower), rounds=ROUNDS)
    paired = figure(found, "ttft", "level")
    assert paired.word == word
    assert paired.low is not None
    assert paired.high is not None
    assert paired.low < slower - 1 < paired.high
    assert {one.metric for one in differing(found)} <= {"ttft", "first_answer", "queue", "turn"}


def test_what_only_its_own_interval_tells_is_unsure() -> None:
    found = comparing.compare(run(3, 5, 6), run(103, 5, 6, 1.2, work=2), rounds=ROUNDS)
    unsure = figure(found, "ttft", "p50")
    assert unsure.word == "unsure"
    assert unsure.low is not None
    assert unsure.low > 0.05, "its interval is above nothing"
    assert unsure.chance is not None
    assert unsure.chance > comparing.ALPHA, "among all figures, one of them is so by chance now and then"
    assert unsure not in differing(found)


def test_more_failures_and_less_reuse_are_found() -> None:
    a = run(1)
    rng = Random(9)
    b = [replace(one, outcome=one.outcome.STALLED, cached_tokens=0) if rng.random() < 0.3 else one for one in run(2)]
    found = comparing.compare(a, b, rounds=ROUNDS)
    assert figure(found, "failures", None).word == "worse"
    assert figure(found, "reuse", None).word == "worse"


def test_sessions_without_a_partner_are_not_forgotten() -> None:
    """B sent two more sessions, and those waited for a minute."""
    slow = [
        waited(60.0, agent="fixers/0.9", session=f"fixers/0.9#{number}", turn=place)
        for number in range(2)
        for place in range(10)
    ]
    found = comparing.compare(run(1), [*run(1), *slow], rounds=ROUNDS)
    assert found.designs["fixers"].units.paired
    worst = figure(found, "ttft", "max")
    assert (worst.b, worst.turns) == (records_max(slow), (200, 220))


def records_max(of: Sequence[TurnRecord]) -> Wait:
    return Wait(max(one.ttft_s or 0.0 for one in of))


def cut(record: TurnRecord, after_s: float) -> TurnRecord:
    return replace(record, outcome=record.outcome.CUT, first_token_s=None, first_answer_s=None, end_s=after_s)


def test_waits_that_did_not_end_decide_nothing_that_they_could_turn_over() -> None:
    a, slow = run(1), run(2, slower=1.5)
    given_up = [cut(one, 0.1) if one.turn % 3 == 0 else one for one in a]
    against = comparing.compare(given_up, slow, rounds=ROUNDS)
    assert figure(against, "ttft", "p95").word == "open", "A's p95 is not known: a third of it had not ended"
    shortened = [cut(one, 0.05) for one in a]
    assert figure(comparing.compare(a, shortened, rounds=ROUNDS), "ttft", "p50").word == "open", "B looks fast"


def test_a_run_ten_times_as_slow_is_found_by_its_median_too() -> None:
    """Exchanged sessions have medians that jump between the two runs; what lies beyond the common one does not."""
    found = comparing.compare(run(1, work=1), renamed(run(2, work=2, slower=10.0)), rounds=ROUNDS)
    assert [figure(found, "ttft", stat).word for stat in ("level", "p50", "p95")] == ["worse"] * 3


def test_waits_that_did_not_end_can_make_it_worse() -> None:
    a = run(1)
    b = [cut(one, 300.0) if one.turn % 3 == 0 else one for one in run(1)]
    compared = comparing.compare(a, b, rounds=ROUNDS)
    found = figure(compared, "ttft", "p95")
    assert found.word == "worse"
    assert found.b == Wait(300.0, is_more=True)
    assert figure(compared, "ttft", "level").turns == (120, 120), "the level is of pairs that both ended"


@pytest.mark.parametrize(
    ("a", "b", "remark"),
    [
        (run(1, 2, 2), run(2, 2, 2, 9.0), "four turns"),
        (renamed(run(1, 2, 50)), run(2, 2, 50, 9.0), "two sessions of other work"),
        (run(1, 2, 100), run(2, 2, 100, 9.0), "two sessions do not tell how much sessions differ"),
        ([], run(1), "only B has the entry"),
    ],
)
def test_too_few(a: list[TurnRecord], b: list[TurnRecord], remark: str) -> None:
    found = comparing.compare(a, b, rounds=ROUNDS)
    assert {one.word for one in found.figures} == {"few"}, remark


@pytest.mark.parametrize(
    ("shift", "remark"),
    [(1.025, "two runs of one server differ by so much anyhow"), (1.0, "nothing")],
)
def test_what_is_small_is_no_difference(shift: float, remark: str) -> None:
    a = run(1)
    b = [waited((one.ttft_s or 0.0) * shift, agent=one.agent, session=one.session, turn=one.turn) for one in a]
    assert differing(comparing.compare(a, b, rounds=ROUNDS)) == [], remark


def test_a_millisecond_is_no_difference_either() -> None:
    a = [waited(0.004, session=f"fixers/0.0#{number // 10}", turn=number % 10) for number in range(200)]
    b = [replace(one, first_token_s=0.005, first_answer_s=0.005) for one in a]
    assert figure(comparing.compare(a, b, rounds=ROUNDS), "ttft", "p50").word == "noise"


def test_what_is_asked_for_is_compared_and_nothing_else() -> None:
    found = comparing.compare(run(1), run(2), [("fixers", None, "ttft", ("p90",)), ("fixers", None, "reuse", (None,))])
    assert [(one.metric, one.stat) for one in found.figures] == [("ttft", "p90"), ("reuse", None)]
    assert math.isclose(figure(found, "ttft", "p90", None).change or 0.0, 0.0, abs_tol=0.2)


def test_canary_turns_are_judged_by_their_answers_alone() -> None:
    a = run(1)
    canaries = [replace(one, kind="canary", canary="right") for one in run(3)]
    wrong = [replace(one, canary="looped", first_token_s=99.0) for one in canaries]
    found = comparing.compare([*a, *canaries], [*a, *wrong], rounds=ROUNDS)
    assert {one.metric for one in found.figures if one.kind == "canary"} == {"failures", "right", "same"}
    assert [(one.metric, one.word) for one in differing(found)] == [("right", "worse")]
    of_all = comparing.compare([*a, *canaries], [*a, *wrong], [("fixers", None, "ttft", ("p95",))], rounds=ROUNDS)
    assert of_all.figures[0].turns == (200, 200), "nobody waits for them"


def test_speeds_count_from_the_slow_side() -> None:
    fast = [replace(one, prefill_tokens_s=100.0 + one.turn, prefill_is_bound=False) for one in run(1)]
    slow = [replace(one, prefill_tokens_s=70.0 + one.turn, prefill_is_bound=False) for one in run(1)]
    found = comparing.compare(fast, slow, rounds=ROUNDS)
    assert [figure(found, "prefill", stat).word for stat in ("level", "p50", "p95", "min")] == ["worse"] * 4
    assert figure(found, "prefill", "min").a == Wait(100.0)
