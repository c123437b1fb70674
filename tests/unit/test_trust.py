"""Whether a run's figures can be trusted: each bound from both sides, and what is said and withheld beyond it."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest

from locust_agents import records, run_text, table, trust, trust_lines
from locust_agents.answers import itl
from locust_agents.limits import Limit, parse_limit
from locust_agents.outcome import Outcome
from locust_agents.records import TurnRecord
from locust_agents.setting import Setting
from locust_agents.summary import summarise
from locust_agents.trust import Witness

ITL = parse_limit("itl.p99", "100ms", ())
TTFT = parse_limit("ttft.max", "10s", ())
# Buckets of gaps: in one read, within the same half millisecond, and as a model makes them.
AT_ONCE, NEARLY, APART = 0, itl.bucket(0.0003), itl.bucket(0.02)
LINE = '{"outcome": "ok", "run": "r", "entry": "a", "kind": "later", "agent": "a/0.0", "session": "s", "end_s": 2.0}'
SOUND = dataclasses.replace(
    records.from_line(LINE),
    wall_time=100.0,
    sent_s=0.1,
    first_token_s=0.5,
    loop_lag_s=0.004,
    late_s=0.002,
    attempt=1,
    chunks=51,
)


def turns(number: int, first: int = 0, **fields: Any) -> list[TurnRecord]:
    return [dataclasses.replace(SOUND, turn=first + place, **fields) for place in range(number)]


def hist(**times: int) -> dict[int, int]:
    return {{"at_once": AT_ONCE, "nearly": NEARLY, "apart": APART}[name]: number for name, number in times.items()}


CUT: dict[str, Any] = {"outcome": Outcome.CUT, "wall_time": 109.0, "end_s": 3.0}
UNTIL = Setting(began=100.0, until=110.0)
CLOCK = Setting(began=100.0, until=110.0, due={"a": [0.0, 1.0]}, clocked=frozenset("a"))
# remark, the records, what else is known, the limits, a word of each doubt
ROWS: list[tuple[str, list[TurnRecord], Witness, list[Limit], list[str]]] = [
    ("nothing at all", [], Witness(), [TTFT], []),
    ("a sound client", turns(120), Witness(cpu=0.3, cpu_s=60.0), [TTFT, ITL], []),
    ("lag at its bound", turns(9, loop_lag_s=0.5), Witness(), [], []),
    (
        "lag over it, of few turns: the worst counts",
        [*turns(9), *turns(1, 9, loop_lag_s=0.6)],
        Witness(),
        [],
        ["loop was 600 ms late"],
    ),
    ("of many turns, one that lagged is below p99", [*turns(120), *turns(1, 120, loop_lag_s=0.6)], Witness(), [], []),
    ("of many, two in a hundred", [*turns(98), *turns(2, 98, loop_lag_s=0.6)], Witness(), [], ["loop was 600 ms late"]),
    ("started late", turns(3, late_s=0.7), Witness(), [], ["started 700 ms late"]),
    ("a first turn in a closed loop is the client's own", turns(3, kind="first", late_s=0.7), Witness(), [], ["late"]),
    ("busy at its bound", turns(3), Witness(cpu=0.9, cpu_s=60.0), [], []),
    ("busy", turns(3), Witness(cpu=0.95, cpu_s=60.0), [], ["95 % of a core"]),
    ("busy, in a short run", turns(3), Witness(cpu=0.95, cpu_s=9.0), [], []),
    ("half of it cut", [*turns(4), *turns(4, 4, **CUT)], Witness(), [], []),
    ("more than half", [*turns(4), *turns(5, 4, **CUT)], Witness(), [], ["5 of 9 turns were cut"]),
    ("none of it was sent", turns(5, **{**CUT, "sent_s": None}), Witness(), [], []),
    ("cut by the plan, long before the end", turns(5, outcome=Outcome.CUT), Witness(), [], []),
    ("agents were missing", turns(3), Witness(missing=(2, 8)), [], ["2 of 8 agents"]),
    ("one turn lost", turns(3), Witness(lost=1), [], ["1 turn at least"]),
    ("several lost, agents too", turns(3), Witness(missing=(1, 4), lost=2), [], ["1 of 4 agents", "2 turns at least"]),
    ("the machine slept", turns(3), Witness(slept="the machine slept for 9 s"), [], ["slept for 9 s"]),
    (
        "clumps: ITL is no figure, and nobody asks for it",
        turns(3, itl_hist=hist(nearly=30, apart=20)),
        Witness(),
        [TTFT],
        [],
    ),
    (
        "clumps, and ITL is to be judged",
        turns(3, itl_hist=hist(nearly=30, apart=20)),
        Witness(),
        [TTFT, ITL],
        ["60 % of the tokens came in clumps: itl.p99"],
    ),
    (
        "held back: the first token waited too",
        turns(3, itl_hist=hist(at_once=48, apart=2)),
        Witness(),
        [TTFT],
        ["buffers the stream"],
    ),
    ("the same of too few gaps", turns(1, itl_hist=hist(at_once=48, apart=2)), Witness(), [TTFT, ITL], []),
    (
        "the same of turns that failed",
        turns(3, outcome=Outcome.STALLED, itl_hist=hist(at_once=50)),
        Witness(),
        [TTFT],
        [],
    ),
    ("canaries are not asked", turns(3, kind="canary", loop_lag_s=9.0), Witness(), [], []),
]


@pytest.mark.parametrize(("taken", "witness", "limits", "words"), [pytest.param(*row[1:], id=row[0]) for row in ROWS])
def test_doubts(taken: list[TurnRecord], witness: Witness, limits: list[Limit], words: Sequence[str]) -> None:
    doubts = trust.of(taken, UNTIL, limits, witness).doubts
    assert len(doubts) == len(words), doubts
    assert all(word in doubt for word, doubt in zip(words, doubts, strict=True)), doubts


def test_a_session_that_a_clock_made_due_waited_for_the_server() -> None:
    late = turns(3, kind="first", late_s=9.0)
    assert trust.of(late, CLOCK).doubts == ()
    assert trust.of(late, UNTIL).doubts != ()


# remark, gaps, the share of them that came together
CLUMPS: list[tuple[str, dict[int, int], float | None]] = [
    ("none", {}, None),
    ("too few", hist(at_once=99), None),
    ("as a model makes them", hist(apart=100), 0.0),
    ("in one read", hist(at_once=100), 1.0),
    ("in bursts of ten", hist(nearly=90, apart=10), 0.9),
    ("two tokens a step", hist(at_once=50, apart=50), 0.5),
    ("a stall does not make the others small", {APART: 999, itl.bucket(300.0): 1}, 0.0),
]


@pytest.mark.parametrize(("gaps", "share"), [pytest.param(*row[1:], id=row[0]) for row in CLUMPS])
def test_clumps(gaps: dict[int, int], share: float | None) -> None:
    assert trust.clumped(gaps) == share


def test_itl_is_withheld_with_the_word() -> None:
    lumpy = summarise(turns(3, itl_hist=hist(at_once=40, apart=10)))
    assert "ITL withheld (80 % of tokens came in clumps)" in table.render(lumpy)
    even = summarise(turns(3, itl_hist=hist(at_once=10, apart=40)))
    assert "withheld" not in table.render(even)


def test_a_doubt_withholds_the_verdict_and_says_why() -> None:
    taken = turns(3, loop_lag_s=1.25)
    summary = summarise(taken, [TTFT])
    said = run_text.text(None, summary, trust=trust.of(taken, UNTIL, [TTFT]))
    assert "withheld ttft.max 0.40 s ≤ 10 s" in said
    assert "held   " not in said
    assert "doubt  the client's own loop was 1.25 s late" in said
    assert max(map(len, said.splitlines())) <= 80
    sound = run_text.text(None, summarise(turns(3), [TTFT]), trust=trust.of(turns(3), UNTIL, [TTFT]))
    assert "held   ttft.max 0.40 s ≤ 10 s" in sound
    assert "doubt" not in sound


def test_the_clients_line() -> None:
    taken = [*turns(4), *turns(2, 4, **CUT)]
    found = trust.of(taken, UNTIL, [], Witness(cpu=0.234, cpu_s=60.0, lost=2))
    assert trust_lines.lines(found)[:2] == [
        "client CPU 23 % of a core   turns late worst 2 ms   2 of 6 turns cut at the end",
        "       turns lost: 2 at least",
    ]
