"""What a finished run prints: the table or its JSON, then whatever a person must act on."""

import contextlib
import json
import sys
from contextlib import AbstractContextManager
from pathlib import Path

from locust_agents import cli, junit
from locust_agents.errors import LocustAgentsError, ScenarioError
from locust_agents.locustfiles import end_text
from locust_agents.locustfiles.conductor import Conductor
from locust_agents.quantities import counted

_BEFORE_JUNIT = (130, 3)
"""What is worse than a file that could not be written."""
_NONE_OK = "no turn was ok: look at `outcome` and `error` in turns.jsonl"


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


def show(conductor: Conductor, as_json: bool = False, junit_file: Path | None = None) -> int:
    """The figures to stdout, complaints to stderr. Says nothing of a run that never began. Returns its exit status.

    What was complained of stands last in a log of both, too. The file comes first, since whoever reads the figures may
    have gone; that it could not be written (a disk can be full by now) is said behind them.
    """
    status = conductor.exit_status()
    unwritten = None if junit_file is None else _unwritten(junit_file, end_text.as_junit(conductor, status))
    if as_json:
        folder = None if conductor.path is None else str(conductor.path.absolute())
        print(json.dumps({**conductor.as_json(), "folder": folder}), flush=True)
    elif conductor.summary is not None and conductor.path is not None:
        said = end_text.text(conductor)
        print(*([] if said is None else [said]), f"all of it: {conductor.path}", sep="\n", flush=True)
    _complain(conductor, status)
    if unwritten is None:
        return status
    print(unwritten, file=sys.stderr)
    return status if status in _BEFORE_JUNIT else unwritten.exit_status


def _unwritten(file: Path, text: str) -> ScenarioError | None:
    try:
        junit.write(file, text)
    except ScenarioError as error:
        return error
    return None


def _complain(conductor: Conductor, status: int) -> None:
    if conductor.interrupted:
        cut = 0 if conductor.summary is None else conductor.summary.outcomes.get("cut", 0)
        print(f"interrupted: {counted(cut, 'turn')} that were open are recorded as cut", file=sys.stderr)
    for fault in sorted(set(conductor.plugin_faults)):
        print(fault, file=sys.stderr)
    if conductor.untrusted is not None:
        print(f"not to be trusted: {conductor.untrusted}", file=sys.stderr)
    if conductor.error is not None:
        print(cli.complaint(conductor.error), file=sys.stderr)
    elif status == 3:
        print(_NONE_OK if conductor.records else "no turn was sent", file=sys.stderr)
