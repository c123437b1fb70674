"""The page of a sweep: a row of plots for each axis, in one file that asks nobody for anything."""

import html
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from locust_agents.figures import Wait
from locust_agents.sweep import cells
from locust_agents.sweep.figures import Figures, Result

if TYPE_CHECKING:
    from bokeh.plotting import figure

Of = Callable[[Figures], float | None]
Point = tuple[str, float, str]
"""The axis' value, the figure, the cell in words."""

_WIDTH, _HEIGHT = 330, 260
_PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31")  # Okabe, Ito 2008


def page(title: str, results: Sequence[Result]) -> str:
    """HTML with all that it needs in it. A line joins cells whose other axes have the same values."""
    from bokeh.embed import file_html
    from bokeh.layouts import column, row
    from bokeh.models import LayoutDOM
    from bokeh.models.widgets import Div
    from bokeh.resources import INLINE

    names = cells.labels(results[0].cell.values)
    rows: list[LayoutDOM] = []
    for key in results[0].cell.values:
        rows.append(Div(text=f"<h2>{html.escape(names[key])}</h2>"))
        lines = {what: _lines(results, key, names, of) for what, of in _PLOTS}
        rows.append(row(*(_plot(results, key, names[key], what, points) for what, points in lines.items() if points)))
    head = Div(text=f"<h1>{html.escape(title)}</h1><p>A line joins cells that differ in this axis alone.</p>")
    return str(file_html(column(head, *rows), INLINE, title))


def _plot(results: Sequence[Result], key: str, name: str, what: str, lines: Mapping[str, list[Point]]) -> "figure":
    from bokeh.models import DataRange1d, FactorRange
    from bokeh.plotting import figure

    values = list(dict.fromkeys(cells.shown(one.cell.values[key]) for one in results))
    plot = figure(
        title=what,
        x_range=FactorRange(factors=values),
        width=_WIDTH,
        height=_HEIGHT,
        x_axis_label=name,
        y_range=DataRange1d(start=0),
        tools="hover,save,reset",
        tooltips=[("cell", "@cell"), (what, "@y")],
    )
    plot.toolbar.logo = None
    for number, (others, points) in enumerate(lines.items()):
        _draw(plot, points, _PALETTE[number % len(_PALETTE)], others)
    return plot


def _lines(results: Sequence[Result], key: str, names: dict[str, str], of: Of) -> dict[str, list[Point]]:
    """Points by what their cells have in common."""
    found: dict[str, list[Point]] = {}
    for one in results:
        value = None if one.figures is None else of(one.figures)
        if value is not None:
            rest = {other: set_to for other, set_to in one.cell.values.items() if other != key}
            others = ", ".join(f"{names[other]} {cells.shown(set_to)}" for other, set_to in rest.items())
            told = f"{one.cell.number}: {cells.told(one.cell, names)} ({one.state})"
            found.setdefault(others, []).append((cells.shown(one.cell.values[key]), value, told))
    return found


def _draw(plot: "figure", points: Sequence[Point], colour: str, others: str) -> None:
    from bokeh.models import ColumnDataSource

    x, y, cell = zip(*points, strict=True)
    source = ColumnDataSource({"x": x, "y": y, "cell": cell})
    plot.line("x", "y", source=source, color=colour, line_width=2, name=others or None)
    plot.scatter("x", "y", source=source, color=colour, size=8)


def _wait(wait: Wait | None) -> float | None:
    return None if wait is None else wait.value


_PLOTS: tuple[tuple[str, Of], ...] = (
    ("worst TTFT (s)", lambda found: _wait(found.ttft_max)),
    ("median TTFT (s)", lambda found: _wait(found.ttft_p50)),
    ("prefill (tokens/s)", lambda found: found.prefill),
    ("peak memory (GB)", lambda found: None if found.memory is None else found.memory / 1e9),
    ("reuse (%)", lambda found: None if found.reuse is None else 100 * found.reuse),
    ("right (%)", lambda found: None if found.right is None else 100 * found.right),
)
