"""The charts of the Agents tab, empty: Bokeh's documents in JSON, whose sources the page fills at each poll.

It is run as a program, in a process of its own: Bokeh brings numpy along, and its import would stop every stream.
"""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from locust_agents import streams
from locust_agents.locustfiles.web.course import ALL_COLUMNS, ENTRY_COLUMNS
from locust_agents.pages import chart as html_chart
from locust_agents.pages.chart import PALETTE, Plot, plain

MOST = 12
"""Entries; more lines than that tell nobody apart. The table has them all."""
_LONGEST = 18
_TIME = "time since the load began, h:mm:ss"
_BRIGHT = ("#56b4e9", "#ff8a3d", "#2fc79a", "#e2a0c6", "#f0c030", "#7aa6ff", "#c0a16b", "#a6a6a6")
"""The report's colours, as they are seen on black."""
_LOOKS: Mapping[str, tuple[str, str, Sequence[str]]] = {
    "light": ("#24292f", "#d0d7de", PALETTE),
    "dark": ("#e6e6e6", "#4a4a4a", _BRIGHT),
}
"""Of letters, of lines, of what is drawn."""
_PHASES = (("queued", "queue", 7), ("prefilling", "prefill", 1), ("decoding", "decode", 0))


def documents(entries: Sequence[str]) -> dict[str, dict[str, Any]]:
    """By look (light, dark) and name, what Bokeh's embed_item takes."""
    from bokeh.embed import json_item
    from bokeh.themes import Theme

    found: dict[str, dict[str, Any]] = {}
    for look, (ink, line, palette) in _LOOKS.items():
        charts = {
            "ttft": _waits(entries, "ttft", "TTFT, s", palette),
            "stall": _waits(entries, "stall", "stall (longest gap), s", palette),
            "prefill": _prefill(palette),
            "reuse": _reuse(palette),
            "open": _open_turns(palette),
        }
        theme = Theme(json=_theme(ink, line))
        found[look] = {name: dict(json_item(chart, theme=theme)) for name, chart in charts.items()}
    return found


def main() -> None:
    """Entries come as JSON on stdin, documents go to stdout. Silent where the page ended before it asked, or heard."""
    asked = sys.stdin.read()
    if not asked:
        return
    try:
        print(json.dumps(documents(json.loads(asked)[:MOST])), flush=True)
    except BrokenPipeError:
        streams.silence(sys.stdout.fileno())


def _waits(entries: Sequence[str], metric: str, label: str, palette: Sequence[str]) -> Plot:
    """Of each entry the median, p95 and the worst of each span."""
    made, items = _plot(label), []
    for place, entry in enumerate(entries):
        source = _source(f"entry {place}", ENTRY_COLUMNS)
        colour, dash = palette[place % len(palette)], "solid" if place < len(palette) else "dotdash"
        middle = made.line("t", f"{metric}_p50", source=source, color=colour, line_width=2, line_dash=dash)
        upper = made.line("t", f"{metric}_p95", source=source, color=colour, line_width=1.5, line_dash="dashed")
        worst = made.scatter("t", f"{metric}_max", source=source, color=colour, size=5, fill_alpha=0.7)
        given_up = made.scatter(
            "t", f"{metric}_more", source=source, color=colour, size=8, marker="triangle", fill_alpha=0
        )
        items.append((_short(entry), [middle, upper, worst, given_up]))
        stats = (("p50", "p50"), ("p95", "p95"), ("worst", "max"), ("not ended after", "more"))
        columns = {f"{plain(_short(entry))} {word}": f"{metric}_{stat}" for word, stat in stats}
        made.add_tools(_hover([middle, worst, given_up], columns))
    _legend(made, items)
    return made


def _prefill(palette: Sequence[str]) -> Plot:
    made, source = _plot("prefill, tokens/s"), _source("all", ALL_COLUMNS)
    known = made.line("t", "prefill", source=source, color=palette[0], line_width=2)
    bound = made.scatter("t", "bound", source=source, color=palette[4], size=7, marker="triangle", fill_alpha=0)
    _legend(made, [("measured", [known]), ("at least", [bound])])
    made.add_tools(_hover([known, bound], {"prefill, tokens/s": "prefill", "at least": "bound"}))
    return made


