"""Decides what is said of a server that hangs: where its turns are stuck, and whose end may have done it."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from locust_agents.cluster.watch.look import EndedLook, Look, OpenLook, Rules
from locust_agents.outcome import Outcome

LEFT = {
    Outcome.ABANDONED: "was abandoned",
    Outcome.CUT: "was cut",
    Outcome.FIRST_TOKEN_TIMEOUT: "was given up before its first token",
    Outcome.STALLED: "was given up when it stalled",
    Outcome.TURN_TIMEOUT: "was given up when its time was over",
}
"""How a turn ends by the client's doing: it closes the connection, and the server must stop working on it."""

UNBATCHED = ("seed",)
"""Fields that keep a request out of the batch. On two or more ranks mlx_lm.server 0.32 cannot cancel such a request:
rank 0 leaves its loop, the others go on, and from then on every request waits for ever."""

_BEFORE_S, _AFTER_S = 10.0, 2.0
"""How far a turn's end may lie from the last sign of work and still be taken for what stopped it: a server notices
at its next write, and logs are looked at once a second."""

_MOST_NAMES = 3
_PLACES = {"decode": "in decode", "prefill": "in prefill", "queue": "in the queue"}


def suspect(ends: Sequence[EndedLook], moved_s: float, slowest_s: float, rules: Rules) -> EndedLook | None:
    """The turn whose end fits best: one that cannot be cancelled, near the last sign of work; else the last one there.

    One that was left while it still queued does its harm when its turn comes, so for it there is no "too early".
    What ended later than `slowest_s` after the last sign of work is rather a consequence.
    """
    until_s = moved_s + slowest_s + _AFTER_S
    early = [end for end in ends if end.ended_s <= until_s]
    near = [end for end in early if end.ended_s >= moved_s - _BEFORE_S]
    risky = [end for end in early if _is_risky(end, rules) and (end in near or end.turn.phase == "queue")]
    own = [end for end in ends if _unbatched_field(end.turn)]
    return next(iter(risky[-1:] or own[:1] or near[-1:]), None)


def hangs(look: Look, since_s: float, asked_s: float, culprit: EndedLook | None, rules: Rules) -> str:
    """The sentence for a server that holds its connections and does nothing."""
    is_seen = look.log_bytes is not None
    where = ", neither on a stream nor in rank 0's log" if is_seen else " on any stream (its log is not at hand)"
    return (
        f"the server hangs: for {look.now_s - since_s:.0f} s nothing has moved{where}, {_stuck(look.open_turns)}, and"
        f" a request of one token got no answer in {look.now_s - asked_s:.0f} s; {_cause(culprit, rules)}"
    )


def gone(look: Look, text: str) -> str:
    """The sentence for a server that turns requests away."""
    return (
        f"the server serves no more ({_stuck(look.open_turns)}): requests of one token end with {text!r}; look at its"
        " processes and logs, and start it again"
    )


def _cause(culprit: EndedLook | None, rules: Rules) -> str:
    if culprit is None:
        return (
            "no turn of this run was left before its end, so another client's may have been, or a rank hangs: look at"
            " the ranks' logs and processes, and start the server again"
        )
    what = f"it stopped when {_name(culprit.turn)} {LEFT[culprit.outcome]} {_place(culprit.turn)}"
    if not _is_risky(culprit, rules) or rules.ranks == 1:
        unless = ", except on two or more ranks with --kv-bits" if rules.ranks is None else ""
        return f"{what}, which is not known to hang a server{unless}: read rank 0's log, and start the server again"
    field = _unbatched_field(culprit.turn)
    why, cure = (f"a {field}", f"send no {field}") if field else (rules.unbatched, f"do without {rules.unbatched}")
    return (
        f"{what}: with {why} a request cannot be batched, and one that is left before its end hangs mlx_lm.server on"
        f" two or more ranks for good; {cure}, or let such turns end, and start the server again"
    )


def _is_risky(end: EndedLook, rules: Rules) -> bool:
    return bool(rules.unbatched or _unbatched_field(end.turn))


def _unbatched_field(turn: OpenLook) -> str | None:
    names = (field.split()[0] for field in turn.unusual)
    return next((name for name in names if name in UNBATCHED), None)


def _stuck(turns: Iterable[OpenLook]) -> str:
    """`stuck in decode: a turn 3; in the queue: b turn 1 and 2 more`."""
    order = list(_PLACES)
    ranked = sorted(turns, key=lambda turn: (order.index(turn.phase), turn.started_s))
    groups = [f"{_PLACES[phase]}: {_names(list(group))}" for phase, group in groupby(ranked, lambda turn: turn.phase)]
    return f"stuck {'; '.join(groups)}" if groups else "and turns have ended without an answer"


def _names(turns: Sequence[OpenLook]) -> str:
    named = ", ".join(_name(turn) + _steps(turn) for turn in turns[:_MOST_NAMES])
    more = len(turns) - _MOST_NAMES
    return f"{named} and {more} more" if more > 0 else named


def _name(turn: OpenLook) -> str:
    unusual = f" with {', '.join(turn.unusual)}" if turn.unusual else ""
    return f"{turn.agent}'s turn {turn.turn} ({turn.kind}{unusual})"


def _place(turn: OpenLook) -> str:
    return _PLACES[turn.phase] + _steps(turn)


def _steps(turn: OpenLook) -> str:
    if turn.phase != "prefill":
        return ""
    if turn.prefill_done is None:
        return " before its first step"
    total = "" if turn.prefill_total is None else f" of {turn.prefill_total:,}"
    return f" at {turn.prefill_done:,}{total} tokens"
