"""Decides whether a server works, is only silent, is to be asked for a sign of life, or hangs. Pure: no clock."""

from dataclasses import dataclass, replace
from enum import Enum, auto

from locust_agents.cluster.policy import TurnResult
from locust_agents.cluster.watch import verdict as watch_verdict
from locust_agents.cluster.watch.look import EndedLook, Look, Rules
from locust_agents.outcome import Outcome

BLIND_PATIENCE_S = 60.0
"""Without a log, another client's long prefill cannot be seen: then a probe is given as long as one may take."""

MOST_LOST_PROBES = 2
"""A full listen backlog (5 in mlx_lm.server) resets one connection now and then; not two in a row, a second apart."""

_KEPT_ENDS = 16
_IN_VAIN = (
    Outcome.REFUSED,
    Outcome.RESET,
    Outcome.CONNECT_TIMEOUT,
    Outcome.FIRST_TOKEN_TIMEOUT,
    Outcome.STALLED,
    Outcome.TURN_TIMEOUT,
)
_THREAD_DIED = "generation thread died"  # mlx_lm.server's words, in a 404


class Kind(Enum):
    """What a look showed: nobody waits, something moved, nothing did, nothing did for too long, it hangs."""

    IDLE = auto()
    MOVING = auto()
    QUIET = auto()
    PROBE = auto()
    WEDGED = auto()


@dataclass(frozen=True, slots=True)
class State:
    """What must be remembered between two looks, on their clock.

    `moved_s`: the last sign of work. `vain_s`: the start of the first turn that has since ended without an answer.
    `slowest_s`: the longest silence with turns open that ended by itself. `ends`: turns that were left, oldest first.
    """

    moved_s: float
    slowest_s: float = 0.0
    log_bytes: int | None = None
    vain_s: float | None = None
    lost_probes: int = 0
    ends: tuple[EndedLook, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """`since_s`: nothing has moved since then, while somebody waited. With WEDGED, `verdict` is one sentence."""

    kind: Kind
    since_s: float | None = None
    verdict: str = ""


def decide(state: State, look: Look, rules: Rules) -> tuple[State, Decision]:
    """The next state, and what to do; PROBE means that a request of one token is to be sent now."""
    before, state = state, _remember(_take(state, look), look)
    since_s = quiet_since(state, look)
    if since_s is None:
        return state, Decision(Kind.IDLE)
    if look.now_s - since_s < rules.silence_s:
        return state, Decision(Kind.MOVING if state.moved_s > before.moved_s else Kind.QUIET, since_s)
    if state.lost_probes >= MOST_LOST_PROBES and look.probe.result:
        return state, Decision(Kind.WEDGED, since_s, watch_verdict.gone(look, look.probe.result.text))
    began_s = look.probe.began_s
    if began_s is None or look.probe.result:
        return state, Decision(Kind.PROBE, since_s)
    if look.now_s - began_s < _patience_s(state, look, rules):
        return state, Decision(Kind.QUIET, since_s)
    suspect = watch_verdict.suspect(state.ends, state.moved_s, state.slowest_s, rules)
    return state, Decision(Kind.WEDGED, since_s, watch_verdict.hangs(look, since_s, began_s, suspect, rules))


def quiet_since(state: State, look: Look) -> float | None:
    """Since when somebody waits and nothing moves; None where nobody waits, nor has in vain since the last move."""
    waiting = [turn.started_s for turn in look.open_turns]
    waiting += [] if state.vain_s is None else [state.vain_s]
    return max(state.moved_s, min(waiting)) if waiting else None


def _patience_s(state: State, look: Look, rules: Rules) -> float:
    """A server that was silent for a minute and then went on by itself may be so again."""
    blind_s = BLIND_PATIENCE_S if look.log_bytes is None else 0.0
    return max(rules.patience_s, state.slowest_s, blind_s)


def _take(state: State, look: Look) -> State:
    """Takes in what moved, on any stream, in the log, or as an answer to the probe."""
    worked_s = max([state.moved_s, *_stream_moves(look), *_log_moves(state, look)])
    answered_s = look.probe.ended_s if _is_answer(look.probe.result) else None
    moved_s = max(worked_s, answered_s or worked_s)
    quiet_s = quiet_since(state, look)
    state = replace(state, log_bytes=look.log_bytes)
    if moved_s <= state.moved_s:
        return replace(state, lost_probes=state.lost_probes + (look.probe.result is not None))
    if quiet_s is not None:
        state = replace(state, slowest_s=max(state.slowest_s, worked_s - quiet_s))
    return replace(state, moved_s=moved_s, vain_s=None, lost_probes=0)


def _stream_moves(look: Look) -> list[float]:
    turns = (*look.open_turns, *(end.turn for end in look.ended))
    return [turn.moved_s for turn in turns if turn.moved_s is not None]


def _log_moves(state: State, look: Look) -> list[float]:
    known = look.log_bytes is not None and state.log_bytes is not None
    return [look.now_s] if known and look.log_bytes != state.log_bytes else []


def _is_answer(result: TurnResult | None) -> bool:
    """Also a refusal (a wrong key, say) is a sign of life, unless it says that nothing will ever be generated."""
    return result is not None and (result.ok or (result.refused and _THREAD_DIED not in result.text))


def _remember(state: State, look: Look) -> State:
    """Keeps the turns that were left before their end, and notes whether one waited in vain since the last move."""
    left = tuple(end for end in look.ended if end.outcome in watch_verdict.LEFT)
    vain = [end.turn.started_s for end in look.ended if _was_in_vain(end) and end.ended_s > state.moved_s]
    vain += [] if state.vain_s is None else [state.vain_s]
    return replace(state, ends=(*state.ends, *left)[-_KEPT_ENDS:], vain_s=min(vain, default=None))


def _was_in_vain(end: EndedLook) -> bool:
    unheard = end.outcome is Outcome.ABANDONED and end.turn.moved_s is None
    return unheard or end.outcome in _IN_VAIN
