"""Histories of turns, logs and probes, as data with a clock of their own, and what the watch makes of them."""

import pytest

from locust_agents.cluster.policy import TurnResult
from locust_agents.cluster.watch.look import EndedLook, Look, OpenLook, ProbeState, Rules
from locust_agents.cluster.watch.silence import Decision, Kind, State, decide
from locust_agents.outcome import Outcome

RULES = Rules(silence_s=20.0, patience_s=7.0, ranks=2)
ANSWERED = TurnResult(True)
DEAD = TurnResult(False, "status 404, 'generation thread died'", refused=True)
RESET = TurnResult(False, "Connection reset by peer")


def turn(started_s: float, moved_s: float | None = None, **changes: object) -> OpenLook:
    return OpenLook("a/0.0", "a/0.0#0", 3, "later", started_s, started_s, moved_s, **changes)  # type: ignore[arg-type]


def look(now_s: float, *turns: OpenLook, log: int | None = 0, **changes: object) -> Look:
    return Look(now_s, turns, log_bytes=log, **changes)  # type: ignore[arg-type]


def end(ended_s: float, outcome: Outcome, moved_s: float | None = None, **changes: object) -> tuple[EndedLook, ...]:
    return (EndedLook(turn(ended_s - 5, moved_s, **changes), outcome, ended_s),)


def asked(began_s: float, ended_s: float | None = None, result: TurnResult | None = None) -> ProbeState:
    return ProbeState(began_s, ended_s, result)


def replay(history: list[Look], rules: Rules = RULES) -> tuple[State, list[Decision]]:
    state = State(0.0)
    decisions = []
    for seen in history:
        state, decision = decide(state, seen, rules)
        decisions.append(decision)
    return state, decisions


STUCK = turn(1, 2)
QUEUED = turn(5)


@pytest.mark.parametrize(
    ("history", "kinds", "remark"),
    [
        ([look(50), look(500)], "idle idle", "nobody asks for anything"),
        ([look(1, turn(0, 0.9)), look(2, turn(0, 1.9))], "moving moving", "tokens come"),
        ([look(3, STUCK), look(21.9, STUCK)], "moving quiet", "silent, not yet for too long"),
        ([look(3, STUCK), look(22, STUCK)], "moving probe", "silent for too long"),
        ([look(3, log=9), look(22, turn(21), log=9)], "idle quiet", "silent only since somebody asks"),
        ([look(3, QUEUED), look(25, QUEUED)], "quiet probe", "waits in the queue"),
        (
            [look(3, STUCK, log=1), look(22, STUCK, log=2), look(41, STUCK, log=3)],
            "moving moving moving",
            "the log moves",
        ),
        (
            [look(at, *[turn(1)] * 8, turn(0, at - 2, phase="prefill")) for at in (20, 40, 60)],
            "moving moving moving",
            "many wait behind a prefill that moves",
        ),
        (
            [look(at, turn(0, 1, phase="prefill"), log=at) for at in (10, 25, 40, 55)],
            "moving moving moving moving",
            "a prefill whose stream is buffered on the way, but whose steps are in the log",
        ),
        ([look(3, STUCK), look(30), look(60, turn(55))], "moving idle quiet", "the turn ended by itself; silence anew"),
        ([look(22, STUCK), look(23, STUCK, probe=asked(22))], "probe quiet", "the probe is out"),
        (
            [look(22, STUCK), look(25, STUCK, probe=asked(22, 24.8, ANSWERED)), look(44, STUCK), look(45, STUCK)],
            "probe moving quiet probe",
            "a long tool call: silent, but the probe comes back; silence counts from there",
        ),
        (
            [look(22, STUCK), look(29, STUCK, probe=asked(22))],
            "probe wedged",
            "the probe does not come back",
        ),
        (
            [look(22, STUCK), look(29, turn(1, 28), probe=asked(22)), look(48, turn(1, 28), probe=asked(22))],
            "probe moving wedged",
            "moved once more; the probe is still out when it is silent again",
        ),
        (
            [look(22, STUCK), look(24, STUCK, probe=asked(22, 23, TurnResult(False, "status 401", refused=True)))],
            "probe moving",
            "a refusal is a sign of life too",
        ),
        (
            [look(22, STUCK), look(23, STUCK, probe=asked(22, 23, RESET)), look(24, STUCK, probe=asked(23))],
            "probe probe quiet",
            "one connection may be lost",
        ),
        (
            [look(22, STUCK), look(23, STUCK, probe=asked(22, 23, RESET)), look(24, STUCK, probe=asked(23, 24, RESET))],
            "probe probe wedged",
            "two in a row may not",
        ),
        (
            [
                look(22, STUCK),
                look(23, STUCK, probe=asked(22, 23, RESET)),
                look(24, turn(1, 23.5), probe=asked(23)),
                look(44, turn(1, 23.5), probe=asked(23, 44, RESET)),
            ],
            "probe probe moving probe",
            "two with work between them may",
        ),
        (
            [look(22, STUCK), look(23, STUCK, probe=asked(22, 23, DEAD)), look(24, STUCK, probe=asked(23, 24, DEAD))],
            "probe probe wedged",
            "a refusal that says that it is dead is no sign of life",
        ),
        (
            [look(22, QUEUED, log=None), look(25, QUEUED, log=None), look(84, QUEUED, log=None, probe=asked(25))],
            "quiet probe quiet",
            "without a log another's long prefill cannot be seen",
        ),
        (
            [look(25, QUEUED, log=None), look(85, QUEUED, log=None, probe=asked(25))],
            "probe wedged",
            "not for ever",
        ),
        (
            [look(6, turn(5), log=1), look(24, turn(5), log=2), look(44, turn(5), log=2)]
            + [look(at, turn(5), log=2, probe=asked(44)) for at in (61, 63)],
            "quiet moving probe quiet wedged",
            "it was silent for 19 s before and went on: so long it may be again",
        ),
    ],
)
def test_what_a_look_means(history: list[Look], kinds: str, remark: str) -> None:
    _, decisions = replay(history)
    assert " ".join(decision.kind.name.lower() for decision in decisions) == kinds, remark


