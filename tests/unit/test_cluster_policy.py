"""Histories of a server, as data with a clock of their own, and what is to be done about each."""

import pytest

from locust_agents.cluster.policy import (
    GRACE_S,
    Action,
    Health,
    Kind,
    Observation,
    Phase,
    RankExit,
    State,
    TurnResult,
    decide,
)

QUIET = Observation()
WELL = Observation(health=Health.WELL)
ANSWERED = Observation(health=Health.WELL, turn=TurnResult(True))
KILLED = RankExit(1, -9)
LONELY = RankExit(0, -6, lost_peer=True)
FAR = RankExit(1, 255)
BY_SSH = "rank 1 was ended by a signal, or its ssh connection broke (ssh exited with code 255)"

History = list[tuple[float, Observation]]


def replay(history: History, phase: Phase = Phase.LOADING) -> tuple[State, list[Action]]:
    state = State(phase, 0.0, ready_s=60.0)
    actions = []
    for now_s, seen in history:
        state, action = decide(state, seen, now_s)
        actions.append(action)
    return state, actions


@pytest.mark.parametrize(
    ("history", "kinds", "phase", "remark"),
    [
        ([(0, QUIET), (1, QUIET)], "wait wait", Phase.LOADING, "nothing is heard of it yet"),
        ([(0, QUIET), (1, WELL)], "wait try_turn", Phase.PROBING, "it listens: try a turn"),
        ([(1, WELL), (2, WELL)], "try_turn wait", Phase.PROBING, "one turn is enough"),
        ([(1, WELL), (2, QUIET)], "try_turn wait", Phase.PROBING, "busy, its health comes late"),
        ([(1, WELL), (9, ANSWERED)], "try_turn be_ready", Phase.READY, "it answered"),
        ([(1, ANSWERED)], "try_turn", Phase.PROBING, "no answer counts that was not asked for"),
        ([(59, QUIET), (60, QUIET)], "wait give_up", Phase.FAILED, "too late"),
        ([(59, WELL), (60, WELL)], "try_turn give_up", Phase.FAILED, "too late in its first turn"),
        ([(59, WELL), (60, ANSWERED)], "try_turn be_ready", Phase.READY, "just in time"),
    ],
)
def test_the_way_up(history: History, kinds: str, phase: Phase, remark: str) -> None:
    state, actions = replay(history)
    assert " ".join(action.kind.name.lower() for action in actions) == kinds, remark
    assert state.phase is phase, remark


