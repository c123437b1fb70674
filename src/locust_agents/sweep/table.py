"""What a person reads of a sweep: a row for each cell, a bar for each value of an axis, in 80 columns."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from rich.cells import cell_len, set_cell_size

from locust_agents.cluster.byte_sizes import size_text
from locust_agents.figures import Wait
from locust_agents.quantities import UNKNOWN, WIDTH, seconds, share, speed
from locust_agents.sweep import cells, figures
from locust_agents.sweep.figures import Result

_FIGURES = (
    ("", "turns"),
    ("TTFT", "p50"),
    ("TTFT", "max"),
    ("prefill", "tok/s"),
    ("peak", "memory"),
    ("", "reuse"),
    ("", "right"),
    ("", "limits"),
)
_BAR, _NARROW = 40, 9
Cells = tuple[str, ...]


def render(results: Sequence[Result]) -> str:
    """The table, then why cells did not go well, then the bars."""
    names = cells.labels(results[0].cell.values)
    kind = figures.kind_of(results)
    of = f"TTFT of {'later' if kind else 'all'} turns; memory of the rank that took most"
    lines = [*_table(results, names), of, *_reasons(results)]
    for key in results[0].cell.values:
        lines += ["", *_bars(results, key, names[key])]
    return "\n".join(_cut(line).rstrip() for line in lines)


def _table(results: Sequence[Result], names: Mapping[str, str]) -> list[str]:
    """Values are columns where there is room for them; else they stand above each cell's figures."""
    axes = [_halves(names[key]) for key in results[0].cell.values]
    rows = [(_number(one), *map(cells.shown, one.cell.values.values()), *_cells(one)) for one in results]
    for between in ("  ", " "):
        lines = _aligned([*zip(("", "cell"), *axes, *_FIGURES, strict=True), *rows], between)
        if max(map(cell_len, lines)) <= WIDTH:
            return lines
    short = [(_number(one), *_cells(one)) for one in results]
    first, second, *lines = _aligned([*zip(("", "cell"), *_FIGURES, strict=True), *short], "  ")
    told = (cells.told(one.cell, names) for one in results)
    return [first, second, *(line for values, row in zip(told, lines, strict=True) for line in (values, row))]


def _halves(name: str) -> tuple[str, str]:
    """A name in two lines, broken where it has a mark and nearest to its middle."""
    marks = [place + 1 for place, letter in enumerate(name[:-1]) if letter in "-_."]
    if len(name) <= _NARROW or not marks:
        return "", name
    at = min(marks, key=lambda place: abs(place - len(name) / 2))
    return name[:at], name[at:]


def _aligned(rows: Sequence[Cells], between: str) -> list[str]:
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    return [
        between.join(" " * (width - cell_len(cell)) + cell for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]


def _number(one: Result) -> str:
    return str(one.cell.number)


def _cells(one: Result) -> Cells:
    found = one.figures
    if found is None:
        return ("0", *(UNKNOWN,) * (len(_FIGURES) - 2), one.state)
    return (
        str(found.turns),
        seconds(found.ttft_p50),
        seconds(found.ttft_max),
        ("≥ " if found.is_bound else "") + speed(found.prefill),
        UNKNOWN if found.memory is None else size_text(found.memory),
        share(found.reuse),
        share(found.right),
        one.state,
    )


def _reasons(results: Sequence[Result]) -> list[str]:
    """A line for each cell that did not go well."""
    return [f"cell {one.cell.number} {one.state}: {' '.join(one.reason.split())}" for one in results if one.reason]


def _bars(results: Sequence[Result], key: str, name: str) -> list[str]:
    """The worst TTFT of all cells that have the value."""
    worst: dict[str, Wait | None] = {cells.shown(one.cell.values[key]): None for one in results}
    for one in results:
        value, found = cells.shown(one.cell.values[key]), one.figures
        if found is not None and found.ttft_max is not None:
            worst[value] = max(
                filter(None, (worst[value], found.ttft_max)), key=lambda wait: (wait.value, wait.is_more)
            )
    longest = max((wait.value for wait in worst.values() if wait is not None), default=0.0)
    width = min(20, max(map(cell_len, worst)))
    rows = (f"{set_cell_size(value, width)} {_bar(wait, longest)}" for value, wait in worst.items())
    return [f"worst TTFT by {name}", *rows]


def _bar(wait: Wait | None, longest: float) -> str:
    if wait is None:
        return UNKNOWN
    return f"{'█' * max(1, round(_BAR * wait.value / longest)) if longest else ''} {seconds(wait)}"


def _cut(line: str) -> str:
    return line if cell_len(line) <= WIDTH else set_cell_size(line, WIDTH - 1) + "…"


def as_json(one: Result) -> dict[str, Any]:
    """A cell in sweep.json; waits that had not ended are {"value", "is_more"} like in summary.json."""
    found = one.figures
    return {
        "number": one.cell.number,
        "folder": one.cell.folder,
        "values": dict(one.cell.values),
        "state": one.state,
        "exit_status": one.status,
        "reason": one.reason,
        "figures": None if found is None else dataclasses.asdict(found),
    }
