"""Decides when a run ends before its time, since a limit was broken: `stop_on_breach`."""

from collections.abc import Iterator

from locust_agents import limit_lines, window
from locust_agents.locustfiles.run_state import RunState
from locust_agents.records import TurnRecord
from locust_agents.verdict import Judgement, judge

# A share, or a percentile, of fewer turns may come back to its side of the bound.
_ENOUGH = 20


def look(state: RunState) -> str | None:
    """What was broken, in a sentence; None where nothing was, or nobody asked for it.

    A worst value cannot be made good again, nor a failure where none is allowed; of the rest there must be enough.
    """
    if state.running is None or not state.running.stop_on_breach or len(state.records) == state.looked_at:
        return None
    state.looked_at = len(state.records)
    records = window.measured(state.records, state.setting)
    broken = next(_broken(judge(state.running.limits, records), records), None)
    return None if broken is None else f"the run ends early: {limit_lines.sentence(broken)}"


def _broken(judgements: list[Judgement], records: list[TurnRecord]) -> Iterator[Judgement]:
    for judgement in judgements:
        limit = judgement.limit
        is_final = limit.stat in ("max", "min") or (limit.metric == "failures" and not limit.bound)
        turns = sum(record.entry == judgement.entry for record in records)
        if judgement.held is False and (is_final or turns >= _ENOUGH):
            yield judgement
