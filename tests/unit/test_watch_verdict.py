"""What is said of a server that hangs: where turns are stuck, whose end did it, and what is to be done."""

from typing import Any

import pytest

from locust_agents.cluster.watch.look import EndedLook, Look, OpenLook, Phase, Rules
from locust_agents.cluster.watch.verdict import gone, hangs, suspect
from locust_agents.outcome import Outcome

TWO_RANKS = Rules(ranks=2)
KV_BITS = Rules(ranks=2, unbatched="--kv-bits 8")


def turn(agent: str, phase: Phase = "queue", number: int = 3, **changes: Any) -> OpenLook:
    return OpenLook(agent, f"{agent}#0", number, "later", 0.0, phase=phase, **changes)


def end(
    agent: str, ended_s: float, outcome: Outcome = Outcome.ABANDONED, seed: bool = False, **changes: Any
) -> EndedLook:
    looks = {"phase": "decode", "unusual": ("seed 7",) if seed else (), **changes}
    return EndedLook(turn(agent, **looks), outcome, ended_s)


@pytest.mark.parametrize(
    ("ends", "rules", "name", "remark"),
    [
        ([], TWO_RANKS, None, "no turn was left"),
        ([end("a", 99)], TWO_RANKS, "a", "the only one"),
        ([end("a", 98), end("b", 99)], TWO_RANKS, "b", "the last one"),
        ([end("a", 98, seed=True), end("b", 99)], TWO_RANKS, "a", "the one that cannot be cancelled"),
        ([end("a", 50, seed=True), end("b", 99)], TWO_RANKS, "a", "an old one of that kind before a harmless one"),
        ([end("a", 50)], TWO_RANKS, None, "much has moved since then"),
        ([end("a", 99, seed=True), end("b", 130, Outcome.STALLED)], TWO_RANKS, "a", "a timeout is what came of it"),
        ([end("a", 130, Outcome.STALLED)], TWO_RANKS, None, "only what came of it"),
        ([end("a", 130, seed=True)], TWO_RANKS, "a", "left in a long step, after the last sign"),
        ([end("a", 50), end("b", 99), end("c", 130)], KV_BITS, "b", "each turn is of that kind: the time decides"),
        (
            [end("a", 60, phase="queue"), end("c", 130)],
            KV_BITS,
            "a",
            "left in the queue, it did harm when its turn came",
        ),
    ],
)
def test_whose_end_did_it(ends: list[EndedLook], rules: Rules, name: str | None, remark: str) -> None:
    found = suspect(ends, moved_s=100.0, slowest_s=3.0, rules=rules)
    assert (found and found.turn.agent) == name, remark


def test_a_slow_step_widens_the_time_for_it() -> None:
    assert suspect([end("a", 130)], 100.0, slowest_s=40.0, rules=TWO_RANKS) is not None


LOOK = Look(113.0, (turn("b"), turn("a", "decode")), log_bytes=9)


def said(culprit: EndedLook | None, rules: Rules = TWO_RANKS, look: Look = LOOK) -> str:
    text = hangs(look, 100.0, 106.0, culprit, rules)
    assert "\n" not in text
    return text


def test_the_whole_sentence() -> None:
    assert said(end("x", 100, seed=True)) == (
        "the server hangs: for 13 s nothing has moved, neither on a stream nor in rank 0's log, stuck in decode: a's"
        " turn 3 (later); in the queue: b's turn 3 (later), and a request of one token got no answer in 7 s; it stopped"
        " when x's turn 3 (later with seed 7) was abandoned in decode: with a seed a request cannot be batched, and one"
        " that is left before its end hangs mlx_lm.server on two or more ranks for good; send no seed, or let such"
        " turns end, and start the server again"
    )


@pytest.mark.parametrize(
    ("culprit", "rules", "words", "remark"),
    [
        (None, TWO_RANKS, "; no turn of this run was left before its end, so another client's may", "none known"),
        (end("x", 100), TWO_RANKS, "which is not known to hang a server: read rank 0's log", "a harmless abandon"),
        (end("x", 100, seed=True), Rules(ranks=1), "which is not known to hang a server:", "one rank can cancel"),
        (end("x", 100, seed=True), Rules(), "; send no seed", "how many ranks is not known: it may be that"),
        (end("x", 100), Rules(), "hang a server, except on two or more ranks with --kv-bits:", "an attached server"),
        (end("x", 100), KV_BITS, "with --kv-bits 8 a request cannot be batched", "the server's own option"),
        (end("x", 100), KV_BITS, "; do without --kv-bits 8, or let such turns end", "and its cure"),
        (end("x", 100, Outcome.CUT), TWO_RANKS, "x's turn 3 (later) was cut in decode,", "cut"),
        (end("x", 100, Outcome.FIRST_TOKEN_TIMEOUT, phase="queue"), TWO_RANKS, "first token in the queue,", "waiting"),
        (end("x", 100, phase="prefill"), TWO_RANKS, "was abandoned in prefill before its first step,", "early"),
        (end("x", 100, phase="prefill", prefill_done=4096), TWO_RANKS, "in prefill at 4,096 tokens,", "how far"),
    ],
)
def test_the_cause(culprit: EndedLook | None, rules: Rules, words: str, remark: str) -> None:
    assert words in said(culprit, rules), remark


@pytest.mark.parametrize(
    ("turns", "words", "remark"),
    [
        ((), "and turns have ended without an answer,", "none is open"),
        ((turn("a", "prefill"),), "stuck in prefill: a's turn 3 (later) before its first step,", "no step yet"),
        (
            (turn("a", "prefill", prefill_done=512, prefill_total=4096),),
            "stuck in prefill: a's turn 3 (later) at 512 of 4,096 tokens,",
            "in mid-prefill",
        ),
        (
            tuple(turn("a", number=number) for number in range(5)),
            "in the queue: a's turn 0 (later), a's turn 1 (later), a's turn 2 (later) and 2 more,",
            "many",
        ),
        (
            (turn("c"), turn("b", "prefill"), turn("a", "decode", unusual=("seed 7", "logprobs True"))),
            "stuck in decode: a's turn 3 (later with seed 7, logprobs True); in prefill: b's turn 3 (later) before its"
            " first step; in the queue: c's turn 3 (later),",
            "the furthest first",
        ),
    ],
)
def test_where_turns_are_stuck(turns: tuple[OpenLook, ...], words: str, remark: str) -> None:
    assert words in said(None, look=Look(113.0, turns, log_bytes=9)), remark


def test_without_a_log_it_says_so() -> None:
    assert "nothing has moved on any stream (its log is not at hand), " in said(None, look=Look(113.0, (turn("a"),)))


def test_a_server_that_turns_requests_away() -> None:
    assert gone(LOOK, "Connection refused").startswith(
        "the server serves no more (stuck in decode: a's turn 3 (later);"
    )
    assert "'Connection refused'" in gone(LOOK, "Connection refused")
