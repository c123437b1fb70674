"""From a scenario to Locust's user classes."""

from collections.abc import Mapping
from dataclasses import fields

from locust_agents.forecast.input import prefix_of
from locust_agents.locustfiles.user import CodingAgent
from locust_agents.patience import Timeouts
from locust_agents.plugins import registry
from locust_agents.profile import Profile
from locust_agents.scenarios.model import Entry, Scenario


def classes_of(scenario: Scenario) -> dict[str, type[CodingAgent]]:
    """A class for each entry, under the entry's name: what Locust's class picker shows is what the file says."""
    return {name: _class_of(name, entry, scenario) for name, entry in scenario.swarm.items()}


def _class_of(name: str, entry: Entry, scenario: Scenario) -> type[CodingAgent]:
    profile = registry.profile(entry.profile)
    attributes: Mapping[str, object] = {
        "__doc__": f"{entry.agents} agents of {entry.behaviour}, as {entry.profile} does it.",
        "abstract": False,
        "fixed_count": entry.agents,
        "entry": name,
        "behaviour": registry.behaviour(entry.behaviour),
        "profile": profile,
        "parameters": dict(entry.parameters),
        "scale": scenario.scale,
        "replies": scenario.replies,
        "outputs": scenario.outputs,
        "gap_scale": scenario.gaps.scale,
        "gap_cap_s": scenario.gaps.cap_s,
        "after_s": entry.after_s,
        "apart_s": scenario.start.apart_s,
        "sessions": scenario.sessions,
        "context_tokens": scenario.context,
        "cap_prompt": entry.cap_prompt or scenario.cap_prompt,
        "prefix": prefix_of(entry, scenario),
        "thinking": scenario.thinking,
        "timeouts": _timeouts(profile, scenario),
    }
    return type(name, (CodingAgent,), dict(attributes))


def _timeouts(profile: Profile, scenario: Scenario) -> Timeouts:
    """The profile's own, where the scenario sets none."""
    wanted = {field.name: getattr(scenario.timeouts, field.name) for field in fields(Timeouts)}
    own = {name: getattr(profile.timeouts, name) if value is None else value for name, value in wanted.items()}
    return Timeouts(**own)
