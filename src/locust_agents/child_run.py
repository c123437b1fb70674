"""How a run is made in a child process: its command, its way to end early, and what is made of what it printed."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from locust_agents import stored_run
from locust_agents.errors import ClusterError, LocustAgentsError, ScenarioError
from locust_agents.summary import Summary

_PATIENCE_S = 60.0
"""How long an interrupted run may take to end its turns and its server, before they are cut, and again after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary(Summary):
    """The figures of a run that ended, with its exit status, its folder, and the line that says what went wrong."""

    status: int
    folder: Path
    error: str | None


def command(
    scenario: Path | str | Mapping[str, Any], out: Path | None, overrides: Sequence[str], attach: str | None
) -> list[str]:
    """The argv; a mapping is awaited on stdin, as `text_of` writes it."""
    words = [sys.executable, "-m", "locust_agents", "run", "--json"]
    words += [] if out is None else ["--out", str(out)]
    words += [] if attach is None else ["--attach", attach]
    words += [word for override in overrides for word in ("--set", override)]
    return [*words, "--", "-" if isinstance(scenario, Mapping) else str(scenario)]


def text_of(scenario: Path | str | Mapping[str, Any]) -> str | None:
    """A mapping as YAML, None for what is named; raises ScenarioError where a value is no plain one."""
    if not isinstance(scenario, Mapping):
        return None
    try:
        return yaml.safe_dump(_plain(scenario), sort_keys=False, allow_unicode=True)
    except yaml.YAMLError as error:
        raise ScenarioError(f"a value of the scenario is neither text, number, list nor mapping: {error}") from None


def run(command: Sequence[str], text: str | None, quiet: bool) -> RunSummary:
    """Runs it to its end; raises as `run_scenario` says."""
    return _result(*_ended(command, text, quiet))


def _ended(command: Sequence[str], text: str | None, quiet: bool) -> tuple[int, str]:
    """The exit status, and all that it printed. A group of its own: an interrupt reaches it once, and through us."""
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL if text is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if quiet else None,
        text=True,
        encoding="utf-8",
        process_group=0,
    )
    try:
        printed, _ = child.communicate(text)
    except BaseException:
        _end(child)
        raise
    return child.returncode, printed


def _end(child: "subprocess.Popen[str]") -> None:
    """As Ctrl-C does: open turns may end, the server is stopped. A second one, or too long a wait, cuts them."""
    try:
        for _ in ("drain", "cut"):
            child.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
                child.communicate(timeout=_PATIENCE_S)
                return
        print(f"the interrupted run has not ended within {2 * _PATIENCE_S:.0f} s: it is killed", file=sys.stderr)
    finally:
        child.kill()
        child.wait()


def _result(status: int, printed: str) -> RunSummary:
    try:
        document = json.loads(printed)
    except ValueError:
        raise ClusterError(f"the run ended with status {status} and no summary; its reason is on stderr") from None
    if document["folder"] is None:
        raise _error(status, document["error"])
    run = stored_run.read(Path(document["folder"]))
    figures = stored_run.summary(run)
    values = {field.name: getattr(figures, field.name) for field in fields(Summary)}
    return RunSummary(**values, status=status, folder=run.path, error=document["error"])


def _error(status: int, text: str) -> LocustAgentsError:
    return ScenarioError(text) if status == ScenarioError.exit_status else ClusterError(text)


def _plain(value: Any) -> Any:
    """Mappings, sequences and paths as what YAML can write."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return os.fspath(value) if isinstance(value, Path) else value
