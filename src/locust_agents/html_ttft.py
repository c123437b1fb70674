"""The two charts of the wait for the first token: when it was long, and for how many turns it was."""

from collections.abc import Iterable, Sequence
from typing import Any

from locust_agents import figures, html_chart, html_spans
from locust_agents.figures import Wait
from locust_agents.html_chart import BAD, Chart, Key, Plot
from locust_agents.html_run import Told, name_of
from locust_agents.quantities import seconds
from locust_agents.records import TurnRecord

Waited = tuple[TurnRecord, Wait]

# More points than this are a cloud in which nothing is seen, and slow on a phone.
_MOST_POINTS, _MOST_SPANS = 2_000, 120
_MOST_STEPS, _TAIL = 600, 200
_MOST_OPEN, _OPEN_TAIL = 120, 60
_NEAR = 5
_SMALLEST_S = 0.0005
_XY = {"x": "x", "y": "y"}
_LOST = (
    "One that ended before it never does: a triangle stands where it was given up, and the line stays below 100 %."
    f" Of more than {_MOST_OPEN} triangles about as many are drawn, the {_OPEN_TAIL} longest all."
)
_FEWER_STEPS = f"About {_MOST_STEPS} steps of each entry are drawn, the {_TAIL} longest all."
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
    is_log = html_chart.is_wide([wait.value for _, wait in told.waits])
    made = html_chart.plot(*_labels("start of the turn, seconds since the load began", "TTFT"), **_axis("y", is_log))
    if is_log:
        html_chart.as_numbers(made.yaxis[0])
    is_many = len(told.waits) > _MOST_POINTS
    span_s = html_spans.length_s(told.seconds, _MOST_SPANS)
    drawn = [point for entry in told.entries for point in _entry(made, told, entry, span_s if is_many else None)]
    made.add_tools(html_chart.hover(drawn, _HOVER, {}))
    _mark(made, told)
    return Chart(made, _words(told), _keys(told, is_many), _caption(told, span_s if is_many else None))


def distribution(told: Told) -> Chart | None:
    """For each entry the share of its turns that had their first token after so many seconds."""
    if not told.measured:
        return None
    is_log = html_chart.is_wide([wait.value for _, wait in told.measured])
    made = html_chart.plot(*_labels("TTFT, seconds", "turns with a first token, %"), **_axis("x", is_log))
    made.y_range.start, made.y_range.end = 0, 104
    if is_log:
        html_chart.as_numbers(made.xaxis[0])
    drawn = [line for entry in told.entries for line in _curve(made, told, entry)]
    made.add_tools(html_chart.hover(drawn, {"entry": "entry", "TTFT": "x:s", "turns": "share:%"}, {}))
    return Chart(made, _spread(told), [*_entry_keys(told, "line"), *_open_key(told)], _how_to_read(told))


def _how_to_read(told: Told) -> str:
    longest = max(sum(record.entry == entry for record, _ in told.measured) for entry in told.entries)
    lost = any(wait.is_more for _, wait in told.measured)
    return " ".join(
        [
            "A turn lifts the line when its first token comes.",
            *([_LOST] if lost else []),
            *([_FEWER_STEPS] if longest > _MOST_STEPS else []),
        ]
    )


def _labels(x: str, y: str) -> tuple[str, str]:
    return x, f"{y}, seconds" if y == "TTFT" else y


def _axis(axis: str, is_log: bool) -> dict[str, Any]:
    return {f"{axis}_axis_type": "log"} if is_log else {}


def _entry(made: Plot, told: Told, entry: str, span_s: float | None) -> list[Any]:
    mine = [(record, wait) for record, wait in told.waits if record.entry == entry]
    colour, marker = told.colours[entry]
    if span_s is not None:
        spans = html_spans.grouped(mine, lambda one: told.at(one[0].wall_time), span_s)
        _lines(made, spans.items(), span_s, colour)
        worst = {id(max(span, key=_size)[0]) for span in spans.values()}
        mine = [(record, wait) for record, wait in mine if wait.is_more or id(record) in worst]
    ended = [one for one in mine if not one[1].is_more]
    still = [one for one in mine if one[1].is_more]
    style = {"color": colour, "size": 7}
    return [
        *([made.scatter(source=_points(told, ended), marker=marker, alpha=0.75, **style)] if ended else []),
        *([made.scatter(source=_points(told, still), marker="triangle", **_open(colour))] if still else []),
    ]


def _open(colour: str) -> dict[str, Any]:
    return {"fill_color": None, "line_color": colour, "line_width": 2, "size": 11}


def _lines(made: Plot, spans: Iterable[tuple[int, list[Waited]]], span_s: float, colour: str) -> None:
    waits = [((number + 0.5) * span_s, [wait for _, wait in span]) for number, span in spans]
    for stat, dash in (("p50", "solid"), ("p95", "dashed")):
        known = [(at, figures.statistic(some, stat)) for at, some in waits if figures.is_enough(len(some), stat)]
        values = [(at, _drawable(wait)) for at, wait in known if wait is not None]
        if values:
            x, y = zip(*values, strict=True)
            made.line(x, y, color=colour, line_width=2, line_dash=dash)


