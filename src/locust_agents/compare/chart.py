"""The chart of a comparison: a line for each figure, from where to where B may lie of A, and what is said of it."""

from collections.abc import Callable, Sequence
from math import ceil, floor, log2
from typing import Any

from locust_agents.compare import cells
from locust_agents.compare.comparing import Figure
from locust_agents.limits import METRICS
from locust_agents.pages import chart
from locust_agents.pages.chart import BAD, PALETTE, Chart, Key, Plot

LOOKS = {
    "worse": (BAD, "square", "B is worse"),
    "better": (PALETTE[2], "diamond", "B is better"),
    "unsure": (PALETTE[5], "circle", "unsure: more turns would tell"),
    "noise": ("#7f7f7f", "circle", "noise"),
    "open": (PALETTE[4], "triangle", "open: waits that had not ended decide"),
}
"""Colour, marker and meaning of each word; too few turns have no interval, and no line."""

_LINE_PX, _FRAME_PX = 26, 96
_LONGEST = 30
# Fifty times as much is as good as a thousand times as much, and would hide all that is near to 1.
_LEAST, _MOST = 1 / 64, 64.0
# A factor of two on each side at the least: what looks large is large.
_OCTAVES = 1
_COARSE = (1 / 64, 1 / 16, 1 / 4, 1, 4, 16, 64)
_FINE = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16)
_FINEST = (1 / 4, 1 / 2, 0.8, 1, 1.25, 2, 4)
"""Ticks that do not run into each other on a phone, by the number of octaves."""

Scale = Callable[[float], float]
"""From a change to its place on the axis."""


def quotients(figures: Sequence[Figure]) -> Chart | None:
    """Of waits and speeds: B ÷ A, on a logarithmic axis, so that twice as much is as far as half as much."""
    mine = [one for one in _drawable(figures) if not is_share(one)]
    if not mine:
        return None
    places = [place for one in mine for place in _span(one, _quotient)]
    ends = [max(_OCTAVES, ceil(-log2(min(places)))), max(_OCTAVES, ceil(log2(max(places))))]
    made = _plot(mine, "B ÷ A", {"x_axis_type": "log", "x_range": (2.0 ** -ends[0] * 0.95, 2.0 ** ends[1] * 1.05)})
    ticks = _FINEST if sum(ends) <= 3 else _FINE if sum(ends) <= 6 else _COARSE
    _tick(made, [tick for tick in ticks if 2.0 ** -ends[0] <= tick <= 2.0 ** ends[1]])
    _draw(made, mine, _quotient, 1.0)
    far = f" What lies beyond {_MOST:g} stands there." if {_LEAST, _MOST} & set(places) else ""
    told = f"1 is no change; more is worse of waits, better of speeds. A line is the 95 % interval.{far}"
    return Chart(made, _words(mine), _keys(mine), told)


def points(figures: Sequence[Figure]) -> Chart | None:
    """Of shares, such as reuse: B − A, in points, of which a hundred are the whole."""
    mine = [one for one in _drawable(figures) if is_share(one)]
    if not mine:
        return None
    places = [place for one in mine for place in _span(one, _points)]
    room = {"x_range": (min(floor(min(places)) - 1, -5), max(ceil(max(places)) + 1, 5))}
    made = _plot(mine, "B − A, points", room)
    _draw(made, mine, _points, 0.0)
    return Chart(made, _words(mine), _keys(mine), "0 is no change. A line is the 95 % interval.")


def is_share(figure: Figure) -> bool:
    """Whether it is a part of a whole, such as reuse."""
    return METRICS[figure.metric].unit == "share"


def label(figure: Figure) -> str:
    """Whose figure it is and which; long names of entries are cut where the figure is still told."""
    what = " ".join(part for part in (figure.kind, cells.name(figure)) if part)
    room = max(8, _LONGEST - len(what))
    entry = figure.entry if len(figure.entry) <= room else f"{figure.entry[: room - 1]}…"
    return chart.plain(f"{entry} {what}")


