"""Decides what is said of run B in one line, and the exit status: 1 where it is worse than A beyond noise.

Without --allow these decide: TTFT, failures, reuse and decode, each kind of each entry. With it, the keys that it names
and failures. Where a run cannot be trusted the status is 4, whatever the figures say.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from locust_agents import metrics
from locust_agents.compare import comparing
from locust_agents.compare.allowed import Allowance, is_over
from locust_agents.compare.comparing import Comparison, Figure
from locust_agents.outcome import Outcome
from locust_agents.records import TurnRecord

_METRICS = ("right", "failures", "ttft", "reuse", "decode")
_STATS = ("p95", "p50", "level", None)

WORSE, SAME, UNTRUSTED = 1, 0, 4


@dataclass(frozen=True, slots=True)
class Run:
    """One of the two: its records, what its summary.json holds, and `name`, which is A or B."""

    name: str
    records: Sequence[TurnRecord]
    summary: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """`word` is what B is; `because` the figure that says so, `doubts` why it is said with less than full weight."""

    word: str
    status: int
    because: Figure | None = None
    reason: str | None = None
    doubts: tuple[str, ...] = ()
    broken: tuple[Figure, ...] = ()


def decide(
    a: Run, b: Run, found: Comparison, allowed: Sequence[Allowance] = (), held: Comparison | None = None
) -> Verdict:
    """`held` are the figures that `asked` names, where anything is allowed."""
    if held is None:
        broken = [one for one in found.figures if comparing.is_default_key(one) and one.word == "worse"]
    else:
        over = [one for one in held.figures if is_over(one, allowed)]
        is_allowed = any(one.metric == "failures" for one in allowed)
        failed = [one for one in found.figures if one.metric == "failures" and one.word == "worse"]
        broken = over if is_allowed else [*over, *failed]
    doubts = tuple(doubt for run in (a, b) for doubt in _doubts(run))
    verdict = _of_ends(a, b) or _of_figures(found, broken, doubts)
    is_untrusted = any(run.summary.get("exit_status") == UNTRUSTED for run in (a, b))
    status = UNTRUSTED if is_untrusted else verdict.status
    return Verdict(verdict.word, status, verdict.because, verdict.reason, doubts, tuple(broken))


def _of_figures(found: Comparison, broken: Sequence[Figure], doubts: Sequence[str]) -> Verdict:
    better = [one for one in found.figures if comparing.is_default_key(one) and one.word == "better"]
    if broken:
        return Verdict("worse", WORSE, min(broken, key=_rank))
    if better and doubts:
        return Verdict("not called better", SAME, min(better, key=_rank))
    if better:
        return Verdict("better", SAME, min(better, key=_rank))
    # One turn that was cut as the run ended leaves the worst of it open, and says little else.
    words = {one.word for one in found.figures if comparing.is_default_key(one) and one.stat not in ("max", "min")}
    if words <= {"few"}:
        return Verdict("not decided", SAME, reason="too few turns or sessions to tell a difference from noise")
    if "open" in words:
        return Verdict("not decided", SAME, reason="waits that had not ended decide")
    return Verdict("not different", SAME, reason="what differs is noise")


def _of_ends(a: Run, b: Run) -> Verdict | None:
    """What no figure needs to be asked for."""
    ok_a, ok_b = (any(record.outcome is Outcome.OK for record in run.records) for run in (a, b))
    if not ok_b:
        return Verdict("worse" if ok_a else "not decided", WORSE if ok_a else SAME, reason="none of its turns was ok")
    if b.summary.get("exit_status") == 3 and a.summary.get("exit_status") != 3:
        return Verdict("worse", WORSE, reason=b.summary.get("error") or "its server did not last")
    if _is_wrong(b) and not _is_wrong(a):
        return Verdict("worse", WORSE, reason="its answers are not right")
    return None


def _doubts(run: Run) -> list[str]:
    """Why this run crowns nobody."""
    status, untrusted = run.summary.get("exit_status"), run.summary.get("untrusted")
    return [
        *([f"{run.name} cannot be trusted: {untrusted or 'status 4'}"] if status == UNTRUSTED else []),
        *([f"{run.name} ended with status 3: {run.summary.get('error') or 'no turn was ok'}"] if status == 3 else []),
        *([f"{run.name}'s answers are not right"] if _is_wrong(run) else []),
        *([f"{run.name} has no summary.json: it was killed, or still runs"] if not run.summary else []),
    ]


def _is_wrong(run: Run) -> bool:
    """An answer to its code words was not right. One that differs from what was said alone may still be right."""
    share = metrics.right(run.records)
    return share is not None and share < 1


def _rank(figure: Figure) -> tuple[int, int, float]:
    """The figure that says most: by its metric, then p95 before the median, then by its size."""
    metric = _METRICS.index(figure.metric) if comparing.is_default_key(figure) else len(_METRICS)
    stat = _STATS.index(figure.stat) if figure.stat in _STATS else len(_STATS)
    return metric, stat, -abs(figure.change or 0.0)
