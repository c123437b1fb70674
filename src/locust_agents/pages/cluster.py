"""The charts of what the ranks held in memory and the server in its prompt cache, over the run."""

from collections.abc import Callable, Sequence
from typing import Any

from locust_agents import event_words
from locust_agents.pages import chart as html_chart
from locust_agents.pages import spans as html_spans
from locust_agents.pages.chart import PALETTE, Chart, Key
from locust_agents.pages.run import Told

_MOST_POINTS = 600

Points = list[tuple[float, float]]
"""Seconds since the load began, and the figure."""


def memory(told: Told) -> Chart | None:
    """Of each rank, in GB; None where no host told."""
    found: dict[str, Points] = {}
    for note in told.notes("memory"):
        for rank, used in (note.get("ranks") or {}).items():
            found.setdefault(f"rank {rank}", []).append((told.at(note["time"]), used / 1e9))
    if not found:
        return None
    names = sorted(found, key=lambda name: (len(name), name))
    made = html_chart.plot("seconds since the load began", "memory of the process, GB", 260)
    made.y_range.start = 0
    drawn = [_line(made, name, found[name], PALETTE[n % len(PALETTE)], False) for n, name in enumerate(names)]
    made.add_tools(html_chart.hover(drawn, {"rank": "name", "at": "x:at", "memory": "y:GB"}, {}))
    keys = [Key(name, PALETTE[number % len(PALETTE)], "line") for number, name in enumerate(names)]
    peaks = ", ".join(f"{name} {max(gb for _, gb in found[name]):.2f} GB" for name in names)
    return Chart(made, f"Memory of each rank; the most that was sampled: {peaks}.", keys, _said(found.values()))


def cache(told: Told) -> Chart | None:
    """Sequences in the prompt cache as rank 0's log told; None where it did not."""
    notes = told.notes("cache")
    points = [(told.at(note["time"]), float(note["sequences"])) for note in notes if "sequences" in note]
    if not points:
        return None
    made = html_chart.plot("seconds since the load began", "sequences in the cache", 260)
    made.y_range.start = 0
    drawn = [_line(made, "prompt cache", points, PALETTE[2], True)]
    made.add_tools(html_chart.hover(drawn, {"at": "x:at", "sequences": "y:n"}, {}))
    most = max(value for _, value in points)
    size = max((float(note.get("size_gb") or 0) for note in notes), default=0.0)
    words = f"Sequences in the prompt cache of rank 0, at most {most:.0f}, and at most {size:.2f} GB of them."
    return Chart(made, words, [Key("prompt cache", PALETTE[2], "line")], _said([points]))


def _line(made: Any, name: str, points: Points, colour: str, is_step: bool) -> Any:
    from bokeh.models import ColumnDataSource

    kept = thinned(points, _MOST_POINTS)
    x, y = ([round(value, 3) for value in column] for column in zip(*kept, strict=True))
    source = ColumnDataSource({"x": x, "y": y, "name": [name] * len(kept)})
    if len(kept) == 1:
        return made.scatter("x", "y", source=source, color=colour, size=8)
    draw: Callable[..., Any] = made.step if is_step else made.line
    return draw("x", "y", source=source, color=colour, line_width=2, **({"mode": "after"} if is_step else {}))


def thinned(points: Points, most: int) -> Points:
    """At most about so many of the points: of each span the smallest and the largest, in the order of time."""
    if len(points) <= most:
        return points
    first, last = points[0][0], points[-1][0]
    spans = html_spans.grouped(points, lambda point: point[0] - first, max((last - first) / (most // 2), 1e-9))
    ends = [end for span in spans.values() for end in sorted({min(span, key=_figure), max(span, key=_figure)})]
    return [points[0], *(end for end in ends if first < end[0] < last), points[-1]]


def _figure(point: tuple[float, float]) -> float:
    return point[1]


def _said(lines: Any) -> str:
    is_thin = any(len(points) > _MOST_POINTS for points in lines)
    return "Of each span of time only the smallest and the largest figure are drawn." if is_thin else ""


def charts(told: Told) -> Sequence[Chart]:
    """Those that there are figures for."""
    return [chart for chart in (memory(told), cache(told)) if chart is not None]


def happenings(told: Told) -> list[tuple[str, str]]:
    """When and what: errors, restarts, pressure, tracebacks; not what comes with every run, nor that a client left."""
    return [
        (f"{told.at(note['time']):.0f} s", event_words.said(note))
        for note in told.run.notes
        if note.get("event") in _TELLING and "time" in note and not note.get("client_left")
    ][:_MOST_HAPPENINGS]


_MOST_HAPPENINGS = 40
_TELLING = (
    "error",
    "gap",
    "guard",
    "pressure",
    "slept",
    "clock_set",
    "traceback",
    "generation_thread_died",
    "tool_call_dropped",
    "wedge",
)
