"""`locust-agents check`: says what a run would start and send, and what is wrong with it. Starts nothing."""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from locust_agents.cluster import attach, check_lines, launchers, launching
from locust_agents.cluster.address import fixed_ports
from locust_agents.cluster.launch_spec import LaunchSpec
from locust_agents.cluster.launching import Launchable
from locust_agents.cluster.probe import course
from locust_agents.forecast import input, last_curve, outlook
from locust_agents.forecast.prefill_curve import Speed
from locust_agents.scenarios import chosen
from locust_agents.scenarios.loader import Override, read_override
from locust_agents.scenarios.model import Probe, Scenario, Server
from locust_agents.sweep import cells, reading

RUN = Path("runs") / "RUN"
"""Stands for the folder that a run will make."""


def main(argv: Sequence[str]) -> int:
    """Prints the lines; a mistake in scenario, hostfile or options is raised, all of them at once."""
    options = _parser().parse_args(argv)
    overrides = [read_override(text) for text in options.set]
    scenario = chosen.read(options.scenario, overrides, options.plugin)
    launch = scenario.server.launch
    made = None if launch is None else launching.launchable(scenario, launch, _to_stderr)
    ports = None if made is None else _ports(made.spec, options.probe)
    print("\n".join([*lines(scenario, made, ports), *_swept(scenario, options, overrides)]))
    return _probe(made, ports) if options.probe else 0


def lines(scenario: Scenario, made: Launchable | None, ports: tuple[int, int] | None) -> list[str]:
    """What is to be seen of a scenario before it runs; `made` and `ports` where it launches its server."""
    return [
        f"{scenario.name}: {', '.join(_swarm(scenario))}",
        *_forecast(scenario),
        *(_elsewhere(scenario.server) if made is None or ports is None else _launched(made, ports, scenario.probe)),
    ]


def _swept(scenario: Scenario, options: argparse.Namespace, overrides: Sequence[Override]) -> list[str]:
    """How many runs `sweep` would make, and of which values; a cell that could not be launched is raised here too."""
    if scenario.sweep is None or not scenario.sweep.axes:
        return []
    read = partial(_cell, options, overrides)
    count = len(reading.cells(scenario, scenario.sweep, read, _to_stderr))
    axes = (f"{key} {', '.join(map(cells.shown, values))}" for key, values in scenario.sweep.axes.items())
    return [f"sweep   {count} runs, if it is swept: {'; '.join(axes)}"]


def _cell(options: argparse.Namespace, overrides: Sequence[Override], own: Sequence[Override]) -> Scenario:
    return chosen.read(options.scenario, [*overrides, *own], options.plugin)


def _forecast(scenario: Scenario) -> list[str]:
    """From the curve of the last run against such a server, where there is one."""
    loads, terms = input.loads_of(scenario), input.terms_of(scenario)
    found = last_curve.find(Path("runs"), input.server_of(scenario))
    speed = Speed() if found is None else found.speed
    return outlook.lines(outlook.forecast(loads, terms, input.bounds_of(scenario), speed))


def _swarm(scenario: Scenario) -> list[str]:
    return [f"{entry.agents} {name} ({entry.behaviour}, {entry.profile})" for name, entry in scenario.swarm.items()]


def _elsewhere(server: Server) -> list[str]:
    if server.attach is None:
        return [check_lines.plugin_line(server)]
    url = attach.base_url(server.attach.url)
    return check_lines.attached_lines(url, launchers.hosts_of(server.attach))


def _launched(made: Launchable, ports: tuple[int, int], before: Probe | None) -> list[str]:
    is_drawn = fixed_ports(made.spec) is None and made.spec.port is None
    shown = check_lines.lines(made.spec, made.model, *ports, RUN, is_drawn)
    if before is not None:
        ask = launchers.ask_of(before)
        shown.insert(1, check_lines.benchmark_line(made.spec, made.model, ask, ports[1], RUN))
    return [*shown, *(f"warning: {warning}" for warning in made.warnings)]


def _ports(spec: LaunchSpec, is_probed: bool) -> tuple[int, int]:
    """A probe says itself who holds a port, so a port that is taken must not end it."""
    fixed = fixed_ports(spec)
    return fixed if is_probed and fixed is not None else launching.chosen_ports(spec)


def _probe(made: Launchable | None, ports: tuple[int, int] | None) -> int:
    """A line for each host; 3 where one of them needs a person."""
    if made is None or ports is None:
        print("probe   nothing to ask: hosts are asked where the run launches the server (server.launch)")
        return 0
    printed, is_ok = course.probe(made.spec, made.model, ports[0], _to_stderr)
    print("\n".join(printed))
    return 0 if is_ok else 3


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("locust-agents check", description="What a run would start. Starts nothing.")
    parser.add_argument("scenario", nargs="?", help="a file, - for stdin, or one that ships (quickstart)")
    parser.add_argument("--probe", action="store_true", help="ask the hosts too: versions, model, memory, ports")
    parser.add_argument("--plugin", metavar="FILE", action="append", default=[], help="a Python file with plugins")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="set a key of the scenario")
    return parser
