"""The charts of a search for capacity: what a limit saw over the value, with interval and bound, and who waited."""

from collections.abc import Iterator, Sequence
from typing import Any

from locust_agents.capacity import curve as capacity_curve
from locust_agents.capacity import waiting
from locust_agents.capacity import words as capacity_words
from locust_agents.capacity.judging import LEVEL, Figure
from locust_agents.capacity.search import Verdict
from locust_agents.capacity.steps import Series, Step
from locust_agents.limit_units import in_unit
from locust_agents.limits import METRICS, Limit
from locust_agents.pages import chart
from locust_agents.pages.chart import BAD, PALETTE, Chart, Key, Plot
from locust_agents.quantities import share

Point = tuple[int, float, Figure, Step]
"""A value, and the figure in the unit of its axis."""

LOOKS = {
    "kept": (PALETTE[2], "circle"),
    "broken": (BAD, "square"),
    "noisy": (PALETTE[4], "diamond"),
    "few": (PALETTE[3], "hex"),
}
"""Colour and marker of what a step says of a limit."""

_WORDS = {"noisy": "too noisy to call", "few": "too few turns to call"}
_HOVER = {"of": "of", "figure": "figure", "between": "between", "turns": "turns:n", "limit": "word", "step": "verdict"}
_SMALLEST = 0.001
# More values than this are not each given a tick.
_MOST_TICKS = 12


def curve(series: Series, limit: Limit) -> Chart | None:
    """The entry that did worst at each value, its interval, and the bound; None where no step says anything."""
    points = sorted(_points(series, limit), key=lambda point: point[0])
    if not points:
        return None
    of = capacity_words.title(limit)
    unit, bound = _axis(limit), limit.bound * _times(limit)
    is_log = chart.is_wide([*(point[1] for point in points), bound])
    made = _over_values(series, f"{of}, {unit}", {"y_axis_type": "log"} if is_log else {})
    if is_log:
        chart.as_numbers(made.yaxis[0])
    else:
        made.y_range.start = 0
    _draw(made, series, points, bound)
    return Chart(made, _words(series, points, limit), _keys(points), _caption(points))


def waits(series: Series) -> Chart | None:
    """The share of its session that the median agent waited, and the worst one; None where nobody had one."""
    found = {step.value: waiting.waiting(waiting.shares(step.records)) for step in series.steps}
    known = sorted((value, one) for value, one in found.items() if one is not None)
    if not known:
        return None
    made = _over_values(series, "waiting, % of the session", {})
    made.y_range.start, made.y_range.end = 0, 104
    names = {"worst agent": (BAD, "square"), "median agent": (PALETTE[0], "circle")}
    both = {"worst agent": [one.worst for _, one in known], "median agent": [one.median for _, one in known]}
    drawn = [
        _line(made, [value for value, _ in known], both[name], name, *look, [one.agent for _, one in known])
        for name, look in names.items()
    ]
    tips = {series.question.noun: "x:n", "whose": "name", "waiting": "share:%", "the worst is": "agent"}
    made.add_tools(chart.hover(drawn, tips, {}))
    keys = [Key(name, colour, "line") for name, (colour, _) in names.items()]
    value, most = known[-1]
    at = capacity_words.named(series.question, value)
    words = f"At {at} the median agent waits {share(most.median)} of its session, {most.agent} {share(most.worst)}."
    return Chart(made, words, keys)


def _points(series: Series, limit: Limit) -> Iterator[Point]:
    for step in series.steps:
        figure = capacity_curve.worst(step, limit)
        if figure is not None and figure.value is not None:
            yield step.value, max(figure.value.value * _times(limit), _SMALLEST), figure, step


def _over_values(series: Series, label: str, options: dict[str, Any]) -> Plot:
    """An axis of the values that were tried, with a tick for each where these are few."""
    from bokeh.models import FixedTicker

    values = sorted(step.value for step in series.steps)
    if chart.is_wide(values):
        options = {**options, "x_axis_type": "log"}
    made = chart.plot(series.question.noun, label, **options)
    if len(values) <= _MOST_TICKS:
        made.xaxis[0].ticker = FixedTicker(ticks=values)
    return made