@pytest.mark.parametrize(
    ("ended", "kind", "remark"),
    [
        (end(10, Outcome.OK, 9.9), Kind.IDLE, "all is well"),
        (end(10, Outcome.HTTP_ERROR, 9.9), Kind.IDLE, "an error is an answer"),
        (end(10, Outcome.ABANDONED, 9.9), Kind.IDLE, "nobody waits for the rest"),
        (end(10, Outcome.ABANDONED), Kind.PROBE, "left in the queue, unheard"),
        (end(10, Outcome.FIRST_TOKEN_TIMEOUT), Kind.PROBE, "timed out in the queue"),
        (end(10, Outcome.STALLED, 6), Kind.PROBE, "timed out in mid-answer"),
        (end(10, Outcome.REFUSED), Kind.PROBE, "nobody is there"),
    ],
)
def test_turns_that_gave_up_count_as_waiting(ended: tuple[EndedLook, ...], kind: Kind, remark: str) -> None:
    _, decisions = replay([look(11, ended=ended), look(40)])
    assert decisions[-1].kind is kind, remark


def test_a_move_after_it_lets_a_turn_that_gave_up_be_forgotten() -> None:
    _, decisions = replay([look(11, ended=end(10, Outcome.STALLED, 6)), look(12, turn(11, 11.9)), look(40)])
    assert decisions[-1].kind is Kind.IDLE


def test_what_moved_later_than_it_gave_up_counts_in_the_same_look() -> None:
    _, decisions = replay([look(11, turn(9, 10.5), ended=end(10, Outcome.STALLED, 6)), look(40)])
    assert decisions[-1].kind is Kind.IDLE


def test_turns_that_come_and_go_between_two_looks_are_movement() -> None:
    history = [look(at, turn(0), ended=end(at - 0.1, Outcome.OK, at - 0.2)) for at in (10, 25, 40)]
    _, decisions = replay(history)
    assert {decision.kind for decision in decisions} == {Kind.MOVING}


def test_short_timeouts_do_not_hide_a_hang() -> None:
    """Turns of 5 s each, one after the other, and none that sees a byte."""
    history = [look(at, ended=end(at, Outcome.FIRST_TOKEN_TIMEOUT)) for at in (6, 11, 16)]
    _, decisions = replay([*history, look(21, turn(17)), look(28, turn(26), probe=asked(21))])
    assert [decision.kind for decision in decisions[3:]] == [Kind.PROBE, Kind.WEDGED]


def test_the_slowest_silence_is_learnt_only_where_it_ends_by_itself() -> None:
    state, _ = replay([look(22, STUCK), look(25, STUCK, probe=asked(22, 24, ANSWERED)), look(34, turn(1, 33))])
    assert state.slowest_s == 9
    state, _ = replay([look(22, STUCK), look(25, STUCK, probe=asked(22, 24, ANSWERED))])
    assert state.slowest_s == 1, "from its start to its first sign"


def test_since_when_it_is_silent() -> None:
    _, decisions = replay([look(3, STUCK), look(22, STUCK), look(29, STUCK, QUEUED, probe=asked(22))])
    assert [decision.since_s for decision in decisions] == [2, 2, 2]


def test_silence_is_no_matter_of_how_long_a_run_was_idle() -> None:
    _, decisions = replay([look(1, turn(0, 1)), look(2), look(900, turn(899)), look(919, turn(899))])
    assert [decision.kind for decision in decisions[2:]] == [Kind.QUIET, Kind.PROBE]
