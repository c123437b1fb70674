"""The server behind a run: the launcher that the scenario picks starts it, and it alone stops it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from locust_agents.cluster.benchmark.output import Result
from locust_agents.cluster.crew import ProcessRecord
from locust_agents.cluster.vitals.memory_sample import Host
from locust_agents.errors import LocustAgentsError, PluginError
from locust_agents.plugins import registry
from locust_agents.plugins.api import Running
from locust_agents.scenarios.model import Scenario, Server
from locust_agents.telling import Note, Say


@runtime_checkable
class Backend(Protocol):
    """What a run needs of its server, ours or not."""

    url: str
    epoch: int
    culprit: int | None
    ranks: int | None
    benchmark: Result | None
    model: str | None

    def failure(self) -> str | None:
        """What ended it, None while it lives."""

    def hosts(self) -> list[Host]:
        """Where its ranks run, as far as that is known."""

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
    """Launches or attaches; raises ClusterError, PluginError or ScenarioError."""
    launcher = registry.launcher(launcher_of(scenario.server))
    try:
        running = launcher.start(scenario, folder, say, note, epoch)
        return running if isinstance(running, Backend) else Foreign(running, launcher.name)
    except (LocustAgentsError, OSError):
        raise
    except Exception as error:
        raise PluginError(f"launcher {launcher.name}: {_told(error)}") from error


def launcher_of(server: Server) -> str:
    """The name of the launcher that leads to this server."""
    if server.launcher is not None:
        return server.launcher
    return "attach" if server.attach is not None else "mlx_launch"


class Foreign:
    """A plugin's server, of which no more is known than `api.Running` tells; a fault in it is told as such."""

    def __init__(self, running: Running, launcher: str) -> None:
        self.url = running.url.rstrip("/")
        self.epoch = running.epoch
        self.model = running.model
        self.culprit: int | None = None
        self.ranks: int | None = None
        self.benchmark: Result | None = None
        self._running = running
        self._launcher = launcher

    def failure(self) -> str | None:
        """Its own words; a launcher that cannot tell any more has lost its server."""
        try:
            return self._running.failure()
        except Exception as error:  # noqa: BLE001 (whatever a plugin raises here, the run must end and say so)
            return f"launcher {self._launcher} cannot tell whether its server lives: {_told(error)}"

    def hosts(self) -> list[Host]:
        """Not known."""
        return []

    def logs(self) -> dict[int, Path]:
        """Not known."""
        return {}

    def processes(self) -> list[ProcessRecord]:
        """They are its launcher's."""
        return []

    def runs(self) -> dict[str, Callable[[str], str]]:
        """Not known."""
        return {}

    def log_tail(self, rank: int | None) -> tuple[str, ...]:
        """Not known."""
        del rank
        return ()

    def stop(self) -> list[str]:
        """Its own words."""
        try:
            return list(self._running.stop())
        except Exception as error:  # noqa: BLE001 (what else the run has to end and to write must not suffer)
            return [f"launcher {self._launcher} may have left its server running: {_told(error)}"]


def _told(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
