"""Decides what of a scenario a forecast is made from."""

from collections.abc import Mapping
from typing import Any

import yaml

from locust_agents.forecast.session_plan import Bounds, Load, Terms
from locust_agents.plugins import registry
from locust_agents.prompts import scaling
from locust_agents.prompts.prefix_break import PrefixBreak
from locust_agents.prompts.sizing import Calibration
from locust_agents.scenarios import loader
from locust_agents.scenarios.model import Entry, Scenario
from locust_agents.stages import Plan

# What the built-in models answer when they are offered tools, end of turn included: always the same.
_TINY_ANSWER_TOKENS = {"tiny": 19, "tiny-hybrid": 19, "tiny-long": 250}


def loads_of(scenario: Scenario) -> list[Load]:
    """A load for each entry; raises PluginError for names that nobody registered."""
    return [_load(name, entry, scenario) for name, entry in scenario.swarm.items()]


def prefix_of(entry: Entry, scenario: Scenario) -> PrefixBreak | None:
    """What an entry changes of its prompts on purpose: its own, else the scenario's."""
    keys = entry.prefix or scenario.prefix
    return None if keys is None else PrefixBreak(keys.kind, keys.probability)


def _load(name: str, entry: Entry, scenario: Scenario) -> Load:
    profile = registry.profile(entry.profile)
    return Load(
        name,
        registry.behaviour(entry.behaviour),
        profile,
        entry.agents,
        entry.parameters,
        entry.after_s,
        prefix_of(entry, scenario),
        scaling.scale_of(profile, scenario.scale, scenario.context),
        entry.twin_of,
        scenario.arrival_of(name),
    )


def terms_of(scenario: Scenario, calibration: Calibration | None = None) -> Terms:
    """The scenario's own, with what the server said of its tokens where that is known."""
    launch = scenario.server.launch
    return Terms(
        seed=scenario.seed,
        scale=scenario.scale,
        gap_scale=scenario.gaps.scale,
        gap_cap_s=scenario.gaps.cap_s,
        replies=scenario.replies,
        outputs=scenario.outputs,
        calibration=calibration or Calibration(""),
        answer_tokens=None if launch is None else _TINY_ANSWER_TOKENS.get(launch.model),
    )


def bounds_of(scenario: Scenario, duration_s: float | None = None) -> Bounds:
    """The scenario's own; `duration_s` stands for Locust's `-t` where that is given."""
    return Bounds(
        duration_s=scenario.load_s if duration_s is None else duration_s,
        turns=scenario.turns,
        sessions=scenario.sessions,
        apart_s=scenario.start.apart_s,
        drain_s=scenario.drain_s,
        stages=Plan.of(scenario),
    )


def server_of(scenario: Scenario) -> Mapping[str, Any]:
    """The `server:` of a scenario as it stands in a run's folder, for `last_curve.find`."""
    server: Mapping[str, Any] = yaml.safe_load(loader.dump(scenario))["server"]
    return server