@pytest.mark.parametrize(
    ("seen", "text", "rank", "remark"),
    [
        (Observation(exits=(RankExit(1, 2),)), "rank 1 exited with code 2", 1, "a rank said why"),
        (Observation(exits=(LONELY, KILLED)), "rank 1 was ended by SIGKILL (if", 1, "the reason, not what came of it"),
        (Observation(exits=(LONELY,), launcher_exit=0), "rank 0 was ended by SIGABRT", 0, "no other is known"),
        (Observation(launcher_exit=2), "mlx.launch exited with code 2", None, "the launcher itself"),
        (Observation(launcher_exit=-15, missing=(0,)), "mlx.launch was ended by SIGTERM", None, "a signal for it"),
        (Observation(launcher_exit=0, missing=(0, 1)), "rank 0 ended", 0, "it went without a word"),
        (
            Observation(launcher_exit=0, guardian_alive=False),
            "mlx.launch exited with code 0",
            None,
            "guardian after it",
        ),
        (Observation(guardian_alive=False), "the guardian process", None, "the guardian was killed"),
        (Observation(health=Health.DEAD, missing=(1,)), "its generation thread died", 0, "it says so itself"),
        (Observation(exits=(FAR,), launcher_exit=0), "rank 1 was ended by a signal, or its ssh", 1, "ssh says no more"),
        (Observation(unreachable=(2, "mac3 is silent")), "mac3 is silent", 2, "nobody knows of its rank any more"),
        (Observation(port_taken=True), "rank 0 found its port taken", 0, "rank 0 does not end then"),
        (
            Observation(turn=TurnResult(False, "status 404", refused=True)),
            "it refused its first turn: status 404",
            0,
            "",
        ),
    ],
)
@pytest.mark.parametrize("phase", [Phase.LOADING, Phase.PROBING, Phase.READY])
def test_certain_ends(seen: Observation, text: str, rank: int | None, remark: str, phase: Phase) -> None:
    state, [action] = replay([(1, seen)], phase)
    assert (action.kind, action.rank) == (Kind.GIVE_UP, rank), remark
    assert action.text.startswith(text), remark
    assert state.phase is Phase.FAILED


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        (Observation(missing=(1,)), "rank 1 ended"),
        (Observation(exits=(LONELY,)), "rank 0 was ended by SIGABRT"),
        (Observation(exits=(FAR,)), BY_SSH),
        (Observation(exits=(LONELY, FAR)), BY_SSH),
        (Observation(exits=(FAR,), missing=(0,)), BY_SSH),
        (Observation(exits=(FAR,), health=Health.DEAD), BY_SSH),
        (Observation(turn=TurnResult(False, "reset")), "it broke off its first turn: reset"),
    ],
)
def test_a_suspicion_gets_time_to_be_explained(seen: Observation, text: str) -> None:
    _, actions = replay([(1, seen), (2, seen), (3, seen)], Phase.READY)
    assert [action.kind for action in actions] == [Kind.WAIT, Kind.WAIT, Kind.GIVE_UP]
    assert actions[-1].text == text


def test_a_machine_that_stood_still_leaves_time_for_the_reason() -> None:
    ended = Observation(missing=(1,))
    _, actions = replay([(1, ended), (20, ended), (20.5, Observation(missing=(1,), exits=(KILLED,)))], Phase.READY)
    assert actions[1].kind is Kind.WAIT, "the launcher stood still as well"
    assert actions[2].text.startswith("rank 1 was ended by SIGKILL")


def test_a_suspicion_explained() -> None:
    _, actions = replay(
        [(1, Observation(missing=(1,))), (1.5, Observation(missing=(1,), exits=(KILLED,)))], Phase.READY
    )
    assert actions[0].kind is Kind.WAIT
    assert actions[1].text.startswith("rank 1 was ended by SIGKILL")


@pytest.mark.parametrize(
    "later", [(FAR, RankExit(0, -9)), (RankExit(1, 255, lost_peer=True), RankExit(0, -9))], ids=["at once", "said"]
)
def test_a_far_end_may_follow_from_one_that_is_told_later(later: tuple[RankExit, ...]) -> None:
    """Its last lines come by ssh and the launcher's own do not, so that it ends first there, and of nothing."""
    seen = Observation(exits=(FAR,), missing=(0,))
    _, actions = replay([(1, seen), (2, Observation(exits=later, missing=(0,)))], Phase.READY)
    assert actions[0].kind is Kind.WAIT
    assert actions[1].text.startswith("rank 0 was ended by SIGKILL")


def test_a_suspicion_that_passes_starts_anew() -> None:
    bad = Observation(missing=(0,))
    _, actions = replay([(1, bad), (2, QUIET), (3, bad), (4, bad)], Phase.READY)
    assert {action.kind for action in actions} == {Kind.WAIT}


def test_who_only_lost_a_peer_is_not_blamed_while_another_is_gone() -> None:
    lost = RankExit(0, -6, lost_peer=True)
    state = State(Phase.READY, 0.0, 900.0)
    seen = Observation(exits=(lost,), missing=(0, 1))
    state, action = decide(state, seen, 10.0)
    assert action.kind is Kind.WAIT, "the launcher may yet say how rank 1 ended"
    for at_s in (10.0 + GRACE_S / 2, 10.0 + GRACE_S):
        state, action = decide(state, seen, at_s)
    assert (action.kind, action.rank) == (Kind.GIVE_UP, 1)
    assert "rank 1 ended without a word" in action.text
