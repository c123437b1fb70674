"""How the reader of the chart of all turns gets about: the longest waits, each with its window, and buttons."""

from collections.abc import Sequence

from markupsafe import Markup

from locust_agents.figures import Wait
from locust_agents.pages.lanes import Lines
from locust_agents.pages.run import Told, name_of
from locust_agents.pages.table import button, table
from locust_agents.quantities import UNKNOWN, count, seconds
from locust_agents.records import TurnRecord

NAME = "waterfall"
"""What its buttons call the chart."""

MOST_LINES = 20
"""What is seen of the chart at once."""

_FEW_TURNS = 150
# A turn is drawn with this many times its length around it, and with so many turns of the middling length.
_AROUND, _TURNS_WIDE = 3.0, 40

Window = tuple[float, float, float, float]
"""Seconds from and to, lines from and to."""


def window(told: Told, record: TurnRecord, lines: Lines, line: int) -> Window:
    """What is shown of the run for a turn; all of it where that is readable."""
    whole = max(told.seconds, 0.001)
    if len(told.run.records) <= _FEW_TURNS:
        wide = whole
    else:
        lengths = sorted(one.end_s for one in told.run.records)
        wide = min(whole, max(_AROUND * record.end_s, _TURNS_WIDE * lengths[len(lengths) // 2] / 4))
    start = told.at(record.wall_time) + record.end_s / 2 - wide / 2
    start = max(-0.02 * wide, min(start, whole - wide))
    high = min(len(lines.agents), MOST_LINES)
    top = max(0, min(line - high // 2, len(lines.agents) - high))
    return start, start + wide * 1.02, top - 0.5, top + high - 0.5


def longest(told: Told, worst: Sequence[tuple[TurnRecord, Wait]], views: Sequence[Window]) -> Markup:
    """A table of these turns, each with a button that shows its view."""
    rows = [
        (
            name_of(record),
            _show(view),
            seconds(wait),
            seconds(None if record.queue_s is None else Wait(record.queue_s)),
            count(record.prompt_tokens),
            _reused(record),
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


def buttons(told: Told, lines: Lines) -> Markup:
    """Ways to move, and to groups of agents."""
    whole = max(told.seconds, 0.001)
    high = min(len(lines.agents), MOST_LINES)
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


def _reused(record: TurnRecord) -> str:
    """As the table counts it: what the server found beyond the expected is the chat template's own words."""
    cached, expected = record.cached_tokens, record.expected_tokens
    return UNKNOWN if cached is None or expected is None else f"{min(cached, expected):,} of {expected:,}"
