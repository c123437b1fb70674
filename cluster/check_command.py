"""`locust-agents check`: says what a run would start and send, and what is wrong with it. Starts nothing."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from locust_agents.cluster import attach, check_lines, launching
from locust_agents.cluster.address import fixed_ports
from locust_agents.plugins import registry
from locust_agents.scenarios import loader
from locust_agents.scenarios.loader import read_override
from locust_agents.scenarios.model import Scenario


def main(argv: Sequence[str]) -> int:
    """Prints the lines; a mistake in scenario, hostfile or options is raised, all of them at once."""
    options = _parser().parse_args(argv)
    scenario = loader.load(
        loader.find(options.scenario),
        registry.parameters(),
        registry.profiles(),
        [read_override(text) for text in options.set],
    )
    print("\n".join(lines(scenario)))
    return 0


def lines(scenario: Scenario) -> list[str]:
    """What is to be seen of a scenario before it runs; raises ScenarioError and ClusterError."""
    return [f"{scenario.name}: {', '.join(_swarm(scenario))}", *_server(scenario)]


def _swarm(scenario: Scenario) -> list[str]:
    return [f"{entry.agents} {name} ({entry.behaviour}, {entry.profile})" for name, entry in scenario.swarm.items()]


def _server(scenario: Scenario) -> list[str]:
    server = scenario.server
    if server.launch is None:
        return [] if server.attach is None else check_lines.attached_lines(attach.base_url(server.attach.url))
    made = launching.launchable(scenario, server.launch, lambda _: None)
    ports = launching.chosen_ports(made.spec)
    is_drawn = fixed_ports(made.spec) is None and made.spec.port is None
    shown = check_lines.lines(made.spec, made.model, *ports, Path("runs") / "RUN", is_drawn)
    return [*shown, *(f"warning: {warning}" for warning in made.warnings)]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("locust-agents check", description="What a run would start. Starts nothing.")
    parser.add_argument("scenario", nargs="?", default="quickstart", help="a file, or the name of one that ships")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="set a key of the scenario")
    return parser
