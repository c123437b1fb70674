"""The server behind a run: launched from the scenario, or attached to, and the one way to stop it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from locust_agents.cluster import attach, launching, supervisor
from locust_agents.cluster.crew import ProcessRecord
from locust_agents.scenarios.model import Scenario

Say = Callable[[str], None]
Note = Callable[[str, Mapping[str, Any]], None]


class Backend(Protocol):
    """What a run needs of its server, ours or not."""

    url: str
    epoch: int
    culprit: int | None

    def failure(self) -> str | None:
        """What ended it, None while it lives."""

    def logs(self) -> Mapping[int, Path]:
        """The logs that can be read here, by rank."""

    def processes(self) -> Sequence[ProcessRecord]:
        """What of it is ours."""

    def runs(self) -> Mapping[str, Callable[[str], str]]:
        """How a command is run on each other host that has a rank of ours."""

    def log_tail(self, rank: int | None) -> tuple[str, ...]:
        """The last lines of a rank's log, or of the launcher's for None."""

    def stop(self) -> list[str]:
        """Ends what we started; sentences on what could not be made sure of."""


def start(scenario: Scenario, folder: Path, say: Say, note: Note, epoch: int = 1) -> Backend:
    """Launches or attaches; raises ClusterError, or ScenarioError for an address that is none."""
    server = scenario.server
    if server.attach is not None:
        log = None if server.attach.log is None else Path(server.attach.log).expanduser()
        return attach.attach(server.attach.url, say, note, log=log)
    assert server.launch is not None
    made = launching.launchable(scenario, server.launch, say)
    for warning in made.warnings:
        say(warning)
    return supervisor.start(made.spec, made.model, folder, say, note, epoch)
