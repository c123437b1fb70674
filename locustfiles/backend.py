"""The server behind a run: launched from the scenario, or attached to, and the one way to stop it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from locust_agents.cluster import attach, supervisor, tiny_model
from locust_agents.cluster.command import LaunchSpec
from locust_agents.scenarios.model import Server

Say = Callable[[str], None]
Note = Callable[[str, Mapping[str, Any]], None]


class Backend(Protocol):
    """What a run needs of its server, ours or not."""

    url: str
    epoch: int
    culprit: int | None

    def failure(self) -> str | None:
        """What ended it, None while it lives."""

    def log_tail(self, rank: int | None) -> tuple[str, ...]:
        """The last lines of a rank's log, or of the launcher's for None."""

    def stop(self) -> list[str]:
        """Ends what we started; sentences on what could not be made sure of."""


def start(server: Server, folder: Path, say: Say, note: Note) -> Backend:
    """Launches or attaches; raises ClusterError, or ScenarioError for an address that is none."""
    if server.attach is not None:
        return attach.attach(server.attach.url, say, note)
    assert server.launch is not None
    launch = server.launch
    is_tiny = launch.model in tiny_model.VARIANTS
    model = tiny_model.ensure(launch.model, say) if is_tiny else Path(launch.model)
    spec = LaunchSpec(
        model=launch.model,
        ranks=launch.ranks,
        backend=launch.backend,
        options=server.options,
        port=server.port,
        ready_s=server.ready_s,
        gives_way=is_tiny,  # it shares the client's processors, and its speed is nobody's question
    )
    return supervisor.start(spec, model.expanduser(), folder, say, note)
