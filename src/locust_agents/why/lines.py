"""How the causes of the worst waits close the table: the last lines, in 80 columns."""

import re
import textwrap
from collections.abc import Sequence

from locust_agents.quantities import WIDTH, seconds
from locust_agents.why.reasons import Cause

_LABEL = 7
_METRICS = {"ttft": "worst", "stall": "stall", "connect": "connect"}
# Shorter gaps and waits for a connection stand in summary.json: nobody who reads the table waited for them.
_LEAST_S = {"ttft": 0.0, "stall": 1.0, "connect": 0.5}


def lines(causes: Sequence[Cause]) -> list[str]:
    """A sentence for each cause that somebody waited for."""
    shown = [cause for cause in causes if cause.value.value >= _LEAST_S[cause.metric]]
    return [
        f"{'why' if number == 0 else '':{_LABEL}}{line}"
        for number, line in enumerate(line for cause in shown for line in _wrapped(said(cause)))
    ]


def said(cause: Cause) -> str:
    """In one line: "fixers worst 2.70 s (agent 2, turn 9): 2.66 s before headers, while …"."""
    number = cause.agent.rpartition("/")[2].removeprefix("0.")
    again = f", attempt {cause.attempt}" if (cause.attempt or 1) > 1 else ""
    who = f"{cause.entry} {_METRICS[cause.metric]} {seconds(cause.value)} (agent {number}, turn {cause.turn}{again})"
    return f"{who}: {cause.sentence}"


def _wrapped(text: str) -> list[str]:
    """No line begins with a unit."""
    kept = re.sub(r"(?<=\d) (?=s\b|tokens\b)", "\u00a0", text)
    return [line.replace("\u00a0", " ") for line in textwrap.wrap(kept, WIDTH - _LABEL)]
