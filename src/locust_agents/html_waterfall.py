"""The chart of all turns beside each other, agent by agent: who waited while whom the server served."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from locust_agents import html_chart, html_spans, waterfall
from locust_agents.figures import Wait
from locust_agents.html_chart import BAD, Chart, Key, Plot
from locust_agents.html_run import Told, name_of
from locust_agents.html_table import button, table
from locust_agents.quantities import UNKNOWN, count, seconds
from locust_agents.records import TurnRecord
from locust_agents.waterfall import Phases

NAME = "waterfall"
_QUIET = "#9aa0a6"
_BARS: Mapping[str, tuple[Callable[[Phases], tuple[float, float]], str]] = {  # from where to where, and the colour
    "open": (lambda one: (0.0, one.end), _QUIET),
    "queue": (lambda one: (0.0, one.taken), "#e69f00"),
    "prefill": (lambda one: (one.taken, one.read), "#0072b2"),
    "decode": (lambda one: (one.read, one.silent), "#009e73"),
    "silence": (lambda one: (one.silent, one.last), "#cc79a7"),
}
_CALLED = {"open": "open, and nothing came any more", "silence": "tool call written in silence"}
_LINE_PX, _MOST_LINES = 24, 20
_WORST, _FEW_TURNS = 10, 150
# A turn is drawn with this many times its length around it, and with so many turns of the middling length.
_AROUND, _TURNS_WIDE = 3.0, 40
_MOST_BARS = 240
_HOVER = {
    "agent": "agent",
    "session": "session",
    "turn": "turn:n",
    "kind": "kind",
    "started": "t0:at",
    "TTFT": "ttft:s",
    "queue": "queue:s",
    "prefill": "prefill:s",
    "decode": "decode:s",
    "whole turn": "whole:s",
    "prompt": "prompt:n",
    "reused": "cached:n",
    "could be reused": "expected:n",
    "answer": "answer:n",
    "read again because": "miss",
    "outcome": "outcome",
}

Window = tuple[float, float, float, float]
"""Seconds from and to, lines from and to."""


def parts(told: Told) -> list[Markup | Chart]:
    """The longest waits with a button that shows each, ways to move, the chart, and where it is in the run."""
    if not told.run.records:
        return []
    records = sorted(told.run.records, key=lambda record: record.wall_time)
    lines = waterfall.lines(records, told.entries)
    worst = sorted(told.waits, key=lambda one: (one[1].value, one[1].is_more), reverse=True)[:_WORST]
    place = {id(record): number for number, record in enumerate(records)}
    views = [_window(told, record, lines, lines.of[place[id(record)]]) for record, _ in worst]
    first = views[0] if views else (0.0, max(told.seconds, 0.001), -0.5, len(lines.agents) - 0.5)
    made = _chart(told, records, lines, first)
    return [
        _longest(told, worst, views),
        _buttons(told, lines),
        Chart(made, _words(told, lines, first), _keys(records), _CAPTION),
        Chart(_overview(told, made), "The longest wait for a first token over the whole run.", (), _WHERE),
    ]


def _window(told: Told, record: TurnRecord, lines: waterfall.Lines, line: int) -> Window:
    """What is shown of the run for a turn; all of it where that is readable."""
    whole = max(told.seconds, 0.001)
    if len(told.run.records) <= _FEW_TURNS:
        wide = whole
    else:
        lengths = sorted(one.end_s for one in told.run.records)
        wide = min(whole, max(_AROUND * record.end_s, _TURNS_WIDE * lengths[len(lengths) // 2] / 4))
    start = told.at(record.wall_time) + record.end_s / 2 - wide / 2
    start = max(-0.02 * wide, min(start, whole - wide))
    high = min(len(lines.agents), _MOST_LINES)
    top = max(0, min(line - high // 2, len(lines.agents) - high))
    return start, start + wide * 1.02, top - 0.5, top + high - 0.5


def _chart(told: Told, records: Sequence[TurnRecord], lines: waterfall.Lines, first: Window) -> Plot:
    from bokeh.models import CustomJSTickFormatter, FixedTicker, Range1d

    height = 110 + _LINE_PX * min(len(lines.agents), _MOST_LINES)
    whole = max(told.seconds, 0.001)
    made = html_chart.plot(
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
    name = html_chart.plain(agents[line])
    if line and agents[line - 1] == agents[line]:
        return ""
    return name if len(name) <= 16 else f"{name[:8]}…{name[-7:]}"


def _draw(made: Plot, told: Told, records: Sequence[TurnRecord], lines: waterfall.Lines) -> None:
    source, names = _source(told, records, lines)
    # Not hbar: it draws what is out of sight as lines at the edge.
    style = {"y": "line", "height": 0.72, "source": source, "line_color": None}
    bars = [made.rect(f"{bar}_x", width=f"{bar}_w", fill_color=colour, **style) for bar, (_, colour) in _BARS.items()]
    for is_bad, marker, colour in ((True, "x", BAD), (False, "diamond", _QUIET)):
        ended = [place for place, one in enumerate(records) if str(one.outcome) != "ok" and one.is_failure == is_bad]
        x = [told.at(records[place].wall_time) + records[place].end_s for place in ended]
        y = [lines.of[place] for place in ended]
        style = {"line_color": colour, "fill_color": None, "line_width": 3 if is_bad else 2}
        made.scatter(x, y, marker=marker, size=11, **style)
    made.add_tools(html_chart.hover(bars[:1], _HOVER, names))


def _source(
    told: Told, records: Sequence[TurnRecord], lines: waterfall.Lines
) -> tuple[Any, Mapping[str, Sequence[str]]]:
    """Numbers in binary; texts as places in lists of names."""
    import numpy as np
    from bokeh.models import ColumnDataSource

    found = [waterfall.phases(record) for record in records]
    start = np.array([told.at(record.wall_time) for record in records])
    data: dict[str, Any] = {"line": np.array(lines.of, np.int32), "t0": start.astype(np.float32)}
    for bar, (span, _) in _BARS.items():
        left, right = np.array([span(one) for one in found]).T
        data[f"{bar}_x"] = (start + (left + right) / 2).astype(np.float32)
        data[f"{bar}_w"] = (right - left).astype(np.float32)
    for name, values in _figures(records, found).items():
        data[name] = np.array([-1.0 if value is None else value for value in values], np.float32)
    names: dict[str, list[str]] = {}
    for name in ("agent", "session", "kind", "miss", "outcome"):
        texts = [str(getattr(record, name) or "") for record in records]
        names[name] = list(dict.fromkeys(texts))
        place = {text: number for number, text in enumerate(names[name])}
        data[name] = np.array([place[text] for text in texts], np.int32)
    return ColumnDataSource(data), names


def _figures(records: Sequence[TurnRecord], found: Sequence[Phases]) -> Mapping[str, Sequence[float | None]]:
    """What the hover says besides; None and below 0 are unknown."""
    return {
        "turn": [record.turn for record in records],
        "ttft": [record.ttft_s for record in records],
        "queue": [one.taken for one in found],
        "prefill": [one.read - one.taken for one in found],
        "decode": [one.last - one.read for one in found],
        "whole": [record.end_s for record in records],
        "prompt": [record.prompt_tokens for record in records],
        "cached": [record.cached_tokens for record in records],
        "expected": [record.expected_tokens for record in records],
        "answer": [record.completion_tokens for record in records],
    }


def _overview(told: Told, made: Plot) -> Plot:
    """The run's longest waits in spans, with the window of the chart to be dragged."""
    from bokeh.models import RangeTool

    span_s = html_spans.length_s(told.seconds, _MOST_BARS)
    spans = html_spans.grouped(told.waits, lambda one: told.at(one[0].wall_time), span_s)
    small = html_chart.plot(
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


def _longest(told: Told, worst: Sequence[tuple[TurnRecord, Wait]], views: Sequence[Window]) -> Markup:
    rows = [
        (
            name_of(record),
            _show(view),
            seconds(wait),
            seconds(None if record.queue_s is None else Wait(record.queue_s)),
            count(record.prompt_tokens),
            UNKNOWN if record.cached_tokens is None else f"{record.cached_tokens:,} of {record.expected_tokens or 0:,}",
            str(record.outcome),
            record.kind,
            f"{told.at(record.wall_time):.1f} s",
        )
        for (record, wait), view in zip(worst, views, strict=True)
    ]
    heads = ("turn", "in the chart", "TTFT", "queue", "prompt", "reused of possible", "outcome", "kind", "started")
    return table("The longest waits of all turns", heads, rows, numbers=(2, 3, 4, 5, 8)) if rows else Markup()


def _show(view: Window) -> Markup:
    x0, x1, top, bottom = view
    return button("show", plot=NAME, x0=f"{x0:.3f}", x1=f"{x1:.3f}", y0=bottom, y1=top, far="turns-chart")


def _buttons(told: Told, lines: waterfall.Lines) -> Markup:
    whole = max(told.seconds, 0.001)
    high = min(len(lines.agents), _MOST_LINES)
    ways = [
        button("◀ earlier", plot=NAME, move=-0.5),
        button("later ▶", plot=NAME, move=0.5),
        button("closer", plot=NAME, zoom=0.5),
        button("wider", plot=NAME, zoom=2),
        button("whole run", plot=NAME, x0=-0.01 * whole, x1=1.01 * whole),
    ]
    if len(lines.agents) > high:
        tops = range(0, len(lines.agents), high)
        for top in tops if len(tops) <= 12 else ():
            text = f"{lines.agents[top]} …"
            ways.append(button(text, plot=NAME, y0=min(top + high, len(lines.agents)) - 0.5, y1=top - 0.5))
        ways.append(button("all agents", plot=NAME, y0=len(lines.agents) - 0.5, y1=-0.5))
    return Markup('<div class="buttons" id="turns-chart">{}</div>').format(Markup("").join(ways))


def _keys(records: Sequence[TurnRecord]) -> list[Key]:
    return [
        *(Key(_CALLED.get(bar, bar), colour) for bar, (_, colour) in sorted(_BARS.items(), key=_is_rest)),
        *([Key("failed", BAD, "cross")] if any(record.is_failure for record in records) else []),
        *([Key("ended by the run or on purpose: ◇", _QUIET)] if any(map(_is_apart, records)) else []),
    ]


def _is_rest(bar: tuple[str, object]) -> bool:
    return bar[0] == "open"


def _is_apart(record: TurnRecord) -> bool:
    return str(record.outcome) != "ok" and not record.is_failure


def _words(told: Told, lines: waterfall.Lines, first: Window) -> str:
    turns, agents = len(told.run.records), len(set(lines.agents))
    start, end = max(0.0, first[0]), min(told.seconds, first[1])
    return (
        f"{turns:,} turns of {agents:,} agents; shown are {start:.0f} to {end:.0f} s of {told.seconds:.0f} s,"
        " around the longest wait."
    )


_CAPTION = (
    "Every turn is here: move with the buttons, drag, or zoom. The start of a prefill is reckoned from its measured"
    " speed; where that is not known it is drawn from the answer's headers on. A silence before a tool call is drawn at"
    " the answer's end."
)
_WHERE = "Drag the shaded part, or its edges, to move the chart above."
