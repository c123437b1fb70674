"""What is known of the memory of one host and of the ranks on it, at one moment."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Pressure = Literal["normal", "warn", "critical"]
LEVELS: tuple[Pressure, ...] = ("normal", "warn", "critical")

Figure = Literal["footprint", "rss"]
"""macOS's physical footprint (with Metal, compressed and swapped memory), or what is resident."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Bytes for each pid that was seen; None and empty are what the host does not tell.

    `highest` is the most that the system itself has seen of a pid since that began, its model's loading included.
    """

    used: Mapping[int, int] = field(default_factory=dict)
    figure: Figure = "rss"
    highest: Mapping[int, int] = field(default_factory=dict)
    swap_used: int | None = None
    pressure: Pressure | None = None


@dataclass(frozen=True, slots=True)
class Host:
    """Where ranks run: the pid of each rank there, and how a shell command is run (None: on this machine).

    `run` returns what the command printed, and raises OSError, subprocess.SubprocessError or LocustAgentsError.
    """

    name: str
    ranks: Mapping[int, int]
    run: Callable[[str], str] | None = None
