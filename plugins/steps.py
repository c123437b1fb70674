"""What a behaviour may yield: a turn, or one of the steps between turns."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from locust_agents.plugins.turns import Turn, check_number

if TYPE_CHECKING:
    from locust_agents.plugins.agent import Agent

Session = Generator["Step", Any, None]
"""What a behaviour is: yield steps, get each step's result back."""


@dataclass(frozen=True, slots=True)
class Pause:
    """A wait of `seconds`; the scenario's `gaps:` scale and cap it unless `always`. Yields None."""

    seconds: float
    always: bool = False

    def __post_init__(self) -> None:
        """Refuses here what would raise later, in no line of the plugin's."""
        check_number("seconds", self.seconds)


@dataclass(frozen=True, slots=True)
class Side:
    """A session beside this one, with a history of its own. Yields a Handle at once."""

    session: Session


@dataclass(frozen=True, slots=True)
class Spawn:
    """Sub-agents. Yields their last Replies in order when `wait`, else Handles at once."""

    sessions: tuple[Session, ...]
    wait: bool


@dataclass(frozen=True, slots=True)
class Handle:
    """A session that runs beside; `number` is known to the driver alone."""

    number: int


@dataclass(frozen=True, slots=True)
class Join:
    """Waits until the sessions of `handles` have ended. Yields their last Replies in order (None without a turn)."""

    handles: tuple[Handle, ...]


@dataclass(frozen=True, slots=True)
class Compact:
    """One summary turn, then a history of the summary and the last `keep_tokens`. Yields the summary's Reply."""

    agent: "Agent"
    keep_tokens: float
    summary_tokens: int


Step = Turn | Pause | Side | Spawn | Join | Compact