def _draw(made: Plot, series: Series, points: Sequence[Point], bound: float) -> None:
    x, y = [point[0] for point in points], [point[1] for point in points]
    made.line(x, y, color="#7f7f7f", line_width=1)
    for value, _, figure, _ in points:
        if figure.low is not None and figure.high is not None:
            low, high = (max(end * _times(figure.limit), _SMALLEST) for end in (figure.low, figure.high))
            made.segment(value, low, value, high, color=LOOKS[figure.word][0], line_width=3, line_cap="round")
    drawn = [_scatter(made, points, word) for word in LOOKS if any(point[2].word == word for point in points)]
    edge = [min(x), max(x)] if len(x) > 1 else [x[0] - 0.5, x[0] + 0.5]
    made.line(edge, [max(bound, _SMALLEST)] * 2, color=BAD, line_dash="dashed", line_width=2)
    made.add_tools(chart.hover(drawn, {series.question.noun: "x:n", **_HOVER}, {}))


def _scatter(made: Plot, points: Sequence[Point], word: str) -> Any:
    """A wait that had not ended is a hollow mark."""
    from bokeh.models import ColumnDataSource

    mine = [point for point in points if point[2].word == word]
    colour, marker = LOOKS[word]
    rows = [
        {
            "x": value,
            "y": round(y, 5),
            "of": chart.plain(figure.entry),
            "figure": in_unit(figure.value, figure.limit),
            "between": capacity_words.interval(figure),
            "turns": figure.turns,
            "word": _WORDS.get(word, word),
            "verdict": str(step.verdict),
            "alpha": 0.0 if figure.value is not None and figure.value.is_more else 1.0,
        }
        for value, y, figure, step in mine
    ]
    source = ColumnDataSource({name: [row[name] for row in rows] for name in rows[0]})
    style = {"line_color": colour, "fill_color": colour, "fill_alpha": "alpha", "size": 11, "line_width": 2}
    return made.scatter("x", "y", source=source, marker=marker, **style)


def _line(
    made: Plot, values: Sequence[int], shares: Sequence[float], name: str, colour: str, marker: str, of: Sequence[str]
) -> Any:
    from bokeh.models import ColumnDataSource

    plain = list(map(chart.plain, of))
    rows = {"x": list(values), "y": [100 * one for one in shares], "share": list(shares)}
    source = ColumnDataSource({**rows, "name": [name] * len(plain), "agent": plain})
    made.line("x", "y", source=source, color=colour, line_width=2)
    return made.scatter("x", "y", source=source, color=colour, marker=marker, size=9)


def _keys(points: Sequence[Point]) -> list[Key]:
    words = {point[2].word for point in points}
    return [
        *(Key(_WORDS.get(word, word), colour) for word, (colour, _) in LOOKS.items() if word in words),
        Key(f"{LEVEL * 100:.0f} % interval", "var(--faint)", "line"),
        Key("limit", BAD, "dashed"),
    ]


def _caption(points: Sequence[Point]) -> str:
    is_open = any(figure.value is not None and figure.value.is_more for _, _, figure, _ in points)
    hollow = " A hollow mark is a wait that had not ended: more than this." if is_open else ""
    return f"Of several entries the one that did worst.{hollow}" if _has_several(points) or is_open else ""


def _has_several(points: Sequence[Point]) -> bool:
    return any(len({one.entry for one in step.call.figures}) > 1 for _, _, _, step in points)


def _words(series: Series, points: Sequence[Point], limit: Limit) -> str:
    told = [f"{in_unit(figure.value, limit)} at {value}" for value, _, figure, _ in points]
    kept = sum(step.verdict is Verdict.KEEPS for step in series.steps)
    what = f"{capacity_words.title(limit)} by {series.question.noun}, limit {limit.text}"
    return f"{what}: {', '.join(told)}. {kept} of {len(series.steps)} steps kept all limits."


def _axis(limit: Limit) -> str:
    unit = METRICS[limit.metric].unit
    return {"share": "%", "s": "seconds", "tok/s": "tokens/s"}[unit]


def _times(limit: Limit) -> float:
    return 100.0 if METRICS[limit.metric].unit == "share" else 1.0
