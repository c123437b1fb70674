"""Which of a product's other system prompts a behaviour uses: those are measured before a run, as its first one is."""

from collections.abc import Mapping, Sequence
from typing import Any

from locust_agents.forecast.dry_run import dry_run
from locust_agents.forecast.session_plan import Load, PlannedTurn, Terms
from locust_agents.plugins.api import Agent, Behaviour
from locust_agents.profile import Profile
from locust_agents.prompts import preambles

# A role that none of so many sessions, of so many turns each, has used is sized without a measurement.
_SESSIONS, _TURNS = 4, 300


def used(behaviour: Behaviour, profile: Profile, parameters: Mapping[str, Any]) -> list[Profile]:
    """The profile, and itself in each role that sessions of the behaviour send something in."""
    if not profile.roles:
        return [profile]
    load = Load("roles", behaviour, profile, parameters=parameters)
    sent = {turn.shared for number in range(_SESSIONS) for turn in _session(load, number)}
    in_roles = [profile.in_role(name) for name in profile.roles]
    return [profile, *(role for role in in_roles if preambles.key(role, 1.0) in sent)]


def _session(load: Load, number: int) -> Sequence[PlannedTurn]:
    tokens = float(load.profile.system_tokens + load.profile.tool_tokens)
    agent = Agent("roles/0.0", f"roles/0.0#{number}", f"roles {number}", tokens, profile=load.profile)
    return dry_run(load, agent, Terms(), most_turns=_TURNS).turns
