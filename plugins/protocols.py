"""What a listener and a launcher must do."""

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from locust_agents.records import TurnRecord
from locust_agents.telling import Note, Say

if TYPE_CHECKING:
    from locust_agents.scenarios.model import Scenario


class Listener(Protocol):
    """Gets each turn's record once, as the turn ends. It cannot change what was measured."""

    def on_turn(self, record: TurnRecord) -> None:
        """Takes one record, in a thread beside the load; long computing there would still delay those who read."""


class Running(Protocol):
    """A server while it runs; plain attributes will do for the properties."""

    @property
    def url(self) -> str:
        """Without /v1, and without a slash at its end."""

    @property
    def epoch(self) -> int:
        """The start that it came from."""

    @property
    def model(self) -> str | None:
        """The one name that all requests send; None for mlx_lm.server's own `default_model`."""

    def failure(self) -> str | None:
        """What ended it, in one sentence, None while it lives; asked once a second, so it must not wait."""

    def stop(self) -> list[str]:
        """Ends what its launcher started, and may come twice; a sentence for each thing that may still run."""


class Launcher(Protocol):
    """A way to a server."""

    @property
    def name(self) -> str:
        """What picks it: `server: {launcher: NAME, with: {…}}`."""

    def start(
        self,
        scenario: "Scenario",
        folder: Path,
        say: Say,
        note: Note,
        epoch: int,
    ) -> Running:
        """Returns when the server can answer a turn; raises ClusterError or ScenarioError, and leaves nothing then.

        Its logs go to the run's `folder`, progress lines to `say`, what cluster.jsonl keeps (an event and its fields)
        to `note`. `scenario.server.parameters` is what `with:` held. `epoch` is 1, more after a death in the same run.
        """
