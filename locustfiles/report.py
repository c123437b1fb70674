"""What a finished run prints: the table or its JSON, then whatever a person must act on."""

import contextlib
import json
import sys
from contextlib import AbstractContextManager
from pathlib import Path

from locust_agents import cli, junit
from locust_agents.errors import LocustAgentsError
from locust_agents.locustfiles import end_text
from locust_agents.locustfiles.conductor import Conductor


def stdout_kept(as_json: bool) -> AbstractContextManager[object]:
    """While it lasts, what anybody prints goes to stderr: stdout is for one JSON document alone."""
    return contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext()


def demand_place(junit_file: Path | None) -> None:
    """Raises ScenarioError where the file could not be written at the run's end."""
    if junit_file is not None:
        junit.demand_place(junit_file)


def refuse(error: LocustAgentsError, as_json: bool, junit_file: Path | None) -> None:
    """The document and the file of a run that could not begin; the error itself is not told."""
    if as_json:
        print(json.dumps({"exit_status": error.exit_status, "error": str(error), "folder": None}))
    if junit_file is not None and junit.has_place(junit_file):
        junit.write(junit_file, junit.render("a run", None, error.exit_status, [str(error)]))


def show(conductor: Conductor, as_json: bool = False, junit_file: Path | None = None) -> None:
    """The figures to stdout, complaints to stderr. Says nothing of a run that never began."""
    if junit_file is not None:
        junit.write(junit_file, end_text.as_junit(conductor, conductor.exit_status()))
    if as_json:
        folder = None if conductor.path is None else str(conductor.path.absolute())
        print(json.dumps({**conductor.as_json(), "folder": folder}))
    elif conductor.summary is not None and conductor.path is not None:
        said = end_text.text(conductor)
        print(*([] if said is None else [said]), f"all of it: {conductor.path}", sep="\n")
    _complain(conductor, conductor.exit_status())


def _complain(conductor: Conductor, status: int) -> None:
    if conductor.interrupted:
        cut = 0 if conductor.summary is None else conductor.summary.outcomes.get("cut", 0)
        print(f"interrupted: {cut} turn{'' if cut == 1 else 's'} that were open are recorded as cut", file=sys.stderr)
    for fault in sorted(set(conductor.plugin_faults)):
        print(fault, file=sys.stderr)
    if conductor.untrusted is not None:
        print(f"not to be trusted: {conductor.untrusted}", file=sys.stderr)
    if conductor.error is not None:
        print(cli.complaint(conductor.error), file=sys.stderr)
    elif status == 3:
        print("no turn was ok: look at `outcome` and `error` in turns.jsonl", file=sys.stderr)
