"""What the turns of a step say of each limit: generated records with fixed seeds."""

import json
from random import Random
from typing import Any

import pytest

from locust_agents import records
from locust_agents.capacity import judging
from locust_agents.capacity.judging import Call
from locust_agents.capacity.search import Verdict
from locust_agents.limits import parse_limit
from locust_agents.records import TurnRecord

ENTRIES = ("fixers", "giant")


def turn(ttft_s: float | None, session: str = "s", **values: Any) -> TurnRecord:
    """A later turn, sent as it starts."""
    base = {"outcome": "ok", "entry": "fixers", "run": "r", "kind": "later", "wall_time": 0.0, "sent_s": 0.0}
    line = {**base, "session": session, "first_token_s": ttft_s, "end_s": (ttft_s or 5.0) + 1, **values}
    return records.from_line(json.dumps(line))


def turns(mean_s: float, count: int, seed: int = 1, spread_s: float = 1.0, **values: Any) -> list[TurnRecord]:
    """Sessions of four turns, whose TTFTs scatter evenly around a mean."""
    random = Random(seed)
    return [
        turn(mean_s + random.uniform(-spread_s, spread_s), f"s{n // 4}", turn=n % 4, wall_time=float(n), **values)
        for n in range(count)
    ]


def call(limits: dict[str, str], of: list[TurnRecord], seed: int = 1) -> Call:
    return judging.call([parse_limit(key, bound, ENTRIES) for key, bound in limits.items()], of, seed)


CUT = {"outcome": "stalled", "first_token_s": None}
KEEPS, BREAKS, UNDECIDED = Verdict.KEEPS, Verdict.BREAKS, Verdict.UNDECIDED

# what it is, limits, turns, the verdict, the word of each figure
CALLS: list[tuple[str, dict[str, str], list[TurnRecord], Verdict, list[str]]] = [
    ("far below the bound", {"later.ttft.p95": "20s"}, turns(10, 40), KEEPS, ["kept"]),
    ("far above it", {"later.ttft.p95": "20s"}, turns(30, 40), BREAKS, ["broken"]),
    ("the bound lies in the interval", {"ttft.p50": "9.5s"}, turns(10, 40, spread_s=5), UNDECIDED, ["noisy"]),
    ("nineteen turns have no p95", {"ttft.p95": "20s"}, turns(10, 19), UNDECIDED, ["few"]),
    ("twenty have one", {"ttft.p95": "20s"}, turns(10, 20), KEEPS, ["kept"]),
    ("forty have no p99", {"ttft.p99": "20s"}, turns(10, 40), UNDECIDED, ["few"]),
    ("the worst of nine says too little", {"ttft.max": "20s"}, turns(10, 9), UNDECIDED, ["few"]),
    ("of ten it is taken", {"ttft.max": "20s"}, turns(10, 10), KEEPS, ["kept"]),
    ("one slow session may be chance", {"ttft.max": "20s"}, [*turns(10, 40), turn(25, "x")], UNDECIDED, ["noisy"]),
    (
        "half of the sessions are none",
        {"ttft.max": "20s"},
        [*turns(10, 40), *(turn(25, f"x{n}") for n in range(10))],
        BREAKS,
        ["broken"],
    ),
    (
        "one broken limit is enough",
        {"ttft.p50": "9.5s", "stall.max": "1s"},
        turns(10, 40, spread_s=5, stall_s=2.0),
        BREAKS,
        ["noisy", "broken"],
    ),
    (
        "one that nothing says is left out",
        {"ttft.p50": "20s", "later.reuse": "95%"},
        turns(10, 40),
        KEEPS,
        ["kept", "silent"],
    ),
    ("nothing at all", {"later.reuse": "95%"}, turns(10, 40), UNDECIDED, ["silent"]),
    ("no turn", {"ttft.max": "20s"}, [], UNDECIDED, ["silent"]),
    (
        "a speed has its bound below",
        {"decode.p50": "20"},
        turns(1, 40, completion_tokens=11, last_token_s=99.0),
        BREAKS,
        ["broken"],
    ),
    ("each failure breaks it", {"failures": "0%"}, [turn(None, f"s{n}", **CUT) for n in range(20)], BREAKS, ["broken"]),
    ("one failure may be chance", {"failures": "0%"}, [*turns(1, 40), turn(None, "x", **CUT)], UNDECIDED, ["noisy"]),
    ("no failure", {"failures": "0%"}, turns(1, 40), KEEPS, ["kept"]),
    (
        "whoever waits still, longer than the bound, breaks it",
        {"ttft.p95": "3s"},
        [turn(None, f"s{n}", outcome="cut", first_token_s=None) for n in range(20)],
        BREAKS,
        ["broken"],
    ),
    (
        "whoever waits still never helps to keep it",
        {"ttft.p95": "20s"},
        [turn(None, f"s{n}", outcome="cut", first_token_s=None) for n in range(20)],
        UNDECIDED,
        ["few"],
    ),
    (
        "each entry keeps it",
        {"ttft.p50": "20s"},
        [*turns(10, 40), *turns(30, 40, entry="giant")],
        BREAKS,
        ["kept", "broken"],
    ),
]


