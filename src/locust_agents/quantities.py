"""How a quantity is written: short, with its unit, unknown as a dash."""

import math
import textwrap
from collections.abc import Iterable

from rich.cells import cell_len

from locust_agents.figures import Wait

WIDTH = 80
UNKNOWN = "–"


def seconds(wait: Wait | None) -> str:
    """A wait with its unit; `>` before one that had not ended."""
    return UNKNOWN if wait is None else f"{'> ' if wait.is_more else ''}{_seconds(wait.value)}"


def counted(number: int, what: str) -> str:
    """`1 turn`, `2 turns`."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def count(value: float | None) -> str:
    """A number of tokens, in thousands from a thousand on."""
    if value is None:
        return UNKNOWN
    for size, unit, digits in ((999.5, "", 0), (99_950, "k", 1), (999_500, "k", 0)):
        if value < size:
            return f"{value / (1000 if unit else 1):.{digits}f}{unit}"
    return f"{value / 1e6:.1f}M"


def speed(value: float | None) -> str:
    """Tokens/s, without the unit."""
    if value is None:
        return UNKNOWN
    return count(value) if value >= 10 else f"{value:.1f}"


def gap(gap_s: float | None) -> str:
    """The time between two tokens, which is read in milliseconds."""
    if gap_s is None:
        return UNKNOWN
    return _seconds(gap_s) if gap_s >= 1 else f"{gap_s * 1000:.{0 if gap_s >= 0.01 else 1}f} ms"


def share(value: float | None) -> str:
    """A part of the whole, rounded down: 100 % is said only where nothing was missed."""
    return UNKNOWN if value is None else f"{math.floor(value * 100 + 1e-9)} %"


def joined(parts: Iterable[str], between: str, width: int = WIDTH) -> list[str]:
    """The parts in lines of at most `width`, broken between parts; within one only where it is longer than a line."""
    lines: list[str] = []
    for part in parts:
        if lines and cell_len(lines[-1] + between + part) <= width:
            lines[-1] += between + part
        else:
            lines.extend(textwrap.wrap(part, width))
    return lines


def _seconds(value: float) -> str:
    if value < 0.0095:
        return f"{value * 1000:.1f} ms" if value < 0.00095 else f"{value * 1000:.0f} ms"
    for size, digits in ((9.995, 2), (99.95, 1), (9999.5, 0)):
        if value < size:
            return f"{value:.{digits}f} s"
    return f"{value / 3600:.1f} h"