def _points(told: Told, waited: Sequence[Waited]) -> Any:
    from bokeh.models import ColumnDataSource

    records = [record for record, _ in waited]
    return ColumnDataSource(
        {
            "x": [round(told.at(record.wall_time), 3) for record in records],
            "y": [round(_drawable(wait), 4) for _, wait in waited],
            "name": [html_chart.plain(name_of(record)) for record in records],
            "kind": [html_chart.plain(str(record.kind)) for record in records],
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
    for bound in _limits(told):
        made.line([0, told.seconds], [bound, bound], color=BAD, line_dash="dashed")


def _limits(told: Told) -> list[float]:
    """Those near enough to the waits that these are still seen beside them."""
    bounds = {one.limit.bound for one in told.summary.judgements if one.limit.metric == "ttft"}
    longest = max(_drawable(wait) for _, wait in told.waits)
    return sorted(bound for bound in bounds if 0 < bound <= _NEAR * longest)


def _curve(made: Plot, told: Told, entry: str) -> list[Any]:
    waits = sorted((wait for record, wait in told.measured if record.entry == entry), key=lambda one: one.value)
    colour, _ = told.colours[entry]
    if not waits:
        return []
    ended, censored = curve(waits)
    kept = [ended[place] for place in html_spans.kept_places(len(ended), _MOST_STEPS, _TAIL)]
    last = kept[-1][1] if kept else 0.0
    # from nothing, and on to the longest wait, so that what never came is seen
    steps = [(kept[0][0] if kept else _SMALLEST_S, 0.0), *kept, (_drawable(waits[-1]), last)]
    drawn: list[Any] = [made.step(source=_steps(steps, entry), mode="after", color=colour, line_width=2, **_XY)]
    if censored:
        still = [censored[place] for place in html_spans.kept_places(len(censored), _MOST_OPEN, _OPEN_TAIL)]
        drawn.append(made.scatter(source=_steps(still, entry), marker="triangle", **_open(colour)))
    return drawn


def curve(waits: Sequence[Wait]) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Of sorted waits: (seconds, share with a first token by then), of those that ended and of those that did not."""
    ended: list[tuple[float, float]] = []
    censored: list[tuple[float, float]] = []
    for wait in waits:
        share = (len(ended) + (not wait.is_more)) / len(waits)
        (censored if wait.is_more else ended).append((_drawable(wait), share))
    return ended, censored


def _steps(steps: Sequence[tuple[float, float]], entry: str) -> Any:
    from bokeh.models import ColumnDataSource

    x, shares = zip(*steps, strict=True)
    rows = {"x": [round(one, 4) for one in x], "y": [round(100 * one, 3) for one in shares]}
    return ColumnDataSource({**rows, "share": list(shares), "entry": [html_chart.plain(entry)] * len(x)})


def _keys(told: Told, is_many: bool) -> list[Key]:
    lines = [Key("median", "var(--faint)", "line"), Key("p95", "var(--faint)", "dashed")] if is_many else []
    return [
        *_entry_keys(told, "square"),
        *lines,
        *_open_key(told),
        *([Key("limit", BAD, "dashed")] if _limits(told) else []),
    ]


def _open_key(told: Told) -> list[Key]:
    is_there = any(wait.is_more for _, wait in told.waits)
    return [Key("ended before its first token: more than this", "var(--faint)", "open")] if is_there else []


def _entry_keys(told: Told, shape: str) -> list[Key]:
    return [Key(entry, told.colours[entry][0], shape) for entry in told.entries]


def _words(told: Told) -> str:
    record, wait = max(told.waits, key=_size)
    still = sum(wait.is_more for _, wait in told.waits)
    lost = f" {still} ended before their first token came." if still else ""
    at = told.at(record.wall_time)
    return f"{len(told.waits):,} turns. The longest wait was {seconds(wait)}: {name_of(record)}, {at:.0f} s in.{lost}"


def _caption(told: Told, span_s: float | None) -> str:
    window = told.summary.window
    shaded = window is not None and (window.from_s > 0 or window.until_s < told.seconds)
    return " ".join(
        [
            *([] if span_s is None else [_thinned(span_s)]),
            *(["Shaded grey: the warm-up, which no figure counts, and the time in which no turn started."] * shaded),
            *(["Shaded red: no server."] if told.run.summary.get("gaps") else []),
        ]
    )


def _thinned(span_s: float) -> str:
    return (
        f"Too many turns for a point each: lines are of every {span_s:g} s (p95 where that has 20 turns), points are"
        " each entry's longest wait in it, and every turn that ended before its first token."
    )


def _spread(told: Told) -> str:
    parts = []
    for entry in told.entries:
        waits = [wait for record, wait in told.measured if record.entry == entry]
        if waits:
            middle, worst = (seconds(figures.statistic(waits, stat)) for stat in ("p50", "max"))
            parts.append(f"{entry}: half within {middle}, the longest {worst}")
    return "; ".join(parts) + "."


def _size(waited: Waited) -> tuple[float, bool]:
    return waited[1].value, waited[1].is_more


def _drawable(wait: Wait) -> float:
    """A logarithmic axis has no nothing."""
    return max(wait.value, _SMALLEST_S)
