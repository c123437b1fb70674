"""What B is called, with which exit status, and how a comparison is printed."""

from dataclasses import replace
from typing import Any

import pytest

from locust_agents.compare import allowed as compare_allowed
from locust_agents.compare import cells, table
from locust_agents.compare import verdict as compare_verdict
from locust_agents.compare.bootstrap import Units
from locust_agents.compare.comparing import Comparison, Figure
from locust_agents.compare.paired import Design
from locust_agents.compare.verdict import Run, Verdict
from locust_agents.errors import ScenarioError
from locust_agents.figures import Wait
from locust_agents.records import TurnRecord, from_line

OK = from_line('{"outcome": "ok", "entry": "fixers", "kind": "later", "end_s": 1.0}')
FAILED = from_line('{"outcome": "reset", "entry": "fixers", "kind": "later", "end_s": 1.0}')
HELD: dict[str, Any] = {"exit_status": 0}
P95 = Figure(
    entry="fixers",
    kind="later",
    metric="ttft",
    stat="p95",
    a=Wait(0.31),
    b=Wait(0.52),
    turns=(200, 198),
    change=0.68,
    low=0.4,
    high=0.95,
    chance=0.001,
    word="worse",
)
NOISE = replace(P95, word="noise", change=0.01, low=-0.2, high=0.2, chance=0.9)
BETTER = replace(P95, word="better", a=Wait(0.52), b=Wait(0.31), change=-0.4, low=-0.49, high=-0.29)
DESIGN = Design(Units(20, 20, True), (), float("inf"), {}, {})


def comparison(*figures: Figure) -> Comparison:
    return Comparison(figures, {"fixers": DESIGN})


def run(name: str, summary: dict[str, Any], records: tuple[TurnRecord, ...] = (OK,)) -> Run:
    return Run(name, records, summary)


def verdict(*figures: Figure, a: Any = HELD, b: Any = HELD) -> Verdict:
    return compare_verdict.decide(run("A", a), run("B", b), comparison(*figures))


UNTRUSTED = {"exit_status": 4, "untrusted": "the machine slept for 9 s"}
WRONG = (OK, replace(OK, kind="canary", canary="foreign_answer"))
RIGHT = (OK, replace(OK, kind="canary", canary="right"))


@pytest.mark.parametrize(
    ("figures", "a", "b", "word", "status", "remark"),
    [
        ([P95, NOISE], HELD, HELD, "worse", 1, "a default key is worse"),
        ([P95, BETTER], HELD, HELD, "worse", 1, "worse in one figure is worse"),
        ([replace(P95, metric="queue"), NOISE], HELD, HELD, "not different", 0, "the queue decides nothing"),
        ([replace(P95, metric="decode")], HELD, HELD, "worse", 1, "decode does"),
        ([BETTER, NOISE], HELD, HELD, "better", 0, "better"),
        ([NOISE], HELD, HELD, "not different", 0, "noise"),
        ([replace(NOISE, word="few")], HELD, HELD, "not decided", 0, "too few turns"),
        ([NOISE, replace(NOISE, stat="max", word="open")], HELD, HELD, "not different", 0, "one turn that was cut"),
        ([NOISE, replace(NOISE, word="open")], HELD, HELD, "not decided", 0, "waits that did not end"),
        ([BETTER], HELD, UNTRUSTED, "not called better", 4, "what is not to be trusted crowns nobody"),
        ([P95], UNTRUSTED, HELD, "worse", 4, "4 goes before 1"),
        ([BETTER], HELD, {"exit_status": 3, "error": "rank 1 died"}, "worse", 1, "it did not last"),
        ([BETTER], {"exit_status": 3}, HELD, "not called better", 0, "half a run"),
        ([BETTER], HELD, {}, "not called better", 0, "killed"),
    ],
)
def test_decide(figures: list[Figure], a: Any, b: Any, word: str, status: int, remark: str) -> None:
    found = verdict(*figures, a=a, b=b)
    assert (found.word, found.status) == (word, status), remark


@pytest.mark.parametrize(
    ("of_a", "of_b", "word", "status"),
    [
        ((OK,), (FAILED,), "worse", 1),
        ((FAILED,), (FAILED,), "not decided", 0),
        (RIGHT, WRONG, "worse", 1),
        (WRONG, WRONG, "not called better", 0),
        (RIGHT, RIGHT, "better", 0),
    ],
)
def test_fast_and_wrong_is_not_better(of_a: Any, of_b: Any, word: str, status: int) -> None:
    found = compare_verdict.decide(run("A", HELD, of_a), run("B", HELD, of_b), comparison(BETTER))
    assert (found.word, found.status) == (word, status)


@pytest.mark.parametrize(
    ("text", "figure", "status", "remark"),
    [
        ("ttft.p95=30%", P95, 1, "40 % at least"),
        ("ttft.p95=50%", P95, 0, "it may be no more than 50 %"),
        ("fixers.later.ttft.p95=50%", P95, 0, "of this entry and kind"),
        ("fixers.later.ttft.p95=0", NOISE, 0, "nothing beyond noise"),
        ("decode.p50=10%", replace(P95, metric="decode", stat="p50", change=-0.2, low=-0.3, high=-0.15), 1, "slower"),
        ("decode.p50=20%", replace(P95, metric="decode", stat="p50", change=-0.2, low=-0.3, high=-0.15), 0, "allowed"),
        ("reuse=2%", replace(P95, metric="reuse", stat=None, change=-0.05, low=-0.08, high=-0.03), 1, "3 points"),
    ],
)
def test_allowances(text: str, figure: Figure, status: int, remark: str) -> None:
    allowed = compare_allowed.read([text], ["fixers"])
    of_key = replace(figure, kind=allowed[0].kind)
    found = compare_verdict.decide(run("A", HELD), run("B", HELD), comparison(P95), allowed, comparison(of_key))
    assert found.status == status, remark


