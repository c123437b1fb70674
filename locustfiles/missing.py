"""Counts the agents that the plan has and nobody is: Locust lost them, or their worker is gone."""

from collections.abc import Mapping

from locust_agents import stages
from locust_agents.locustfiles import senders
from locust_agents.locustfiles.run_state import RunState
from locust_agents.scenarios.model import Scenario
from locust_agents.stages import Plan

EVENT = "agents missing"
# So long slots may take to come, at the start and where a worker is replaced.
_GRACE_S = 10.0


def look(state: RunState) -> None:
    """Asked once a second; what is missing is said when it is more than before."""
    if state.running is None or state.drained_at is not None or state.elapsed_s() < _GRACE_S:
        return
    wanted = _wanted(state, state.running)
    found = stages.missing(wanted, senders.numbers(state))
    if found > (0 if state.missing is None else state.missing[0]):
        state.missing = (found, sum(wanted.values()))
        state.say(words(*state.missing))
        if state.folder is not None:
            state.folder.note(EVENT, {"missing": found, "of": state.missing[1]})


def words(number: int, of: int) -> str:
    """As it stands above the table."""
    return f"agents missing {number} of {of}"


def _wanted(state: RunState, scenario: Scenario) -> Mapping[str, int]:
    """Of the entries that were chosen on Locust's page; none where its own shape says how many users there are."""
    runner, plan = state.environment.runner, Plan.of(scenario)
    if runner is None or state.environment.shape_class is None:
        return {}
    chosen = {user_class.__name__ for user_class in runner.user_classes}
    entries = [(name, entry.agents) for name, entry in scenario.swarm.items() if name in chosen]
    return {name: agents if plan is None else plan.wanted(name, state.elapsed_s()) for name, agents in entries}
