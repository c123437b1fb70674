"""What both charts of the wait for the first token share: how a wait is drawn, and one that has not ended."""

from typing import Any

from locust_agents.figures import Wait
from locust_agents.pages.chart import Key
from locust_agents.pages.run import Told
from locust_agents.records import TurnRecord

Waited = tuple[TurnRecord, Wait]

SMALLEST_S = 0.0005
"""What stands for nothing on a logarithmic axis."""


def drawable(wait: Wait) -> float:
    """A logarithmic axis has no nothing."""
    return max(wait.value, SMALLEST_S)


def size(waited: Waited) -> tuple[float, bool]:
    """Sorts waits: one that has not ended is longer than one that ended then."""
    return waited[1].value, waited[1].is_more


def log_axis(axis: str, is_log: bool) -> dict[str, Any]:
    """The plot's option for this axis, x or y."""
    return {f"{axis}_axis_type": "log"} if is_log else {}


def open_marker(colour: str) -> dict[str, Any]:
    """The style of a wait that has not ended."""
    return {"fill_color": None, "line_color": colour, "line_width": 2, "size": 11}


def entry_keys(told: Told, shape: str) -> list[Key]:
    """A key for each entry, in its colour."""
    return [Key(entry, told.colours[entry][0], shape) for entry in told.entries]


def open_key(told: Told) -> list[Key]:
    """What an open triangle means, where there is one."""
    is_there = any(wait.is_more for _, wait in told.waits)
    return [Key("ended before its first token: more than this", "var(--faint)", "open")] if is_there else []