@pytest.mark.parametrize(("limits", "of", "verdict", "words"), [pytest.param(*row[1:], id=row[0]) for row in CALLS])
def test_calls(limits: dict[str, str], of: list[TurnRecord], verdict: Verdict, words: list[str]) -> None:
    found = call(limits, of)
    assert (found.verdict, [figure.word for figure in found.figures]) == (verdict, words)


def test_that_no_turn_failed_is_no_answer_where_the_user_asked_for_more() -> None:
    found = call({"later.reuse": "95%", "failures": "0%"}, turns(10, 40))
    assert (found.verdict, [figure.word for figure in found.figures]) == (UNDECIDED, ["silent", "kept"])


def test_a_wrong_answer_breaks_whatever_else_was_kept() -> None:
    asked = [turn(None, f"c{n}", kind="canary", canary="right") for n in range(9)]
    right = call({"ttft.max": "20s"}, [*turns(10, 40), *asked])
    wrong = call({"ttft.max": "20s"}, [*turns(10, 40), *asked, turn(1, kind="canary", canary="foreign_answer")])
    assert (right.verdict, right.right) == (KEEPS, 1.0)
    assert (wrong.verdict, wrong.right) == (BREAKS, 0.9)


@pytest.mark.parametrize(
    ("mean_s", "wrong"),
    [pytest.param(19.0, BREAKS, id="a true p95 below the bound"), pytest.param(21.0, KEEPS, id="one above it")],
)
def test_a_verdict_is_the_wrong_one_in_at_most_one_of_twenty(mean_s: float, wrong: Verdict) -> None:
    """The true median stands half a second from the bound, and turns of a session resemble each other."""
    verdicts = []
    for seed in range(40):
        random = Random(seed)
        of = []
        for session in range(10):
            mood_s = random.gauss(0, 2.0)
            of += [turn(mean_s + mood_s + random.gauss(0, 2.0), f"s{session}", wall_time=float(n)) for n in range(4)]
        verdicts.append(call({"ttft.p50": "20s"}, of, seed).verdict)
    assert verdicts.count(wrong) <= 2
    assert verdicts.count(UNDECIDED) > 10


def test_more_turns_decide_what_fewer_could_not() -> None:
    assert call({"ttft.p50": "10.5s"}, turns(10, 20, seed=2, spread_s=3)).verdict is UNDECIDED
    assert call({"ttft.p50": "10.5s"}, turns(10, 600, seed=2, spread_s=3)).verdict is KEEPS


def test_a_repetition_is_told_how_many_more_turns_are_needed() -> None:
    assert call({"ttft.max": "20s"}, turns(10, 4)).short_by == 2.5
    assert call({"ttft.p99": "20s"}, turns(10, 40)).short_by == 2.5
    assert call({"ttft.max": "20s"}, turns(10, 40)).short_by == 1.0


def test_sessions_are_drawn_whole_and_blocks_of_them_where_they_are_few() -> None:
    many = judging.units(turns(10, 40))
    assert [len(unit) for unit in many] == [4] * 10
    long = judging.units([turn(1.0, f"s{n % 8}", wall_time=float(n)) for n in range(80)])
    assert [len(unit) for unit in long] == [10] * 8
    for turns_of_it, sizes in ((100, [5] * 20), (20, [2] * 10), (6, [1] * 6)):
        one = judging.units([turn(1.0, "only", wall_time=float(n)) for n in range(turns_of_it)])
        assert [len(unit) for unit in one] == sizes
    assert {len({record.session for record in unit}) for unit in many} == {1}
    again = judging.units([*turns(10, 20, run="a"), *turns(10, 20, run="b")])
    assert len(again) == 10, "a session of another run is another one"
