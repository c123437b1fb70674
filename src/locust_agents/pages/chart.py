"""How a chart looks, whatever it shows: size, colours, axes that say their unit, hover; and never a TeX formula."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any, TypeAlias

Plot: TypeAlias = Any
"""A figure of Bokeh, which is imported where one is made: it takes a second, and brings numpy along."""

# Okabe and Ito 2008, without the two that are not seen on white or on black.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#7f7f7f")
BAD = "#c62828"
_MARKERS = ("circle", "square", "diamond", "hex", "star", "plus", "asterisk", "cross")
_TOOLS = "pan,box_zoom,reset,save"
# From here on the larger values of a linear axis hide the smaller ones.
_LOG_FROM = 20
_SMALLEST_S = 0.001


@dataclass(frozen=True, slots=True)
class Key:
    """One line of a legend; `shape` is square, line, dashed, open (a triangle) or cross."""

    text: str
    colour: str
    shape: str = "square"


@dataclass(frozen=True, slots=True)
class Chart:
    """A plot, what it shows in words for those who do not see it, and what one must know to read it."""

    model: Plot
    words: str
    keys: Sequence[Key] = ()
    caption: str = ""


def colours(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """A colour and a marker for each name, the same in all charts of a page."""
    return dict(zip(names, zip(cycle(PALETTE), cycle(_MARKERS), strict=False), strict=False))


def plot(x_label: str, y_label: str, height: int = 320, **options: Any) -> Plot:
    """An empty plot as wide as the page; `options` are those of Bokeh's figure."""
    from bokeh.plotting import figure

    made = figure(
        sizing_mode="stretch_width",
        height=height,
        min_width=240,
        x_axis_label=plain(x_label),
        y_axis_label=plain(y_label),
        **{"tools": _TOOLS, "active_drag": "box_zoom", "toolbar_location": "above", "min_border_right": 16, **options},
    )
    made.toolbar.logo = None
    made.background_fill_color = made.border_fill_color = None
    for axis in made.axis:
        axis.axis_label_text_font_style = "normal"
    return made


def hover(renderers: Sequence[Any], tooltips: Mapping[str, str], names: Mapping[str, Sequence[str]]) -> Any:
    """A hover tool. `tooltips` are column and format by label, as `queue:s`; columns in `names` hold places in a list.

    The formats are s (seconds), n (a count), % (a share), and none for a text; what is not known is a dash.
    """
    from bokeh.models import CustomJSHover, HoverTool

    pairs = [(label, column.partition(":")[::2]) for label, column in tooltips.items()]
    made = [
        (label, column, CustomJSHover(args={"names": [*map(plain, names.get(column, ()))]}, code=_FORMAT))
        for label, (column, _) in pairs
    ]
    formats = {column: f"@{{{column}}}{{{form or 'text'}}}" for _, (column, form) in pairs}
    return HoverTool(
        renderers=list(renderers),
        tooltips=[(label, formats[column]) for label, column, _ in made],
        formatters={f"@{{{column}}}": formatter for _, column, formatter in made},
        point_policy="follow_mouse",
        visible=False,
        limit=1,
    )


def is_wide(values: Sequence[float]) -> bool:
    """Whether they are so far apart that an axis must be logarithmic."""
    known = [value for value in values if value > 0]
    return bool(known) and max(known) / max(min(known), _SMALLEST_S) >= _LOG_FROM


def as_numbers(axis: Any) -> None:
    """Ticks at 0.1, 0.2, 0.5, 1 and so on, written like that: a logarithmic axis would have powers of ten."""
    from bokeh.models import BasicTickFormatter, FixedTicker

    axis.ticker = FixedTicker(ticks=[step * 10.0**power for power in range(-3, 5) for step in (1, 2, 5)])
    axis.formatter = BasicTickFormatter(use_scientific=False)


def plain(text: str) -> str:
    """The text on one line, without the signs that Bokeh would take for TeX and fetch a renderer for."""
    return re.sub(r"\$(?=\$)|\\(?=[\[(])", "\\g<0>\N{ZERO WIDTH SPACE}", " ".join(text.split()))


_FORMAT = """
if (names.length) return names[value] || '–';
if (value === null || value === undefined || (typeof value === 'number' && (isNaN(value) || value < 0))) return '–';
if (format === 's') return (value < 0.0995 ? Math.round(value * 1000) + ' ms' : value.toPrecision(3) + ' s');
if (format === 'at') return Math.floor(value / 60) + ' min ' + (value % 60).toFixed(1) + ' s';
if (format === 'n') return Math.round(value).toLocaleString('en');
if (format === '%') return Math.floor(value * 100 + 1e-6) + ' %';
if (format === 'GB') return value.toFixed(2) + ' GB';
return String(value);
"""
