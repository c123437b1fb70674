"""What a turn's time is divided into, and on which line it stands."""

import json
from typing import Any

import pytest

from locust_agents import records
from locust_agents.pages import lanes
from locust_agents.pages.lanes import Phases
from locust_agents.records import TurnRecord

WHOLE: dict[str, Any] = {
    "sent_s": 0.1, "headers_s": 1.0, "first_progress_s": 2.5, "prefill_end_s": 4.0, "first_token_s": 4.5,
    "last_token_s": 8.0, "end_s": 8.2, "prefill_tokens_s": 1000.0, "computed_tokens": 2000, "tool_silence_s": 1.5,
}  # fmt: skip


def turn(**values: Any) -> TurnRecord:
    base = {"outcome": "ok", "entry": "e", "agent": "e/0.0", "session": "s", "turn": 1, "wall_time": 0.0, "end_s": 1.0}
    return records.from_line(json.dumps({**base, **values}))


@pytest.mark.parametrize(
    ("values", "expected", "remark"),
    [
        ({}, Phases(2.0, 4.0, 6.5, 8.0, 8.2), "2,000 tokens at 1,000 a second began 2 s before the prefill's end"),
        ({"prefill_is_bound": True}, Phases(1.0, 4.0, 6.5, 8.0, 8.2), "a bound is no speed: from the headers on"),
        ({"prefill_tokens_s": 10.0}, Phases(1.0, 4.0, 6.5, 8.0, 8.2), "never before the headers"),
        ({"prefill_tokens_s": 1e9}, Phases(2.5, 4.0, 6.5, 8.0, 8.2), "never after its first step"),
        (
            {"prefill_end_s": None},
            Phases(1.0, 4.5, 6.5, 8.0, 8.2),
            "no comments: the prefill ends with the first token",
        ),
        ({"tool_silence_s": 9.0}, Phases(2.0, 4.0, 4.0, 8.0, 8.2), "a silence is no longer than the answer"),
        ({"tool_silence_s": None}, Phases(2.0, 4.0, 8.0, 8.0, 8.2), "none"),
        (
            {"last_token_s": None, "first_token_s": None, "tool_silence_s": None},
            Phases(2.0, 4.0, 4.0, 4.0, 8.2),
            "mute",
        ),
        ({"streamed": False}, Phases(0.1, 4.0, 6.5, 8.0, 8.2), "an answer in one piece: its headers say nothing"),
    ],
)
def test_parts_of_a_turn(values: dict[str, Any], expected: Phases, remark: str) -> None:
    assert lanes.phases(turn(**{**WHOLE, **values})) == expected, remark


@pytest.mark.parametrize(
    ("values", "expected", "remark"),
    [
        ({"sent_s": 0.1}, Phases(1.0, 1.0, 1.0, 1.0, 1.0), "nothing came: all of it was the queue"),
        ({}, Phases(1.0, 1.0, 1.0, 1.0, 1.0), "never sent"),
        ({"sent_s": 0.1, "headers_s": 0.4}, Phases(0.4, 1.0, 1.0, 1.0, 1.0), "ended in its prefill"),
        ({"sent_s": 0.1, "headers_s": 2.0}, Phases(1.0, 1.0, 1.0, 1.0, 1.0), "clocks that disagree stay in the turn"),
    ],
)
def test_parts_of_a_turn_that_ended_early(values: dict[str, Any], expected: Phases, remark: str) -> None:
    assert lanes.phases(turn(outcome="reset", **values)) == expected, remark


def test_agents_stand_in_order_and_turns_beside_each_other_on_lines_of_their_own() -> None:
    turns = [
        turn(agent="b/0.10", entry="b", wall_time=0.0),
        turn(agent="b/0.9", entry="b", wall_time=0.0, end_s=5.0),
        turn(agent="a/0.0", entry="a", wall_time=3.0),
        turn(agent="b/0.9", entry="b", wall_time=1.0, end_s=1.0),
        turn(agent="b/0.9", entry="b", wall_time=2.0, end_s=1.0),
        turn(agent="lost", entry="c", wall_time=0.0),
    ]
    lines = lanes.lines(turns, ["b", "a"])
    assert lines.agents == ["b/0.9", "b/0.9", "b/0.10", "a/0.0", "lost"]
    assert lines.of == [2, 0, 3, 1, 1, 4]
