"""What is said beside the chart of all turns."""

from collections.abc import Sequence

from locust_agents.pages.chart import BAD, Key
from locust_agents.pages.lanes import Lines
from locust_agents.pages.run import Told
from locust_agents.pages.waterfall_data import BARS, QUIET
from locust_agents.pages.waterfall_ways import Window
from locust_agents.records import TurnRecord

_CALLED = {"open": "open, and nothing came any more", "silence": "tool call written in silence"}
CAPTION = (
    "Every turn is here: move with the buttons, drag, or zoom. The start of a prefill is reckoned from its measured"
    " speed; where that is not known it is drawn from the answer's headers on. A silence before a tool call is drawn at"
    " the answer's end."
)
WHERE = "Drag the shaded part, or its edges, to move the chart above."


def keys(records: Sequence[TurnRecord]) -> list[Key]:
    """What colours and marks mean."""
    return [
        *(Key(_CALLED.get(bar, bar), colour) for bar, (_, colour) in sorted(BARS.items(), key=_is_rest)),
        *([Key("failed", BAD, "cross")] if any(record.is_failure for record in records) else []),
        *([Key("ended by the run or on purpose: ◇", QUIET)] if any(map(_is_apart, records)) else []),
    ]


def _is_rest(bar: tuple[str, object]) -> bool:
    return bar[0] == "open"


def _is_apart(record: TurnRecord) -> bool:
    return str(record.outcome) != "ok" and not record.is_failure


def words(told: Told, lines: Lines, first: Window) -> str:
    """How much there is, and what of it is shown."""
    turns, agents = len(told.run.records), len(set(lines.agents))
    start, end = max(0.0, first[0]), min(told.seconds, first[1])
    return (
        f"{turns:,} turns of {agents:,} agents; shown are {start:.0f} to {end:.0f} s of {told.seconds:.0f} s,"
        " around the longest wait."
    )
