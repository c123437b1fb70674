"""What can be chosen on Locust's start form, and with the same options of its command line, beside a scenario."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from locust_agents.scenarios import loader, with_plugins
from locust_agents.scenarios.model import Scenario
from locust_agents.scenarios.overrides import Override, attaching

if TYPE_CHECKING:
    from locust.argument_parser import LocustArgumentParser


def add_options(parser: "LocustArgumentParser", scenario: Scenario | None) -> None:
    """The form shows what the scenario says. Names without digits, added to the parser itself: it loses all others."""
    parser.add_argument(
        "--attach",
        default=_attached(scenario),
        metavar="URL",
        help="URL of a server that is already there; empty: the scenario's own",
    )
    parser.add_argument(
        "--seed", type=int, default=1 if scenario is None else scenario.seed, help="Texts and draws of the run"
    )
    parser.add_argument(
        "--stages",
        action=argparse.BooleanOptionalAction,
        default=True,
        include_in_web_ui=scenario is not None and scenario.stages is not None,
        help="Agents come and go as the scenario says; off: all of them, all the time",
    )


def chosen(scenario: Scenario, options: Any) -> Scenario:
    """The scenario with what was chosen; raises ScenarioError, which names the option."""
    overrides = _overrides(scenario, options)
    return with_plugins.parse(loader.dump(scenario), "the scenario", overrides) if overrides else scenario


def unused(scenario: Scenario, options: Any) -> str | None:
    """One sentence where -u or -r was given beside a scenario."""
    if options is None or (options.num_users is None and options.spawn_rate is None):
        return None
    agents = ", ".join(f"{name} {entry.agents}" for name, entry in scenario.swarm.items())
    return f"-u and -r change nothing: the scenario says how many agents there are ({agents})"


def _overrides(scenario: Scenario, options: Any) -> list[Override]:
    attach, seed = getattr(options, "attach", "").strip(), getattr(options, "seed", scenario.seed)
    found = []
    if attach and attach != _attached(scenario):
        found += attaching(attach)
    if seed != scenario.seed:
        found.append(Override("seed", str(seed), option="--seed"))
    if scenario.stages is not None and not getattr(options, "stages", True):
        found += _without_stages(scenario)
    return found


def _without_stages(scenario: Scenario) -> Sequence[Override]:
    """As long as they were, with as many agents as there were at most."""
    duration = Override("duration", f"{scenario.load_s:g}s", option="--no-stages")
    return [*(Override(key, "null", option="--no-stages") for key in ("stages", "on_retire")), duration]


def _attached(scenario: Scenario | None) -> str:
    return "" if scenario is None or scenario.server.attach is None else scenario.server.attach.url
