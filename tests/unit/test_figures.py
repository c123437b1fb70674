"""Statistics of waits, some of which had not ended: they make a figure larger or leave it, never smaller."""

import pytest

from locust_agents import figures
from locust_agents.figures import Wait


def waits(*values: float, more: tuple[float, ...] = ()) -> list[Wait]:
    return [*map(Wait, values), *(Wait(value, is_more=True) for value in more)]


TWENTY = [float(number) for number in range(20, 0, -1)]
HUNDRED = [float(number) for number in range(1, 101)]


@pytest.mark.parametrize(
    ("values", "stat", "wanted", "remark"),
    [
        (waits(3.0), "p50", Wait(3.0), "one value is every statistic"),
        (waits(3.0), "p99", Wait(3.0), "one value is every statistic"),
        (waits(2.0, 1.0), "p50", Wait(1.0), "nearest rank: a value that was seen"),
        (waits(2.0, 1.0, 3.0), "p50", Wait(2.0), "the middle one"),
        (waits(*TWENTY), "p90", Wait(18.0), "eighteen of twenty do not exceed it"),
        (waits(*TWENTY), "p95", Wait(19.0), "nineteen of twenty"),
        (waits(*TWENTY), "max", Wait(20.0), "the order does not matter"),
        (waits(*TWENTY), "min", Wait(1.0), "the order does not matter"),
        (waits(*HUNDRED), "p99", Wait(99.0), "ninety-nine of a hundred"),
        (waits(1.0, 2.0, 6.0), "mean", Wait(3.0), "the mean"),
        # censored
        (waits(1.0, more=(300.0,)), "max", Wait(300.0, True), "the longest wait had not ended"),
        (waits(5.0, more=(1.0,)), "max", Wait(5.0), "one that was cut early is not the longest"),
        (waits(5.0, more=(5.0,)), "max", Wait(5.0, True), "more than 5 is more than 5"),
        (waits(more=(1.0, 2.0)), "max", Wait(2.0, True), "none had ended"),
        (waits(more=(1.0, 2.0, 3.0)), "p50", Wait(2.0, True), "none had ended"),
        (waits(1.0, 2.0, 3.0, more=(9.0, 9.0)), "p50", Wait(3.0), "long ones push the median up"),
        (waits(1.0, 2.0, 3.0, more=(0.1, 0.1)), "p50", Wait(2.0), "short ones do not pull it down"),
        (waits(*TWENTY, more=(0.1,) * 20), "p95", Wait(19.0), "a crowd of early cuts does not hide the slow ones"),
        (waits(1.0, 3.0, more=(8.0,)), "mean", Wait(4.0, True), "the mean is more too"),
        (waits(4.0, more=(0.0,)), "mean", Wait(4.0, True), "and no smaller than without"),
    ],
)
def test_statistic(values: list[Wait], stat: str, wanted: Wait, remark: str) -> None:
    assert figures.statistic(values, stat) == wanted, remark
    assert figures.statistic(values[::-1], stat) == wanted, remark


@pytest.mark.parametrize("stat", ["p50", "p95", "max", "min", "mean"])
def test_nothing_has_no_statistic(stat: str) -> None:
    assert figures.statistic([], stat) is None


@pytest.mark.parametrize(
    ("count", "stat", "enough"),
    [(19, "p95", False), (20, "p95", True), (99, "p99", False), (100, "p99", True), (1, "p50", True), (1, "max", True)],
)
def test_a_percentile_needs_enough_values(count: int, stat: str, enough: bool) -> None:
    assert figures.is_enough(count, stat) is enough


def test_ended() -> None:
    assert figures.ended(waits(1.0, more=(2.0,))) == waits(1.0)


@pytest.mark.parametrize(
    ("spans", "seconds", "remark"),
    [
        ([], 0.0, "none"),
        ([(1.0, 3.0)], 2.0, "one"),
        ([(5.0, 6.0), (1.0, 3.0)], 3.0, "apart, in any order"),
        ([(1.0, 3.0), (2.0, 4.0)], 3.0, "what both cover counts once"),
        ([(1.0, 9.0), (2.0, 3.0), (4.0, 5.0)], 8.0, "one within another"),
        ([(1.0, 2.0), (2.0, 3.0)], 2.0, "end to end"),
        ([(1.0, 1.0)], 0.0, "of no length"),
    ],
)
def test_union(spans: list[tuple[float, float]], seconds: float, remark: str) -> None:
    assert figures.union_s(spans) == seconds, remark
