"""Decides how figures are printed: plain aligned tables, every figure with its unit, the goal beside it."""

import math
import os
import platform
from collections.abc import Sequence

NO_GOAL = "–"


def quantile(values: Sequence[float], share: float) -> float:
    """The value that `share` of all values do not exceed (nearest rank)."""
    ranked = sorted(values)
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)]


def median(values: Sequence[float]) -> float:
    """The value in the middle; of an even number, the lower one of the two."""
    return quantile(values, 0.5)


def machine() -> str:
    """What the figures were measured on, and how busy it was with other work at that time."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    system = f"{platform.system()} {platform.machine()}"
    return f"{system}, {os.cpu_count()} CPUs, Python {platform.python_version()}, load average {load}"


def table(title: str, remark: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints a table: the first column to the left, figures to the right."""
    widths = [max(len(row[place]) for row in (columns, *rows)) for place in range(len(columns))]
    print(f"\n{title}\n{remark}")
    for row in (columns, ["-" * width for width in widths], *rows):
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  ".join([row[0].ljust(widths[0]), *cells]))
    print(flush=True)


def judged(value: float, goal: float, unit: str, digits: int = 2) -> str:
    """The goal, and whether the figure is within it."""
    return f"≤ {goal:g} {unit}: {'met' if value <= goal else f'missed by {value - goal:.{digits}f}'}"