def _reuse(palette: Sequence[str]) -> Plot:
    from bokeh.models import NumeralTickFormatter, Range1d

    made, source = _plot("reuse (cached of expected), %"), _source("all", ALL_COLUMNS)
    made.y_range = Range1d(start=0, end=1.05)
    made.yaxis[0].formatter = NumeralTickFormatter(format="0 %")
    line = made.line("t", "reuse", source=source, color=palette[2], line_width=2)
    dots = made.scatter("t", "reuse", source=source, color=palette[2], size=4)
    _legend(made, [("all entries", [line, dots])])
    made.add_tools(_hover([line, dots], {"reuse": "reuse"}))
    return made


def _open_turns(palette: Sequence[str]) -> Plot:
    made, source = _plot("open turns"), _source("all", ALL_COLUMNS)
    columns = [column for column, _, _ in _PHASES]
    areas = made.varea_stack(
        columns, x="t", source=source, color=[palette[place] for *_, place in _PHASES], fill_alpha=0.75
    )
    edges = made.line("t", columns[0], source=source, line_alpha=0)
    _legend(made, [(name, [area]) for (_, name, _), area in zip(_PHASES, areas, strict=True)])
    made.add_tools(_hover([edges], {name: column for column, name, _ in _PHASES}))
    return made


def _plot(label: str) -> Plot:
    from bokeh.models import AdaptiveTicker, DataRange1d, NumeralTickFormatter

    ranges = {"x_range": DataRange1d(start=0), "y_range": DataRange1d(start=0)}
    made = html_chart.plot(_TIME, label, 300, tools="", active_drag=None, toolbar_location=None, **ranges)
    made.xaxis[0].formatter = NumeralTickFormatter(format="00:00:00")
    steps = [1, 2, 5, 10, 20, 30]  # of seconds, minutes, hours
    made.xaxis[0].ticker = AdaptiveTicker(
        base=60, mantissas=steps, min_interval=1, desired_num_ticks=5, num_minor_ticks=0
    )
    return made


def _source(name: str, columns: Sequence[str]) -> Any:
    """With a point that is nowhere: without one, the legend leaves out the line."""
    from bokeh.models import ColumnDataSource

    return ColumnDataSource(name=name, data={column: [math.nan] for column in columns})


def _hover(renderers: Sequence[Any], columns: Mapping[str, str]) -> Any:
    """Columns by label. The page writes each figure out beside it: Bokeh itself would say NaN of what is not known."""
    return html_chart.hover(
        renderers, {label: f"{column}_said" for label, column in {**columns, "at": "t"}.items()}, {}
    )


def _legend(made: Plot, items: Sequence[tuple[str, Sequence[Any]]]) -> None:
    """Above the chart, in as many lines as it needs; a click hides a line."""
    from bokeh.models.annotations import Legend, LegendItem

    shown = [LegendItem(label={"value": plain(text)}, renderers=list(renderers)) for text, renderers in items]
    made.add_layout(Legend(items=shown, click_policy="hide", orientation="horizontal", ncols=3), "above")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _theme(ink: str, line: str) -> dict[str, Any]:
    text = {"major_label_text_color": ink, "axis_label_text_color": ink, "axis_label_text_font_style": "normal"}
    lines = {"axis_line_color": ink, "major_tick_line_color": ink, "minor_tick_line_color": None}
    return {
        "attrs": {
            "Axis": {**text, **lines, "axis_label_text_font_size": "13px", "major_label_text_font_size": "12px"},
            "Grid": {"grid_line_color": line, "grid_line_alpha": 0.6},
            "Plot": {"outline_line_color": None},
            "Legend": {
                "label_text_color": ink,
                "label_text_font_size": "12px",
                "border_line_alpha": 0,
                "background_fill_alpha": 0,
                "padding": 2,
                "margin": 2,
                "spacing": 12,
            },
        }
    }


if __name__ == "__main__":
    main()
