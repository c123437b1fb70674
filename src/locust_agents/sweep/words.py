"""How the end of a sweep is said: the best cell, what it buys, what cannot be told from it, and its launch line."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from locust_agents.cluster import command, launching
from locust_agents.cluster.address import SERVER_PORT, STARTING_PORT, fixed_ports
from locust_agents.cluster.byte_sizes import size_text
from locust_agents.quantities import UNKNOWN, WIDTH, joined, seconds, speed
from locust_agents.scenarios.model import Scenario
from locust_agents.sweep import cells
from locust_agents.sweep.best import Best, Change
from locust_agents.sweep.figures import Figures, Result

_LABEL = 7
_NAMES = {"max": "TTFT max", "p50": "TTFT p50"}


def lines(best: Best | None, results: Sequence[Result]) -> list[str]:
    """What closes the table; the launch line is whole, however long it is."""
    names = cells.labels(results[0].cell.values)
    if best is None:
        why = "every cell failed, or its answers were not right"
        return _labelled("best", [f"none: {why}" if any(one.status is not None for one in results) else "none yet"])
    told = [f"cell {best.result.cell.number}", cells.told(best.result.cell, names), *_limits(best)]
    line = launch_line(best.result.cell.scenario)
    return [
        *_labelled("best", told),
        *_labelled("buys", _buys(best)),
        *_labelled("ties", _ties(best)),
        *([] if line is None else [f"{'launch':{_LABEL}}{line}"]),
    ]


def launch_line(scenario: Scenario) -> str | None:
    """The command that serves as this cell did, as `check` prints it; None where the server is not ours to start."""
    if scenario.server.launch is None:
        return None
    made = launching.launchable(scenario, scenario.server.launch, lambda _: None)
    own = made.spec.port or SERVER_PORT, made.spec.starting_port or STARTING_PORT
    return command.plain_line(made.spec, made.model, *(fixed_ports(made.spec) or own))


def as_json(best: Best | None) -> dict[str, Any] | None:
    """The best cell in sweep.json; others by their numbers."""
    if best is None:
        return None
    return {
        "cell": best.result.cell.number,
        "kept_limits": best.held,
        "against": None if best.against is None else best.against.cell.number,
        "changes": [dataclasses.asdict(change) for change in best.changes],
        "ties": [one.cell.number for one in best.ties],
        "launch": launch_line(best.result.cell.scenario),
    }


def _limits(best: Best) -> list[str]:
    return [] if best.held else [f"although it broke its limits ({best.result.reason}), as all did"]


def _buys(best: Best) -> list[str]:
    other, here = best.against, best.result.figures
    if best.rivals == 1 and other is None:
        return [
            "it is the only cell that was asked for so much and kept its limits" if best.held else "no other to tell"
        ]
    if other is None or other.figures is None or here is None:
        return ["nothing was chosen between: the axes are what the server is asked for"]
    changes = [_change(change) for change in best.changes]
    return [f"against cell {other.cell.number}:", *changes, *_besides(here, other.figures)]


def _change(change: Change) -> str:
    share = "" if change.share is None else f": {change.share * 100:+.0f} %"
    name = _NAMES.get(change.stat, change.stat)
    return f"{name} {seconds(change.here)} instead of {seconds(change.there)}{share}, {change.noise}"


def _besides(here: Figures, there: Figures) -> list[str]:
    """What has no noise that is known."""
    return [
        f"prefill {speed(here.prefill)} tok/s instead of {speed(there.prefill)}",
        f"memory {_size(here.memory)} instead of {_size(there.memory)}",
    ]


def _size(used: int | None) -> str:
    return UNKNOWN if used is None else size_text(used)


def _ties(best: Best) -> list[str]:
    if not best.ties:
        return []
    what = "cell" if len(best.ties) == 1 else "cells"
    return [f"not to be told from it: {what} {', '.join(str(one.cell.number) for one in best.ties)}"]


def _labelled(word: str, parts: Sequence[str]) -> list[str]:
    """Parts that begin a sentence end in a colon."""
    text = joined(parts, " · ", WIDTH - _LABEL)
    return [f"{'' if place else word:{_LABEL}}{line}" for place, line in enumerate(text)]
