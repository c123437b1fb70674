"""A replay server that is the slower, the more answers are open."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from locust_agents.cluster.replay import script_from_json
from locust_agents.cluster.replay.play import Connection, Replay
from locust_agents.cluster.replay.scripts import Script
from locust_agents.cluster.replay.wire import Answer, to_answer

ANSWER = replace(Script(((0.5, b"x"),)), per_open_s=0.25)


class Beside(Connection):
    """A connection in the middle of an answer, at its end, or before its request is whole."""

    def __init__(self, answer: Answer | None, at: int | None) -> None:
        self._answer, self._next = answer, at


OPEN = to_answer(ANSWER, stamp=False)


@pytest.mark.parametrize(
    ("others", "count", "remark"),
    [
        ((), 0, "alone"),
        (((OPEN, 0), (OPEN, 1)), 2, "two that have begun"),
        (((OPEN, 0), (OPEN, None)), 1, "one is still being asked"),
        (((OPEN, 0), (None, 2)), 1, "one has ended and is not closed yet"),
    ],
)
def test_answers_that_are_open_are_counted(
    others: Sequence[tuple[Answer | None, int | None]], count: int, remark: str
) -> None:
    replay = Replay([ANSWER], None, stamp=False, max_requests=None)
    me = Beside(OPEN, 0)
    replay.connections = {me, *(Beside(*other) for other in others)}
    assert replay.open_beside(me) == count, remark


def test_it_can_be_written_in_a_file() -> None:
    assert script_from_json(json.loads(json.dumps(ANSWER.to_json()))) == ANSWER
    assert OPEN.per_open_s == 0.25


@pytest.mark.parametrize("seconds", [-0.1, float("inf"), float("nan")])
def test_a_time_that_no_clock_shows_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="per_open_s"):
        replace(ANSWER, per_open_s=seconds)
