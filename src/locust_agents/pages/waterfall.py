"""The chart of all turns beside each other, agent by agent: who waited while whom the server served."""

from collections.abc import Sequence

from markupsafe import Markup

from locust_agents.pages import chart, lanes, waterfall_data, waterfall_ways
from locust_agents.pages import spans as html_spans
from locust_agents.pages.chart import BAD, Chart, Plot
from locust_agents.pages.lanes import Lines
from locust_agents.pages.run import Told
from locust_agents.pages.waterfall_data import BARS, HOVER, QUIET
from locust_agents.pages.waterfall_ways import MOST_LINES, NAME, Window
from locust_agents.pages.waterfall_words import CAPTION, WHERE, keys, words
from locust_agents.records import TurnRecord

_LINE_PX = 24
_WORST = 10
_MOST_BARS = 240


def parts(told: Told) -> list[Markup | Chart]:
    """The longest waits with a button that shows each, ways to move, the chart, and where it is in the run."""
    if not told.run.records:
        return []
    records = sorted(told.run.records, key=lambda record: record.wall_time)
    lines = lanes.lines(records, told.entries)
    worst = sorted(told.waits, key=lambda one: (one[1].value, one[1].is_more), reverse=True)[:_WORST]
    place = {id(record): number for number, record in enumerate(records)}
    views = [waterfall_ways.window(told, record, lines, lines.of[place[id(record)]]) for record, _ in worst]
    first = views[0] if views else (0.0, max(told.seconds, 0.001), -0.5, len(lines.agents) - 0.5)
    made = _chart(told, records, lines, first)
    return [
        waterfall_ways.longest(told, worst, views),
        waterfall_ways.buttons(told, lines),
        Chart(made, words(told, lines, first), keys(records), CAPTION),
        Chart(_overview(told, made), "The longest wait for a first token over the whole run.", (), WHERE),
    ]


def _chart(told: Told, records: Sequence[TurnRecord], lines: Lines, first: Window) -> Plot:
    from bokeh.models import CustomJSTickFormatter, FixedTicker, Range1d

    height = 110 + _LINE_PX * min(len(lines.agents), MOST_LINES)
    whole = max(told.seconds, 0.001)
    made = chart.plot(
        "seconds since the load began",
        "agent",
        height,
        name=NAME,
        x_range=Range1d(start=first[0], end=first[1], bounds=(-0.05 * whole, 1.05 * whole)),
        y_range=Range1d(start=first[3], end=first[2], bounds=(-0.5, len(lines.agents) - 0.5)),
        tools="pan,box_zoom,xzoom_in,xzoom_out,reset,save",
        active_drag="pan",
    )
    made.yaxis.axis_label = None
    made.ygrid.grid_line_color = None
    made.yaxis.ticker = FixedTicker(ticks=list(range(len(lines.agents))))
    labels = [_label(lines.agents, place) for place in range(len(lines.agents))]
    made.yaxis.formatter = CustomJSTickFormatter(args={"labels": labels}, code="return labels[tick] || ''")
    _draw(made, told, records, lines)
    return made


def _label(agents: Sequence[str], line: int) -> str:
    """An agent's name stands at its first line only, and never takes the room of the chart."""
    name = chart.plain(agents[line])
    if line and agents[line - 1] == agents[line]:
        return ""
    return name if len(name) <= 16 else f"{name[:8]}…{name[-7:]}"


def _draw(made: Plot, told: Told, records: Sequence[TurnRecord], lines: Lines) -> None:
    source, names = waterfall_data.source(told, records, lines)
    # Not hbar: it draws what is out of sight as lines at the edge.
    style = {"y": "line", "height": 0.72, "source": source, "line_color": None}
    bars = [made.rect(f"{bar}_x", width=f"{bar}_w", fill_color=colour, **style) for bar, (_, colour) in BARS.items()]
    for is_bad, marker, colour in ((True, "x", BAD), (False, "diamond", QUIET)):
        ended = [place for place, one in enumerate(records) if str(one.outcome) != "ok" and one.is_failure == is_bad]
        x = [told.at(records[place].wall_time) + records[place].end_s for place in ended]
        y = [lines.of[place] for place in ended]
        style = {"line_color": colour, "fill_color": None, "line_width": 3 if is_bad else 2}
        made.scatter(x, y, marker=marker, size=11, **style)
    made.add_tools(chart.hover(bars[:1], HOVER, names))


def _overview(told: Told, made: Plot) -> Plot:
    """The run's longest waits in spans, with the window of the chart to be dragged."""
    from bokeh.models import RangeTool

    span_s = html_spans.length_s(told.seconds, _MOST_BARS)
    spans = html_spans.grouped(told.waits, lambda one: told.at(one[0].wall_time), span_s)
    small = chart.plot(
        "seconds since the load began", "worst TTFT (s)", 130, tools="", toolbar_location=None, active_drag=None
    )
    left = [number * span_s for number in spans]
    top = [max(wait.value for _, wait in span) for span in spans.values()]
    small.quad(left=left, right=[one + span_s for one in left], bottom=0, top=top, color="#0072b2", line_color=None)
    small.y_range.start = 0
    small.x_range.start, small.x_range.end = -0.01 * told.seconds, 1.01 * told.seconds
    tool = RangeTool(x_range=made.x_range)
    tool.overlay.fill_color, tool.overlay.fill_alpha = "#e69f00", 0.3
    small.add_tools(tool)
    return small
