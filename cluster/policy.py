"""Decides from what was seen of a server whether to wait, to try a turn, to call it ready, or to give it up."""

import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from locust_agents.cluster.trouble_clock import TroubleClock

GRACE_S = 2.0
"""Signs of trouble come before their reason: how long the launcher gets to write down which rank ended, and how."""

SSH_FAILED = 255
"""The exit code of ssh when the connection broke, and when a signal ended what it ran: also a rank that lost its peer.

That it lost it may stand in the log later than its end: what comes from another machine and what the launcher says of
it take two ways there.
"""


class Phase(Enum):
    """How far a server has come."""

    LOADING = auto()
    PROBING = auto()
    READY = auto()
    FAILED = auto()


class Health(Enum):
    """What GET /health said: nothing, that it is well, or that its generation thread has died."""

    SILENT = auto()
    WELL = auto()
    DEAD = auto()


class Kind(Enum):
    """What the supervisor shall do now."""

    WAIT = auto()
    TRY_TURN = auto()
    BE_READY = auto()
    GIVE_UP = auto()


@dataclass(frozen=True, slots=True)
class RankExit:
    """The end of one rank. A negative code is a signal; `lost_peer` says that its end followed from another's."""

    rank: int
    code: int
    lost_peer: bool = False


@dataclass(frozen=True, slots=True)
class TurnResult:
    """How the ready turn ended; `refused` is an answer that no patience will change."""

    ok: bool
    text: str = ""
    refused: bool = False
    prompt_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """What was seen at one moment; `missing` are ranks whose process is gone without a word from the launcher.

    `unreachable` is a rank on a host that has long not answered over ssh, and the sentence about that.
    """

    guardian_alive: bool = True
    launcher_exit: int | None = None
    exits: tuple[RankExit, ...] = ()
    missing: tuple[int, ...] = ()
    unreachable: tuple[int, str] | None = None
    port_taken: bool = False
    health: Health = Health.SILENT
    turn: TurnResult | None = None


@dataclass(frozen=True, slots=True)
class State:
    """What must be remembered between two observations; times are those of the caller's monotonic clock."""

    phase: Phase
    started_s: float
    ready_s: float
    trouble: TroubleClock = TroubleClock()


@dataclass(frozen=True, slots=True)
class Action:
    """What to do; with GIVE_UP, `text` says what happened and `rank` whose log tells more (None: the launcher's)."""

    kind: Kind
    text: str = ""
    rank: int | None = None
    advice: str = "correct that and run again"


WAIT = Action(Kind.WAIT)


def decide(state: State, seen: Observation, now_s: float) -> tuple[State, Action]:
    """The next state, and what to do on the way to it."""
    certain = _certain(seen)
    if certain:
        return replace(state, phase=Phase.FAILED), certain
    suspicion = _suspicion(seen)
    if suspicion:
        trouble = state.trouble.seen(now_s)
        if trouble.seconds >= GRACE_S:
            return replace(state, phase=Phase.FAILED), suspicion
        return replace(state, trouble=trouble), WAIT
    return _advance(replace(state, trouble=TroubleClock()), seen, now_s)


def guilty(exits: Sequence[RankExit]) -> RankExit | None:
    """The first whose end followed from no other's; one that only ssh tells of, where no other is known."""
    own = [end for end in exits if not end.lost_peer]
    return min(own, key=lambda end: end.code == SSH_FAILED, default=None)


def _advance(state: State, seen: Observation, now_s: float) -> tuple[State, Action]:
    if state.phase is Phase.PROBING and seen.turn and seen.turn.ok:
        return replace(state, phase=Phase.READY), Action(Kind.BE_READY)
    if state.phase in (Phase.READY, Phase.FAILED):
        return state, WAIT
    if now_s - state.started_s >= state.ready_s:
        late = Action(Kind.GIVE_UP, f"it was not ready after {state.ready_s:g} s", 0, "give it longer, or read its log")
        return replace(state, phase=Phase.FAILED), late
    if state.phase is Phase.LOADING and seen.health is Health.WELL:
        return replace(state, phase=Phase.PROBING), Action(Kind.TRY_TURN)
    return state, WAIT


def _certain(seen: Observation) -> Action | None:
    """Trouble whose reason is known."""
    if (end := guilty(seen.exits)) and end.code != SSH_FAILED:
        return _ended(end)
    if seen.launcher_exit is not None:
        if seen.launcher_exit >= 0 and (suspicion := _suspicion(seen)):
            return suspicion  # it has written all that it knows
        return Action(Kind.GIVE_UP, f"mlx.launch {_how(seen.launcher_exit)}")
    if not seen.guardian_alive:
        return Action(Kind.GIVE_UP, "the guardian process, which cleans up if we are killed, was itself ended")
    if seen.unreachable:
        return Action(Kind.GIVE_UP, seen.unreachable[1], seen.unreachable[0])
    if seen.health is Health.DEAD and not seen.exits:
        return Action(Kind.GIVE_UP, "its generation thread died", 0)
    if seen.port_taken:
        return Action(Kind.GIVE_UP, "rank 0 found its port taken", 0, "choose another port, or none")
    if seen.turn and seen.turn.refused:
        return Action(Kind.GIVE_UP, f"it refused its first turn: {seen.turn.text}", 0)
    return None


def _suspicion(seen: Observation) -> Action | None:
    """Trouble that may get a better reason within GRACE_S."""
    told = {end.rank for end in seen.exits}
    if end := guilty(seen.exits):
        return _ended(end)
    if untold := [rank for rank in seen.missing if rank not in told and seen.exits]:
        # those that said something only lost their peer; this one is what they lost
        return Action(Kind.GIVE_UP, f"rank {untold[0]} ended without a word", untold[0])
    if seen.exits:
        return _ended(seen.exits[0])
    if seen.missing:
        return Action(Kind.GIVE_UP, f"rank {seen.missing[0]} ended", seen.missing[0])
    if seen.turn and not seen.turn.ok:
        return Action(Kind.GIVE_UP, f"it broke off its first turn: {seen.turn.text}", 0)
    return None


def _ended(end: RankExit) -> Action:
    return Action(Kind.GIVE_UP, f"rank {end.rank} {_how(end.code)}", end.rank)


def _how(code: int) -> str:
    if code == -signal.SIGKILL:
        return "was ended by SIGKILL (if no person did that, the system ran out of memory)"
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    if code == SSH_FAILED:
        return "was ended by a signal, or its ssh connection broke (ssh exited with code 255)"
    return f"exited with code {code}"
