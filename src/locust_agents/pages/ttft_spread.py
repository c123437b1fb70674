"""The chart of how many turns had their first token within what time."""

from collections.abc import Sequence
from typing import Any

from locust_agents import figures
from locust_agents.figures import Wait
from locust_agents.pages import chart, spans, ttft
from locust_agents.pages.chart import Chart, Plot
from locust_agents.pages.run import Told
from locust_agents.quantities import seconds

# More steps and marks than these are not told from one another, and make the page slow.
_MOST_STEPS, _TAIL = 600, 200
_MOST_OPEN, _OPEN_TAIL = 120, 60
_XY = {"x": "x", "y": "y"}
_LOST = (
    "One that ended before it never does: a triangle stands where it was given up, and the line stays below 100 %."
    f" Of more than {_MOST_OPEN} triangles about as many are drawn, the {_OPEN_TAIL} longest all."
)
_FEWER_STEPS = f"About {_MOST_STEPS} steps of each entry are drawn, the {_TAIL} longest all."


def distribution(told: Told) -> Chart | None:
    """For each entry the share of its turns that had their first token after so many seconds."""
    if not told.measured:
        return None
    is_log = chart.is_wide([wait.value for _, wait in told.measured])
    made = chart.plot("TTFT, seconds", "turns with a first token, %", **ttft.log_axis("x", is_log))
    made.y_range.start, made.y_range.end = 0, 104
    if is_log:
        chart.as_numbers(made.xaxis[0])
    drawn = [line for entry in told.entries for line in _curve(made, told, entry)]
    made.add_tools(chart.hover(drawn, {"entry": "entry", "TTFT": "x:s", "turns": "share:%"}, {}))
    return Chart(made, _spread(told), [*ttft.entry_keys(told, "line"), *ttft.open_key(told)], _how_to_read(told))


def _curve(made: Plot, told: Told, entry: str) -> list[Any]:
    waits = sorted((wait for record, wait in told.measured if record.entry == entry), key=lambda one: one.value)
    colour, _ = told.colours[entry]
    if not waits:
        return []
    ended, censored = curve(waits)
    kept = [ended[place] for place in spans.kept_places(len(ended), _MOST_STEPS, _TAIL)]
    last = kept[-1][1] if kept else 0.0
    # from nothing, and on to the longest wait, so that what never came is seen
    steps = [(kept[0][0] if kept else ttft.SMALLEST_S, 0.0), *kept, (ttft.drawable(waits[-1]), last)]
    drawn: list[Any] = [made.step(source=_steps(steps, entry), mode="after", color=colour, line_width=2, **_XY)]
    if censored:
        still = [censored[place] for place in spans.kept_places(len(censored), _MOST_OPEN, _OPEN_TAIL)]
        drawn.append(made.scatter(source=_steps(still, entry), marker="triangle", **ttft.open_marker(colour)))
    return drawn


def curve(waits: Sequence[Wait]) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Of sorted waits: (seconds, share with a first token by then), of those that ended and of those that did not."""
    ended: list[tuple[float, float]] = []
    censored: list[tuple[float, float]] = []
    for wait in waits:
        share = (len(ended) + (not wait.is_more)) / len(waits)
        (censored if wait.is_more else ended).append((ttft.drawable(wait), share))
    return ended, censored


def _steps(steps: Sequence[tuple[float, float]], entry: str) -> Any:
    from bokeh.models import ColumnDataSource

    x, shares = zip(*steps, strict=True)
    rows = {"x": [round(one, 4) for one in x], "y": [round(100 * one, 3) for one in shares]}
    return ColumnDataSource({**rows, "share": list(shares), "entry": [chart.plain(entry)] * len(x)})


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


def _spread(told: Told) -> str:
    parts = []
    for entry in told.entries:
        waits = [wait for record, wait in told.measured if record.entry == entry]
        if waits:
            middle, worst = (seconds(figures.statistic(waits, stat)) for stat in ("p50", "max"))
            parts.append(f"{entry}: half within {middle}, the longest {worst}")
    return "; ".join(parts) + "."
