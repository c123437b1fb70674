"""`locust-agents compare`: two runs, or two sweeps cell by cell; what changed, what differs, and what is noise."""

import argparse
import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from locust_agents import find_run, stored_run
from locust_agents.compare import allowed as compare_allowed
from locust_agents.compare import cells as compare_cells
from locust_agents.compare import comparing, differences, page, table
from locust_agents.compare import verdict as compare_verdict
from locust_agents.compare.compared import Compared
from locust_agents.compare.comparing import ALPHA
from locust_agents.compare.verdict import Run
from locust_agents.errors import ScenarioError
from locust_agents.pages import file
from locust_agents.records import TurnRecord
from locust_agents.stored_run import StoredRun


def main(argv: Sequence[str]) -> int:
    """Prints it; the status is 1 where B is worse (of sweeps: in any cell), 4 where a run was not to be trusted."""
    options = _parser().parse_args(argv)
    cells = _cells(options.a, options.b)
    one_of = len([cell for cell in cells if None not in cell[1:]]) or 1
    # Cells are looked at together as well: one wrong alarm in twenty sweeps, not in twenty cells.
    done = [_compared(name, a, b, options.allow, ALPHA / one_of) for name, a, b in cells if a and b]
    alone = [(name, "A" if b is None else "B") for name, a, b in cells if a is None or b is None]
    if not done:
        raise ScenarioError(f"{options.a} and {options.b} have no cell of the same name; compare two of their cells")
    print(json.dumps(_document(done, alone), indent=1) if options.json else _text(done, alone, options.all))
    if options.html is not None:
        file.write(options.html, page.render((options.a, options.b), done, alone, options.all))
    statuses = {one.verdict.status for one in done}
    return next((status for status in (4, 1) if status in statuses), 0)


def compared(cell: str, a: StoredRun, b: StoredRun, allow: Sequence[str] = (), alpha: float = ALPHA) -> Compared:
    """Of two stored runs; raises ScenarioError where one has no turns, or an allowance does not read."""
    of_a, of_b = _measured(a), _measured(b)
    entries = tuple(dict.fromkeys(record.entry for record in (*of_a, *of_b)))
    allowed = compare_allowed.read(allow, entries)
    found = comparing.compare(of_a, of_b, alpha=alpha)
    asked = compare_allowed.asked(allowed, entries)
    held = comparing.compare(of_a, of_b, asked, alpha) if asked else None
    sides = Run("A", of_a, a.summary), Run("B", of_b, b.summary)
    summaries = (a.summary, b.summary)
    return Compared(
        cell,
        compare_verdict.decide(*sides, found, allowed, held),
        differences.find((a.scenario, b.scenario), summaries),
        differences.unknown(summaries),
        found,
        allowed,
        held,
    )


def _measured(run: StoredRun) -> Sequence[TurnRecord]:
    found = stored_run.measured(run)
    if not found:
        raise ScenarioError(f"{run.path} holds no turns to compare; name a run that sent some after its warm-up")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "locust-agents compare",
        description="What changed from run A to run B, and whether it is noise. Status 1 where B is worse.",
    )
    parser.add_argument("a", metavar="A", help="a run's folder, a part of its name below runs/, or a sweep's folder")
    parser.add_argument("b", metavar="B", help="the same of the run, or sweep, that is held against it")
    parser.add_argument(
        "--allow", metavar="KEY=SHARE", action="append", default=[], help="ttft.p95=10%%: B may be so much worse"
    )
    parser.add_argument("--all", action="store_true", help="show the figures that are noise too")
    parser.add_argument("--html", metavar="FILE", type=Path, help="write a page with charts as well")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead")
    return parser


def _cells(a: str, b: str) -> list[tuple[str, Path | None, Path | None]]:
    """Names with the folders of both; a run is one cell without a name."""
    sweeps = [_sweep(Path(name)) for name in (a, b)]
    if not any(sweeps):
        return [("", find_run.find(a), find_run.find(b))]
    if not all(sweeps):
        raise ScenarioError(f"{a if sweeps[0] else b} is a sweep and the other is not; name one of its cells")
    of_a, of_b = sweeps
    return [(name, of_a.get(name), of_b.get(name)) for name in dict.fromkeys((*of_a, *of_b))]


def _sweep(folder: Path) -> dict[str, Path]:
    """The runs below, by name; none of a folder that is a run itself, or no folder."""
    if find_run.is_run(folder) or not folder.is_dir():
        return {}
    return {run.relative_to(folder).as_posix(): run for run in find_run.folders(folder)}


def _compared(cell: str, a: Path, b: Path, allow: Sequence[str], alpha: float) -> Compared:
    return compared(cell, stored_run.read(a), stored_run.read(b), allow, alpha)


def _text(done: Sequence[Compared], alone: Sequence[tuple[str, str]], everything: bool) -> str:
    whole = [_of_one(one, everything) for one in done]
    return "\n\n".join([*whole, *(f"{name}: only {run} has this cell" for name, run in alone)])


def _of_one(one: Compared, everything: bool) -> str:
    changed = differences.lines(one.changed, one.unseen)
    text = table.render(one.verdict, changed, one.found, one.allowed, one.held, everything)
    return f"{one.cell}:\n{text}" if one.cell else text


def _document(done: Sequence[Compared], alone: Sequence[tuple[str, str]]) -> Mapping[str, Any]:
    cells = [_fields(one) for one in done]
    return cells[0] if not done[0].cell else {"cells": cells, "alone": dict(alone)}


def _fields(one: Compared) -> dict[str, Any]:
    return {
        "cell": one.cell or None,
        "verdict": {**dataclasses.asdict(one.verdict), "text": compare_cells.verdict_line(one.verdict)},
        "changed": [dataclasses.asdict(change) for change in one.changed],
        "not_recorded": one.unseen,
        "figures": [dataclasses.asdict(figure) for figure in one.found.figures],
        "paired": {entry: design.units.paired for entry, design in one.found.designs.items()},
        "allowed": [] if one.held is None else [dataclasses.asdict(figure) for figure in one.held.figures],
    }
