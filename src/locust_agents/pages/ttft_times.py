"""The chart of when the wait for the first token was long: a point for each turn, and what stood behind."""

from collections.abc import Iterable, Sequence
from typing import Any

from locust_agents import figures
from locust_agents.pages import chart, ttft, ttft_words
from locust_agents.pages import spans as html_spans
from locust_agents.pages.chart import BAD, Chart, Plot
from locust_agents.pages.run import Told, name_of
from locust_agents.pages.ttft import Waited

# More points than this are a cloud in which nothing is seen, and slow on a phone.
_MOST_POINTS, _MOST_SPANS = 2_000, 120
_HOVER = {
    "agent": "name",
    "kind": "kind",
    "at": "x:at",
    "TTFT": "y:s",
    "prompt": "prompt:n",
    "reused": "cached:n",
    "outcome": "outcome",
}


def over_time(told: Told) -> Chart | None:
    """A point for each turn; of many turns the worst of each span, with the spans' median and p95 as lines."""
    if not told.waits:
        return None
    is_log = chart.is_wide([wait.value for _, wait in told.waits])
    made = chart.plot("start of the turn, seconds since the load began", "TTFT, seconds", **ttft.log_axis("y", is_log))
    if is_log:
        chart.as_numbers(made.yaxis[0])
    is_many = len(told.waits) > _MOST_POINTS
    span_s = html_spans.length_s(told.seconds, _MOST_SPANS) if is_many else None
    drawn = [point for entry in told.entries for point in _entry(made, told, entry, span_s)]
    made.add_tools(chart.hover(drawn, _HOVER, {}))
    _mark(made, told)
    caption = ttft_words.caption(told, span_s)
    return Chart(made, ttft_words.words(told), ttft_words.keys(told, is_many), caption)


def _entry(made: Plot, told: Told, entry: str, span_s: float | None) -> list[Any]:
    mine = [(record, wait) for record, wait in told.waits if record.entry == entry]
    colour, marker = told.colours[entry]
    if span_s is not None:
        spans = html_spans.grouped(mine, lambda one: told.at(one[0].wall_time), span_s)
        _lines(made, spans.items(), span_s, colour)
        worst = {id(max(span, key=ttft.size)[0]) for span in spans.values()}
        mine = [(record, wait) for record, wait in mine if wait.is_more or id(record) in worst]
    ended = [one for one in mine if not one[1].is_more]
    still = [one for one in mine if one[1].is_more]
    style = {"color": colour, "size": 7}
    return [
        *([made.scatter(source=_points(told, ended), marker=marker, alpha=0.75, **style)] if ended else []),
        *([made.scatter(source=_points(told, still), marker="triangle", **ttft.open_marker(colour))] if still else []),
    ]


def _lines(made: Plot, spans: Iterable[tuple[int, list[Waited]]], span_s: float, colour: str) -> None:
    waits = [((number + 0.5) * span_s, [wait for _, wait in span]) for number, span in spans]
    for stat, dash in (("p50", "solid"), ("p95", "dashed")):
        known = [(at, figures.statistic(some, stat)) for at, some in waits if figures.is_enough(len(some), stat)]
        values = [(at, ttft.drawable(wait)) for at, wait in known if wait is not None]
        if values:
            x, y = zip(*values, strict=True)
            made.line(x, y, color=colour, line_width=2, line_dash=dash)


def _points(told: Told, waited: Sequence[Waited]) -> Any:
    from bokeh.models import ColumnDataSource

    records = [record for record, _ in waited]
    return ColumnDataSource(
        {
            "x": [round(told.at(record.wall_time), 3) for record in records],
            "y": [round(ttft.drawable(wait), 4) for _, wait in waited],
            "name": [chart.plain(name_of(record)) for record in records],
            "kind": [chart.plain(str(record.kind)) for record in records],
            "outcome": [str(record.outcome) for record in records],
            "prompt": [record.prompt_tokens for record in records],
            "cached": [record.cached_tokens for record in records],
        }
    )


def _mark(made: Plot, told: Told) -> None:
    """The warm-up, the end of the load, limits, and times without a server."""
    from bokeh.models.annotations import BoxAnnotation

    window = told.summary.window
    if window is not None and window.from_s > 0:
        made.add_layout(BoxAnnotation(right=window.from_s, fill_color="#7f7f7f", fill_alpha=0.15))
    if window is not None and window.until_s < told.seconds:
        made.add_layout(BoxAnnotation(left=window.until_s, fill_color="#7f7f7f", fill_alpha=0.15))
    for gap in told.run.summary.get("gaps") or ():
        left, lasted = float(gap.get("began_s") or 0), float(gap.get("seconds") or 0)
        made.add_layout(BoxAnnotation(left=left, right=left + lasted, fill_color=BAD, fill_alpha=0.2))
    for bound in ttft_words.limits(told):
        made.line([0, told.seconds], [bound, bound], color=BAD, line_dash="dashed")
