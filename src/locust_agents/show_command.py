"""`locust-agents show`: the table of a run that is stored, figured out anew from its records."""

import argparse
import dataclasses
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from locust_agents import find_run, run_text, stored_run
from locust_agents.cluster.benchmark.output import Result
from locust_agents.cluster.restart import Gap
from locust_agents.cluster.vitals.peaks import Peaks
from locust_agents.pages import report
from locust_agents.pages import run as html_run
from locust_agents.stored_run import StoredRun
from locust_agents.summary import Summary

_BY_NUMBER = ("memory",)
"""Fields of Peaks whose keys are numbers, which JSON writes as text."""


def main(argv: Sequence[str]) -> int:
    """Prints what the run itself printed: figures to stdout, what a person must know besides to stderr."""
    parser = argparse.ArgumentParser("locust-agents show", description="A stored run's table again.")
    parser.add_argument("run", metavar="RUN", help="its folder, a part of its name below runs/, or `last`")
    parser.add_argument("--html", metavar="FILE", nargs="?", const="", help="build report.html again, or FILE")
    options = parser.parse_args(argv)
    told = html_run.of(stored_run.read(find_run.find(options.run)))
    run = told.run
    printed = text(run, told.summary) if run.records else ""
    if printed:
        print(printed)
    print(f"all of it: {run.path}")
    if options.html is not None:
        print(f"page: {report.write(told, printed, remarks(run), Path(options.html) if options.html else None)}")
    sys.stdout.flush()  # what makes it less than a whole run stands last in a log of both, too
    for line in [*remarks(run), *sorted(set(run.summary.get("plugin_faults") or ()))]:
        print(line, file=sys.stderr)
    return 0


def text(run: StoredRun, figures: Summary | None = None) -> str:
    """The lines that stood at the run's end; raises ScenarioError where its limits cannot be read."""
    figures = figures or stored_run.summary(run)
    gaps = [Gap(**_known(Gap, gap)) for gap in run.summary.get("gaps") or ()]
    vitals = run.summary.get("vitals")
    peaks = None if vitals is None else Peaks(**_known(Peaks, vitals))
    measured = run.summary.get("benchmark")
    benchmark = None if measured is None else Result(**_known(Result, measured))
    lost = run.summary.get("missing")
    missing = None if lost is None else (int(lost[0]), int(lost[1]))
    trust = stored_run.trust(run)
    return run_text.text(stored_run.scenario(run), figures, gaps, peaks, benchmark, missing, stored_run.why(run), trust)


def remarks(run: StoredRun) -> list[str]:
    """What makes a stored run less than a whole one, and how it ended where that was not well."""
    untrusted, error = run.summary.get("untrusted"), run.summary.get("error")
    return [
        *([] if run.summary else ["no summary.json: the run was killed or still runs; these are its turns so far"]),
        *([f"left out, not readable: {', '.join(run.unread)}"] if run.unread else []),
        *([f"not to be trusted: {untrusted}"] if untrusted else []),
        *([str(error)] if error else []),
    ]


def _known(wanted: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that this release has a field for."""
    names = {field.name for field in dataclasses.fields(wanted)}
    return {name: _numbered(name, value) for name, value in values.items() if name in names}


def _numbered(name: str, value: Any) -> Any:
    return {int(key): number for key, number in value.items()} if name in _BY_NUMBER else value
