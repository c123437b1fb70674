"""What is said beside the chart of when the wait for the first token was long."""

from locust_agents.pages import ttft
from locust_agents.pages.chart import BAD, Key
from locust_agents.pages.run import Told, name_of
from locust_agents.quantities import seconds

# Limits of more than this many times the longest wait would press all points to the ground.
_NEAR = 5


def limits(told: Told) -> list[float]:
    """Those near enough to the waits that these are still seen beside them."""
    bounds = {one.limit.bound for one in told.summary.judgements if one.limit.metric == "ttft"}
    longest = max(ttft.drawable(wait) for _, wait in told.waits)
    return sorted(bound for bound in bounds if 0 < bound <= _NEAR * longest)


def keys(told: Told, is_many: bool) -> list[Key]:
    """What its marks mean; `is_many`: lines stand for most of the turns."""
    lines = [Key("median", "var(--faint)", "line"), Key("p95", "var(--faint)", "dashed")] if is_many else []
    return [
        *ttft.entry_keys(told, "square"),
        *lines,
        *ttft.open_key(told),
        *([Key("limit", BAD, "dashed")] if limits(told) else []),
    ]


def words(told: Told) -> str:
    """The chart in a sentence or two."""
    record, wait = max(told.waits, key=ttft.size)
    still = sum(wait.is_more for _, wait in told.waits)
    lost = f" {still} ended before the first token came." if still else ""
    at = told.at(record.wall_time)
    return f"{len(told.waits):,} turns. The longest wait was {seconds(wait)}: {name_of(record)}, {at:.0f} s in.{lost}"


def caption(told: Told, span_s: float | None) -> str:
    """What must be known to read it; `span_s`: how long a span is, where not every turn is drawn."""
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