def test_failures_decide_beside_what_is_allowed_unless_they_are_allowed() -> None:
    failures = replace(P95, metric="failures", stat=None, low=0.05)
    allowed = compare_allowed.read(["ttft.p95=90%"], ["fixers"])
    found = compare_verdict.decide(
        run("A", HELD), run("B", HELD), comparison(failures), allowed, comparison(replace(NOISE, kind=None))
    )
    assert (found.status, found.because) == (1, failures)
    allowed = compare_allowed.read(["failures=10%"], ["fixers"])
    held = comparison(replace(failures, kind=None))
    assert compare_verdict.decide(run("A", HELD), run("B", HELD), comparison(failures), allowed, held).status == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ttft=10%", "--allow ttft=10%: ttft: names no statistic; write ttft.p95"),
        ("ttft.p95", "--allow ttft.p95: by how much may it be worse? write ttft.p95=10%"),
        ("ttft.p95=10", "--allow ttft.p95=10: 10 is 1000%; write 10%, or 1000% if that is meant"),
        ("ttft.p95=lots", "--allow ttft.p95=lots: ttft.p95: expected a number, got 'lots'"),
        ("tttf.p95=1%", "unknown word 'tttf'; did you mean 'ttft'?"),
        ("ttft.mean=1%", "is not compared; its statistic may be one of p50, p90"),
    ],
)
def test_allowances_that_do_not_read(text: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        compare_allowed.read([text], ["fixers"])
    assert message in str(caught.value)


def test_which_figures_an_allowance_asks_for() -> None:
    allowed = compare_allowed.read(["ttft.p95=10%", "giant.first.reuse=1%"], ["fixers", "giant"])
    assert compare_allowed.asked(allowed, ["fixers", "giant"]) == [
        ("fixers", None, "ttft", ("level", "p95")),
        ("giant", None, "ttft", ("level", "p95")),
        ("giant", "first", "reuse", ("level", None)),
    ]


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (
            verdict(P95),
            "B is worse: fixers later TTFT p95 0.31 → 0.52 s (+68 %, 95 % interval +40…+95 %)",
        ),
        (
            verdict(BETTER, b=UNTRUSTED),
            "B is not called better: B cannot be trusted: the machine slept for 9 s "
            "(else: fixers later TTFT p95 0.52 → 0.31 s (−40 %, 95 % interval −49…−29 %))",
        ),
        (verdict(replace(NOISE, word="few")), "not decided: too few turns or sessions to tell"),
        (verdict(NOISE), "B is not different: what differs is noise"),
        (verdict(replace(P95, b=Wait(300.0, True))), "B is worse: fixers later TTFT p95 0.31 → > 300 s "),
        (
            verdict(replace(P95, metric="failures", stat=None, a=Wait(0.0), b=Wait(0.1), change=0.1, low=0.05)),
            "B is worse: fixers later failures 0 → 10 % (+10 pt, 95 % interval +5.0…+95 pt)",
        ),
    ],
)
def test_the_verdict_in_one_line(found: Verdict, wanted: str) -> None:
    assert cells.verdict_line(found).startswith(wanted)


def test_the_table() -> None:
    found = comparison(
        P95,
        replace(NOISE, stat="p50"),
        replace(NOISE, metric="turn"),
        replace(NOISE, metric="stall", stat="max", word="few"),
        replace(P95, metric="itl", word="open", a=Wait(0.012), b=Wait(0.04)),
        replace(NOISE, metric="prefill", stat="p50", a=Wait(4300.0), b=Wait(4900.0)),
    )
    allowed = compare_allowed.read(["ttft.p95=10%"], ["fixers"])
    held = comparison(replace(P95, kind=None))
    text = table.render(verdict(*found.figures), ["changed  seed 1 → 2"], found, allowed, held)
    assert text.splitlines() == [
        "B is worse: fixers later TTFT p95 0.31 → 0.52 s (+68 %, 95 % interval +40…+95 %)",
        "changed  seed 1 → 2",
        "broken   ttft.p95: fixers +68 % (+40…+95 %), allowed 10 % worse",
        "                              A          B    change      95 % interval B is",
        "fixers later   200 turns and 198, 20 sessions, paired",
        "  TTFT p95               0.31 s     0.52 s     +68 %          +40…+95 % worse",
        "  TTFT p50               0.31 s     0.52 s      +1 %          −20…+20 % noise",
        "  stall max              0.31 s     0.52 s      +1 %                  – too few",
        "  ITL p95                 12 ms      40 ms     +68 %          +40…+95 % open",
        "  prefill p50        4.3k tok/s 4.9k tok/s      +1 %          −20…+20 % noise",
        "1 more: noise, or too few turns (--all shows them)",
    ]


def test_an_entry_of_one_run_is_named() -> None:
    giant = replace(P95, entry="giant", b=None, change=None, low=None, high=None, word="few")
    designs = {"fixers": DESIGN, "giant": Design(Units(3, 0, False), (), float("inf"), {}, {})}
    text = table.render(verdict(NOISE), [], Comparison((NOISE, giant), designs))
    assert "only A   has turns of giant" in text.splitlines()
