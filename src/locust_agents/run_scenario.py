"""A run from a script or notebook; this door is cheap to import, what is behind it is loaded at the first call."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from locust_agents.child_run import RunSummary


def run_scenario(
    scenario: Path | str | Mapping[str, Any],
    *,
    out: Path | None = None,
    overrides: Sequence[str] = (),
    attach: str | None = None,
    quiet: bool = False,
) -> "RunSummary":
    """Runs a file, a shipped name or a mapping to its end, in a child process: importing Locust would patch this one.

    `overrides` are key=value, as of --set; `attach` is the URL of a server that is up. Look at `status` first: a run
    that broke a limit or lost its server returns too. Raises ScenarioError where it could not begin, ClusterError where
    the child ended without a word. What the run says goes to stderr, or nowhere if `quiet`. An interrupt ends the run
    as Ctrl-C would, then raises.
    """
    from locust_agents import child_run

    command = child_run.command(scenario, out, overrides, attach)
    return child_run.run(command, child_run.text_of(scenario), quiet)
