"""What the bars of the chart of all turns are of, and what is said of a turn under the pointer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from locust_agents.pages import lanes
from locust_agents.pages.lanes import Lines, Phases
from locust_agents.pages.run import Told
from locust_agents.records import TurnRecord

QUIET = "#9aa0a6"
BARS: Mapping[str, tuple[Callable[[Phases], tuple[float, float]], str]] = {  # from where to where, and the colour
    "open": (lambda one: (0.0, one.end), QUIET),
    "queue": (lambda one: (0.0, one.taken), "#e69f00"),
    "prefill": (lambda one: (one.taken, one.read), "#0072b2"),
    "decode": (lambda one: (one.read, one.silent), "#009e73"),
    "silence": (lambda one: (one.silent, one.last), "#cc79a7"),
}
HOVER = {
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


def source(told: Told, records: Sequence[TurnRecord], lines: Lines) -> tuple[Any, Mapping[str, Sequence[str]]]:
    """The data of the chart, numbers in binary, texts as places in lists of names; and those lists."""
    import numpy as np
    from bokeh.models import ColumnDataSource

    found = [lanes.phases(record) for record in records]
    start = np.array([told.at(record.wall_time) for record in records])
    data: dict[str, Any] = {"line": np.array(lines.of, np.int32), "t0": start.astype(np.float32)}
    for bar, (span, _) in BARS.items():
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
