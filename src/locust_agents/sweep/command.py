"""`locust-agents sweep`: one run for each cell of a scenario's `sweep:`, one table, and the best cell's launch line."""

import argparse
import contextlib
import json
import os
import shlex
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from locust_agents.errors import ScenarioError
from locust_agents.scenarios import loader, with_plugins
from locust_agents.scenarios.loader import Override, read_override
from locust_agents.scenarios.model import Scenario
from locust_agents.sweep import best, cells, plot, reading, run, table
from locust_agents.sweep import folder as sweep_folder
from locust_agents.sweep import words as sweep_words
from locust_agents.sweep.cells import Cell
from locust_agents.sweep.run import INTERRUPTED, Sweep

PAGE = "sweep.html"
_SCHEMA = 1


def main(argv: Sequence[str]) -> int:
    """0 where a cell kept its limits, 1 where none did, 3 where none was measured, 4 where none can be trusted."""
    options = _parser().parse_args(argv)
    scenario, ordered = _read(options)
    folder = sweep_folder.choose(options.out, scenario.name, loader.dump(scenario))
    lock = sweep_folder.take(folder, loader.dump(scenario), _say)
    try:
        sweep = Sweep(folder, ordered)
        _say(_plan(sweep, options.restart))
        _run(sweep, scenario, lock, options)
        _show(sweep, scenario, options)
    finally:
        os.close(lock)
    return exit_status(sweep)


def exit_status(sweep: Sweep) -> int:
    """As the contract has it, of a sweep: whether its question was answered, not whether every cell held."""
    states = [one.state for one in sweep.results.values()]
    if sweep.interrupted:
        return INTERRUPTED
    if sweep.stopped or all(state in ("failed", "not run") for state in states):
        return 3
    if "held" in states:
        return 0
    return 1 if {"broken", "wrong"} & set(states) else 4


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("locust-agents sweep", description="One run for each cell of `sweep:`.")
    parser.add_argument("scenario", help="a file with `sweep:`, or the name of one that ships")
    parser.add_argument(
        "--out", metavar="DIR", type=Path, help="the sweep's folder; one that was begun is gone on with"
    )
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="set a key of the scenario")
    parser.add_argument("--plugin", metavar="FILE", action="append", default=[], help="a Python file with plugins")
    parser.add_argument("--restart", action="store_true", help="start the server for each cell, though it is the same")
    parser.add_argument("--shared-ok", action="store_true", help="load an attached server although others use it")
    parser.add_argument("--json", action="store_true", help="print what sweep.json holds instead of the table")
    return parser


def _read(options: argparse.Namespace) -> tuple[Scenario, tuple[Cell, ...]]:
    """The scenario and its cells as they will run; every mistake of any of them is raised before the first starts."""
    path, overrides = loader.find(options.scenario), [read_override(text) for text in options.set]
    scenario = with_plugins.load(path, overrides, options.plugin)
    if scenario.sweep is None or not scenario.sweep.axes:
        raise ScenarioError(
            f"{path}: has no sweep; add one, as in  sweep: {{server.options.prefill-step-size: [2048, 4096]}}"
        )
    read = partial(_cell, path, overrides, options.plugin)
    return scenario, reading.cells(scenario, scenario.sweep, read, _say)


def _cell(path: Path, overrides: Sequence[Override], plugins: Sequence[str], own: Sequence[Override]) -> Scenario:
    return with_plugins.load(path, [*overrides, *own], plugins)


def _plan(sweep: Sweep, restart: bool) -> str:
    """What is going to happen, in one line."""
    count = len(sweep.ordered)
    starts = sum(cell.starts_server for cell in sweep.ordered) if restart else cells.starts(sweep.ordered)
    shared = "" if starts in (0, count) else " (cells that share one find what others left in its cache and memory)"
    load_s = [cell.scenario.load_s for cell in sweep.ordered]
    known = "" if None in load_s else f", {sum(filter(None, load_s)):.0f} s of load at most"
    return f"{count} cells, {starts} starts of the server{shared}{known}: {sweep.folder}"


def _run(sweep: Sweep, scenario: Scenario, lock: int, options: argparse.Namespace) -> None:
    """Whenever it ends, what is known is in the folder."""
    steps = run.run(sweep, lock, _say, options.shared_ok, options.restart)
    try:
        with contextlib.closing(steps):
            for _ in steps:
                _write(sweep, scenario)
    except KeyboardInterrupt:
        sweep.interrupted, sweep.stopped = True, "interrupted"
    _write(sweep, scenario)
    if sweep.results:
        sweep_folder.write(sweep.folder / PAGE, plot.page(scenario.name, sweep.in_file_order()))


def _write(sweep: Sweep, scenario: Scenario) -> None:
    sweep_folder.write_result(sweep.folder, _document(sweep, scenario))


def _document(sweep: Sweep, scenario: Scenario) -> dict[str, Any]:
    """What sweep.json holds; cells in the order of the file."""
    results = sweep.in_file_order()
    return {
        "schema": _SCHEMA,
        "name": scenario.name,
        "axes": {} if scenario.sweep is None else {key: list(values) for key, values in scenario.sweep.axes.items()},
        "ran": [cell.number for cell in sweep.ordered],
        "finished": sweep.is_finished,
        "stopped": sweep.stopped,
        "server_starts": sweep_folder.server_starts(sweep.folder),
        "cells": [table.as_json(one) for one in results],
        "best": sweep_words.as_json(best.find(results)),
    }


def _show(sweep: Sweep, scenario: Scenario, options: argparse.Namespace) -> None:
    results = sweep.in_file_order()
    if options.json:
        print(json.dumps({**_document(sweep, scenario), "folder": str(sweep.folder.absolute())}))
    elif sweep.results:
        print(table.render(results), "", *sweep_words.lines(best.find(results), results), sep="\n")
        starts = sweep_folder.server_starts(sweep.folder)
        print(f"all of it: {sweep.folder} ({starts} starts of the server; plots in {PAGE})")
    if sweep.stopped:
        _say(f"{sweep.stopped}; to go on: {_again(sweep, options)}")


def _again(sweep: Sweep, options: argparse.Namespace) -> str:
    words = ["locust-agents", "sweep", options.scenario, "--out", str(sweep.folder)]
    words += [word for text in options.set for word in ("--set", text)]
    return shlex.join([*words, *(word for text in options.plugin for word in ("--plugin", text))])


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
