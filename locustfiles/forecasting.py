"""Before the load: from where the server's speed is known, and the forecast that is said with it."""

from collections.abc import Sequence
from pathlib import Path

from locust_agents.forecast import input, last_curve, outlook
from locust_agents.forecast.last_curve import Found
from locust_agents.forecast.prefill_curve import Speed
from locust_agents.forecast.session_plan import Bounds
from locust_agents.forecast.timetable import timetable
from locust_agents.locustfiles import curve
from locust_agents.locustfiles.asking import Peer
from locust_agents.locustfiles.run_state import RunState
from locust_agents.prompts.sizing import Calibration


def foretell(state: RunState, peer: Peer, measured: Calibration) -> None:
    """Times the server where it may be timed and has not been, and says the forecast.

    Classes written by hand have no swarm that could be played in advance.
    """
    scenario = state.running
    if scenario is None or not scenario.swarm:
        return
    loads, terms = input.loads_of(scenario), input.terms_of(scenario, measured)
    bounds = input.bounds_of(scenario, state.run_time_s())
    if state.timed is None and _may_time(state, measured):
        sizes = outlook.sizes_to_time(timetable(loads, terms, bounds, Speed()))
        state.timed = _timed(state, peer, measured, sizes, bounds)
    elif state.timed is None:
        state.timed = _earlier(state)
    state.forecast = outlook.forecast(loads, terms, bounds, state.speed or Speed())
    for line in outlook.lines(state.forecast):
        state.say(line)


def _may_time(state: RunState, measured: Calibration) -> bool:
    """Not where it was not wanted, would disturb a warm cache or other people, or sizes are a guess."""
    scenario = state.running
    is_wanted = scenario is not None and scenario.curve and scenario.cache == "cold"
    return is_wanted and measured.measured and not state.is_shared


def _timed(state: RunState, peer: Peer, measured: Calibration, sizes: Sequence[int], bounds: Bounds) -> Found | None:
    if state.folder is None or not sizes:
        return None
    within_s = curve.budget_s(bounds.duration_s)
    speed = curve.speed(curve.Timing(peer, measured, state.folder.note, state.say, within_s), sizes)
    return None if speed.prefill is None else Found(state.folder.path.name, speed)


def _earlier(state: RunState) -> Found | None:
    """Of the last run beside this one, or where `check` looks, that timed this server."""
    if state.folder is None or state.running is None:
        return None
    wanted = input.server_of(state.running)
    for runs in dict.fromkeys((state.folder.path.parent, Path("runs"))):
        if (found := last_curve.find(runs, wanted)) is not None:
            state.say(f"the server's speed is taken from {runs / found.run}")
            return found
    return None
