"""Which share of its sessions an agent spent waiting for a first token."""

import json
from typing import Any

import pytest

from locust_agents import records
from locust_agents.capacity import waiting
from locust_agents.capacity.waiting import Waiting
from locust_agents.records import TurnRecord


def turn(start_s: float, wait_s: float | None, end_s: float, **values: Any) -> TurnRecord:
    """Sent at once, at `start_s`; times after that count from there."""
    base = {"outcome": "ok", "agent": "a", "run": "r", "session": "s", "kind": "later", "sent_s": 0.0}
    line = {**base, "wall_time": start_s, "first_token_s": wait_s, "end_s": end_s, **values}
    return records.from_line(json.dumps(line))


SHARES: list[tuple[str, list[TurnRecord], dict[str, float]]] = [
    ("nobody", [], {}),
    ("pauses between turns are a part of the session", [turn(0, 1.0, 2.0), turn(8, 1.0, 2.0)], {"a": 0.2}),
    ("the time between two sessions is not", [turn(0, 1.0, 2.0), turn(8, 1.0, 2.0, session="t")], {"a": 0.5}),
    ("connecting is no wait for the server", [turn(0, 2.0, 4.0, sent_s=1.0)], {"a": 0.25}),
    ("without a token, until it ended", [turn(0, None, 4.0, outcome="stalled")], {"a": 1.0}),
    ("never sent: no wait", [turn(0, None, 4.0, sent_s=None, outcome="refused")], {"a": 0.0}),
    (
        "sub-agents beside each other wait once",
        [turn(0, 8.0, 10.0), turn(0, 8.0, 10.0, session="s/1", kind="sub")],
        {"a": 0.8},
    ),
    ("two runs are added", [turn(0, 1.0, 4.0), turn(0, 3.0, 4.0, run="q")], {"a": 0.5}),
    ("each for itself", [turn(0, 1.0, 4.0), turn(0, 3.0, 4.0, agent="b")], {"a": 0.25, "b": 0.75}),
    ("a canary is nobody's wait", [turn(0, 1.0, 4.0), turn(4, 4.0, 4.0, kind="canary")], {"a": 0.25}),
]


@pytest.mark.parametrize(("of", "shares"), [pytest.param(*row[1:], id=row[0]) for row in SHARES])
def test_shares(of: list[TurnRecord], shares: dict[str, float]) -> None:
    assert waiting.shares(of) == shares


def test_the_worst_stands_beside_the_median() -> None:
    assert waiting.waiting({"a": 0.2, "b": 0.9, "c": 0.4}) == Waiting(0.4, 0.9, "b")
    assert waiting.waiting({}) is None
