"""What a person reads of a comparison, in 80 columns: the verdict, what changed, then figures of A beside B's."""

import re
import textwrap
from collections.abc import Sequence

from rich.cells import cell_len

from locust_agents.compare import cells as compare_cells
from locust_agents.compare.allowed import Allowance
from locust_agents.compare.comparing import Comparison, Figure
from locust_agents.compare.verdict import Verdict
from locust_agents.quantities import WIDTH

_COLUMNS = (18, 10, 10, 9, 18, 7)
"""Name, A, B, change, its interval, what it is: 80 with the blanks between and two ahead."""


def render(
    verdict: Verdict,
    changed: Sequence[str],
    found: Comparison,
    allowed: Sequence[Allowance] = (),
    held: Comparison | None = None,
    everything: bool = False,
) -> str:
    """All lines; figures that are noise are left out unless they are among the first that one looks for."""
    shown = compare_cells.shown(found.figures, everything)
    rows = [line for figures in shown.values() for line in _table(figures, found)]
    left_out = len(found.figures) - sum(map(len, shown.values()))
    rest = [f"{left_out} more: noise, or too few turns (--all shows them)"] if left_out else []
    return "\n".join(
        [
            *_wrapped(compare_cells.verdict_line(verdict)),
            *changed,
            *(f"only {run}   has turns of {entry}" for run, entry in compare_cells.alone(found)),
            *(() if held is None else (f"{word:9}{text}" for word, text in compare_cells.allowances(allowed, held))),
            _row(compare_cells.HEADS),
            *rows,
            *rest,
        ]
    )


def _wrapped(text: str) -> list[str]:
    """In lines, of which none begins with a unit."""
    lines = textwrap.wrap(re.sub(r"(?<=\d) (?=\S)", "\u00a0", text), WIDTH, subsequent_indent="  ")
    return [line.replace("\u00a0", " ") for line in lines]


def _table(figures: Sequence[Figure], found: Comparison) -> list[str]:
    one = figures[0]
    of = compare_cells.drawn_from(figures, found.designs[one.entry])
    heading = f"{' '.join(filter(None, (one.entry, one.kind)))}   {of}"
    return [heading, *(_row(compare_cells.cells(figure)) for figure in figures)]


def _row(cells: Sequence[str]) -> str:
    padded = [
        cell + " " * (width - cell_len(cell)) if place in (0, 5) else " " * (width - cell_len(cell)) + cell
        for place, (cell, width) in enumerate(zip(cells, _COLUMNS, strict=True))
    ]
    return ("  " + " ".join(padded)).rstrip()
