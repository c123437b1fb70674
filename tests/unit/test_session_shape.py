"""How many human messages, and how many model calls after each: what is drawn together, and what is given."""

import random
from statistics import median, quantiles

import pytest

from locust_agents.draws import HUMAN_TURNS, LOOP_LENGTH, REQUESTS
from locust_agents.session_shape import loops


def shapes(count: int, human_turns: int | None = None, loop_length: int | None = None) -> list[tuple[int, ...]]:
    return [loops(random.Random(f"1 a/0.{number} 0"), human_turns, loop_length) for number in range(count)]


SHAPES = shapes(20_000)
# remark, values of 20,000 sessions, what was measured
DRAWN: list[tuple[str, list[int], tuple[float, ...]]] = [
    ("human messages", [len(one) for one in SHAPES], HUMAN_TURNS.values),
    ("calls of a session", [sum(one) for one in SHAPES], REQUESTS.values),
    ("calls for a message", [length for one in SHAPES for length in one], LOOP_LENGTH.values),
]


@pytest.mark.parametrize(("values", "measured"), [pytest.param(*row[1:], id=row[0]) for row in DRAWN])
def test_all_three_are_as_measured_though_one_is_the_sum_of_another(
    values: list[int], measured: tuple[float, ...]
) -> None:
    assert median(values) == pytest.approx(measured[3], rel=0.03)
    assert quantiles(values, n=10)[8] == pytest.approx(measured[5], rel=0.03)


def test_sessions_of_one_message_have_as_many_calls_as_measured() -> None:
    # 143 of the 692 sessions: median 16, p90 67
    calls = [sum(one) for one in SHAPES if len(one) == 1]
    assert 14 <= median(calls) <= 19
    assert 60 <= quantiles(calls, n=10)[8] <= 76


def test_every_message_has_an_answer() -> None:
    assert min(length for one in SHAPES for length in one) == 1


# remark, messages, calls for each, what must hold
GIVEN: list[tuple[str, int | None, int | None, tuple[int, ...] | None]] = [
    ("both", 3, 4, (4, 4, 4)),
    ("messages only", 5, None, None),
    ("calls only", None, 2, None),
]


@pytest.mark.parametrize(("messages", "calls", "exactly"), [pytest.param(*row[1:], id=row[0]) for row in GIVEN])
def test_what_is_given_holds(messages: int | None, calls: int | None, exactly: tuple[int, ...] | None) -> None:
    for one in shapes(50, messages, calls):
        assert exactly is None or one == exactly
        assert messages is None or len(one) == messages
        assert calls is None or set(one) == {calls}