def _drawable(figures: Sequence[Figure]) -> list[Figure]:
    """Those of which an interval is known."""
    return [one for one in figures if one.change is not None and one.low is not None and one.word in LOOKS]


def _quotient(change: float) -> float:
    return min(max(1 + change, _LEAST), _MOST)


def _points(change: float) -> float:
    return 100 * change


def _span(figure: Figure, scale: Scale) -> tuple[float, float, float]:
    """The least, the measured and the most."""
    low, change, high = (0.0 if one is None else one for one in (figure.low, figure.change, figure.high))
    return scale(low), scale(change), scale(high)


def _plot(figures: Sequence[Figure], x_label: str, options: dict[str, Any]) -> Plot:
    from bokeh.models import FixedTicker

    count = len(figures)
    made = chart.plot(x_label, "", _FRAME_PX + _LINE_PX * count, y_range=(count - 0.4, -0.6), **options)
    made.yaxis[0].ticker = FixedTicker(ticks=list(range(count)))
    made.yaxis[0].major_label_overrides = {place: label(one) for place, one in enumerate(figures)}
    made.yaxis[0].minor_tick_line_color = None
    made.ygrid[0].grid_line_color = None
    return made


def _tick(made: Plot, ticks: Sequence[float]) -> None:
    from bokeh.models import FixedTicker

    made.xaxis[0].ticker = FixedTicker(ticks=list(ticks))
    made.xaxis[0].major_label_overrides = {tick: _fraction(tick) for tick in ticks}


def _fraction(tick: float) -> str:
    return f"1/{1 / tick:.0f}" if tick <= 0.5 else f"{tick:g}"


def _draw(made: Plot, figures: Sequence[Figure], scale: Scale, nothing: float) -> None:
    from bokeh.models.annotations import Span

    made.add_layout(Span(location=nothing, dimension="height", line_color="#7f7f7f", line_width=1.5))
    for line, one in enumerate(figures):
        low, _, high = _span(one, scale)
        made.segment(low, line, high, line, color=LOOKS[one.word][0], line_width=3, line_cap="round")
    drawn = [_scatter(made, figures, word, scale) for word in dict.fromkeys(one.word for one in figures)]
    tips = {"figure": "name", "A": "a", "B": "b", "change": "change", "95 % interval": "between", "B is": "word"}
    made.add_tools(chart.hover(drawn, tips, {}))


def _scatter(made: Plot, figures: Sequence[Figure], word: str, scale: Scale) -> Any:
    from bokeh.models import ColumnDataSource

    mine = [(line, one) for line, one in enumerate(figures) if one.word == word]
    _, a, b, change, between, said = zip(*(cells.cells(one) for _, one in mine), strict=True)
    whole = [" ".join(filter(None, (one.entry, one.kind, cells.name(one)))) for _, one in mine]
    rows = {
        "x": [round(_span(one, scale)[1], 5) for _, one in mine],
        "y": [line for line, _ in mine],
        "name": list(map(chart.plain, whole)),
        "a": a,
        "b": b,
        "change": change,
        "between": between,
        "word": said,
    }
    colour, marker, _ = LOOKS[word]
    return made.scatter("x", "y", source=ColumnDataSource(rows), color=colour, marker=marker, size=10)


def _keys(figures: Sequence[Figure]) -> list[Key]:
    words = {one.word for one in figures}
    return [Key(meaning, colour) for word, (colour, _, meaning) in LOOKS.items() if word in words]


def _words(figures: Sequence[Figure]) -> str:
    counted = {word: sum(one.word == word for one in figures) for word in LOOKS}
    told = ", ".join(f"{count} {word}" for word, count in counted.items() if count)
    return f"{len(figures)} {'figure' if len(figures) == 1 else 'figures'}: {told}."
