"""Error classes, each named for who must act; their text is the one line that the user reads."""

from typing import ClassVar


class LocustAgentsError(Exception):
    """The parent of every error that this product raises on purpose; `main` prints it and exits with `exit_status`."""

    exit_status: ClassVar[int] = 2


class ScenarioError(LocustAgentsError):
    """The scenario file, or an option that stands for one of its keys, must be changed: exit status 2."""


class PluginError(LocustAgentsError):
    """A behaviour, profile or listener must be changed, and the text names it: exit status 2."""


class ClusterError(LocustAgentsError):
    """The server or its machine needs a person: exit status 3.

    `log_tail` holds the last lines of the rank's own log, oldest first, empty when there is none.
    """

    exit_status = 3

    def __init__(self, text: str, log_tail: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.log_tail = log_tail


class ProtocolError(LocustAgentsError):
    """The server answered something that no client of its API can use: exit status 3."""

    exit_status = 3
