"""Decides when a run ends before its time, since a limit was broken: `stop_on_breach`."""

from locust_agents import breach_so_far, limit_lines
from locust_agents.breach_so_far import BreachSoFar
from locust_agents.locustfiles.run_state import RunState


def look(state: RunState) -> str | None:
    """What was broken, in a sentence; None where nothing was, or nobody asked for it. Asked once a second."""
    if state.running is None or not state.running.stop_on_breach or len(state.records) == state.looked_at:
        return None
    limits = state.running.limits
    if state.breach is None:
        state.breach = BreachSoFar(limits, state.setting)
    state.breach.take(state.records[state.looked_at :])
    state.looked_at = len(state.records)
    broken = breach_so_far.found(limits, state.records, state.setting) if state.breach.is_likely() else None
    return None if broken is None else f"the run ends early: {limit_lines.sentence(broken)}"
