"""What a prompt costs: curves through timed prompts, and the price of a miss."""

import pytest

from locust_agents.forecast.prefill_curve import Curve, Point, described, price_of_miss, through


def points(linear_s: float, square_s: float, *sizes: int) -> list[Point]:
    return [(size, linear_s * size + square_s * size**2) for size in sizes]


# remark, linear, square: three exact points give the curve back
SHAPES: list[tuple[str, float, float]] = [
    ("a small model on a processor", 2e-4, 4e-7),
    ("a large one on a Mac: 8,192 tokens in about 25 s", 2.6e-3, 5e-8),
    ("attention costs nothing", 1e-3, 0.0),
    ("attention costs all", 0.0, 1e-7),
]


@pytest.mark.parametrize(("linear", "square"), [pytest.param(*row[1:], id=row[0]) for row in SHAPES])
def test_three_exact_points_give_the_curve_back(linear: float, square: float) -> None:
    curve = through(points(linear, square, 350, 2000, 65_536))
    assert curve.linear_s == pytest.approx(linear, rel=1e-6, abs=1e-12)
    assert curve.square_s == pytest.approx(square, rel=1e-6, abs=1e-15)
    assert curve.misfit < 1e-6
    assert curve.seconds(0, 30_000) == pytest.approx(linear * 30_000 + square * 30_000**2)


# remark, points, seconds of 1,000 tokens, tolerance
ODD: list[tuple[str, list[Point], float]] = [
    ("one point is a line", [(500, 1.0)], 2.0),
    ("one size, timed twice, is a line through the middle", [(500, 1.0), (500, 1.0)], 2.0),
    ("what bends downwards (a fixed cost) is a line between them", [(500, 1.0), (1500, 2.0)], 1.667),
    ("what starts below zero is all square", [(500, 0.1), (1500, 1.8)], 0.76),
    ("points that cost nothing, or are of nothing, do not count", [(500, 1.0), (0, 1.0), (900, 0.0)], 2.0),
]


@pytest.mark.parametrize(("timed", "expected_s"), [pytest.param(*row[1:], id=row[0]) for row in ODD])
def test_what_is_no_curve_still_prices_prompts(timed: list[Point], expected_s: float) -> None:
    curve = through(timed)
    assert curve.linear_s >= 0
    assert curve.square_s >= 0
    assert curve.seconds(0, 1000) == pytest.approx(expected_s, rel=0.01)


def test_no_point_is_no_curve() -> None:
    with pytest.raises(ValueError, match="no prompt was timed"):
        through([(0, 0.0)])


def test_the_order_of_points_does_not_matter() -> None:
    assert through([(900, 3.0), (100, 0.2)]) == through([(100, 0.2), (900, 3.0)])


def test_what_is_cached_is_not_computed() -> None:
    curve = Curve((), 1e-3, 1e-6)
    whole, start = curve.seconds(0, 3000), curve.seconds(0, 2000)
    assert curve.seconds(2000, 1000) == pytest.approx(whole - start)
    assert curve.seconds(2000, 1000) > curve.seconds(0, 1000)  # late tokens look back on more
    assert curve.seconds(3000, 0) == 0


def test_price_of_a_miss() -> None:
    curve = Curve((), 1e-3, 1e-6)
    # a history of 9,000 tokens of which the first 1,000 were still there
    assert price_of_miss(curve, 8000, 1000) == pytest.approx(curve.seconds(0, 9000) - curve.seconds(0, 1000))


@pytest.mark.parametrize("curve", [Curve((), 1e-3, 1e-6), Curve((), 1e-3, 0.0), Curve((), 0.0, 1e-6)])
def test_tokens_within_a_budget_take_that_long(curve: Curve) -> None:
    assert curve.seconds(0, curve.tokens_within(7.0)) == pytest.approx(7.0)


def test_described_warns_of_points_that_lie_on_no_curve() -> None:
    even = through(points(1e-4, 1e-7, 328, 1000, 3264))
    uneven = through([(328, 0.035), (726, 0.195), (3264, 0.596)])
    assert described(even) == "prefill timed: 328 tokens 0.04 s, 1.0k tokens 0.20 s, 3.3k tokens 1.39 s"
    assert described(uneven).endswith("(uneven: the curve misses one by 70 %)")
