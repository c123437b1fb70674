"""`locust-agents run`: one run of a scenario, headless with Locust as a library, or in the stock web UI."""

import locust  # noqa: I001 (first: it patches the standard library)

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import locust.main

from locust_agents.errors import LocustAgentsError, ScenarioError
from locust_agents.locustfiles import headless, report, scenario_option
from locust_agents.scenarios import chosen, loader
from locust_agents.scenarios.loader import Override, read_override
from locust_agents.scenarios.overrides import attaching
from locust_agents.scenarios.model import Scenario


def main(argv: Sequence[str]) -> int:
    """Runs it, and returns the contract's exit status."""
    options = _parser().parse_args(argv)
    try:
        return _run(options)
    except LocustAgentsError as error:
        report.refuse(error, options.json, options.junit)
        raise


def _run(options: argparse.Namespace) -> int:
    if options.web and (options.json or options.junit):
        raise ScenarioError("--json and --junit are of a run in this terminal: leave out either them or --web")
    report.demand_place(options.junit)
    with report.stdout_kept(options.json):
        scenario = _scenario(options)
        if options.web:
            return _web(scenario, options)
        conductor = headless.run(scenario, None if options.out is None else Path(options.out), options.shared_ok)
    return report.show(conductor, options.json, options.junit)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("locust-agents run", description="One run of a scenario, and its table.")
    parser.add_argument("scenario", nargs="?", help="a file, - for stdin, or one that ships (quickstart)")
    parser.add_argument("--attach", metavar="URL", help="use a server that is already there, and never stop it")
    parser.add_argument("--web", action="store_true", help="in the Locust web UI instead of this terminal")
    parser.add_argument("--out", metavar="DIR", help="the run's folder (default: runs/<time>-<name>)")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="set a key of the scenario")
    parser.add_argument("--agents", metavar="N", help="how many agents each entry has")
    parser.add_argument("--profile", metavar="P", help="the product that every entry imitates")
    parser.add_argument("--plugin", metavar="FILE", action="append", default=[], help="a Python file with plugins")
    parser.add_argument("--listener", metavar="NAME", action="append", default=[], help="gets each turn's record")
    parser.add_argument("--shared-ok", action="store_true", help="load an attached server although others use it")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON instead of the table")
    parser.add_argument("--junit", metavar="FILE", type=Path, help="write JUnit XML, a test case for each limit")
    return parser


def _scenario(options: argparse.Namespace) -> Scenario:
    plain = _read(options, _overrides(options))
    for_all = [
        Override(f"swarm.{entry}.{key}", value, option=f"--{key}")
        for key, value in (("agents", options.agents), ("profile", options.profile))
        if value is not None
        for entry in plain.swarm
    ]
    if options.listener:
        heard = {**plain.listeners, **{name: {} for name in options.listener}}
        for_all.append(Override("listeners", json.dumps(heard), option="--listener"))
    return _read(options, [*_overrides(options), *for_all]) if for_all else plain


def _read(options: argparse.Namespace, overrides: Sequence[Override]) -> Scenario:
    return chosen.read(options.scenario, overrides, options.plugin)


def _overrides(options: argparse.Namespace) -> list[Override]:
    chosen = [read_override(text) for text in options.set]
    if options.attach is not None:
        chosen += attaching(options.attach)
    return chosen


def _web(scenario: Scenario, options: argparse.Namespace) -> int:
    """Hands over to Locust's own command, in this process, with the shipped locustfile."""
    with tempfile.TemporaryDirectory() as folder:
        resolved = Path(folder) / "scenario.yaml"
        resolved.write_text(loader.dump(scenario), encoding="utf-8")
        os.environ[scenario_option.RESOLVED] = str(resolved)
        os.environ[scenario_option.START] = "1"
        if options.out is not None:
            os.environ[scenario_option.OUT] = options.out
        locustfile = Path(__file__).with_name("coding_agents.py")
        sys.argv = ["locust", "-f", str(locustfile), "--web-host", "127.0.0.1"]
        sys.argv += ["--shared-ok"] if options.shared_ok else []
        try:
            locust.main.main()
        except SystemExit as ending:
            return ending.code if isinstance(ending.code, int) else 1
    return 0
