"""Drawing two runs anew: figures under weights, exchanges that keep sizes, and chances over many figures at once."""

from random import Random

import pytest

from locust_agents.compare import bootstrap
from locust_agents.compare.bootstrap import Units, Weights


def weights(**counts: int) -> Weights:
    """c2=1 counts the values of code 2 once; all others not at all."""
    found = bytearray(bootstrap.CODES)
    for code, count in counts.items():
        found[int(code[1:])] = count
    return bytes(found)


VALUES = [(float(value), value % 3) for value in range(1, 21)]


@pytest.mark.parametrize(
    ("chosen", "wanted", "remark"),
    [
        (weights(c0=1, c1=1, c2=1), (10.0, 19.0, 20.0), "nearest rank: the 19th of 20 is p95"),
        (weights(c0=1), (9.0, 18.0, 18.0), "3, 6, 9, 12, 15, 18"),
        (weights(c0=2), (9.0, 18.0, 18.0), "each twice: the same ranks"),
        (weights(c1=1, c2=3), (11.0, 20.0, 20.0), "1, 2, 2, 2, 4, 5, 5, 5, …"),
        (weights(c9=1), (None, None, None), "no value has that code"),
    ],
)
def test_figures_of_a_pool(chosen: Weights, wanted: tuple[float | None, ...], remark: str) -> None:
    pool = bootstrap.pool(VALUES, (0.5, 0.95, 1.0))
    assert pool.figures(chosen) == wanted, remark


def test_a_ratio_sums_before_it_divides() -> None:
    ratio = bootstrap.ratio([(1, 2, 0), (0, 8, 0), (5, 5, 1)])
    assert ratio.figures(weights(c0=1)) == (0.1,)
    assert ratio.figures(weights(c0=1, c1=2)) == (11 / 20,)
    assert ratio.figures(weights(c7=1)) == (None,)


def test_a_level_is_a_geometric_mean() -> None:
    level = bootstrap.level([(1.0, 0), (4.0, 0), (9.0, 1)])
    assert level.figures(weights(c0=1))[0] == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("units", "sizes", "remark"),
    [
        (Units(3, 3, True), {3}, "each pair gives one half to each run"),
        (Units(2, 5, False), {5}, "as many units to each run as it had"),
    ],
)
def test_exchanged(units: Units, sizes: set[int], remark: str) -> None:
    rng = Random(1)
    rounds = [bootstrap.exchanged(units, rng) for _ in range(50)]
    codes = [2 * number for number in range(units.of_a)] + [2 * number + 1 for number in range(units.of_b)]
    assert {sum(of_b[code] for code in codes) for _, of_b in rounds} == sizes, remark
    assert all(of_a[code] + of_b[code] == 1 for of_a, of_b in rounds for code in codes), remark
    assert len({of_b for _, of_b in rounds}) > 5, remark


def test_paired_halves_never_meet() -> None:
    rng = Random(2)
    for _ in range(50):
        _, of_b = bootstrap.exchanged(Units(4, 4, True), rng)
        assert all(of_b[2 * number] + of_b[2 * number + 1] == 1 for number in range(4))


@pytest.mark.parametrize(
    ("units", "remark"),
    [
        (Units(4, 4, True), "both halves of a pair as often"),
        (Units(4, 4, True, ((0, 1), (2, 3))), "the pieces of a session as often"),
        (Units(4, 6, False), "each run for itself"),
    ],
)
def test_drawn_again(units: Units, remark: str) -> None:
    of_a, of_b = bootstrap.drawn_again(units, Random(3))
    assert (sum(of_a), sum(of_b)) == (units.of_a, units.of_b), remark
    if units.paired:
        assert of_a[0::2] == of_b[1::2], remark
    for numbers in units.together:
        assert len({of_a[2 * number] for number in numbers}) == 1, remark


def test_many_figures_are_held_against_the_largest_of_them() -> None:
    """One figure alone stands out of 99 exchanges; among fifty that stand out in turn it does not."""
    rng = Random(4)
    alone = [[abs(rng.gauss(0, 1))] for _ in range(99)]
    many = [[abs(rng.gauss(0, 1)) for _ in range(50)] for _ in range(99)]
    assert bootstrap.chances([3.0], alone)[0] <= 0.02
    assert bootstrap.chances([2.5, *[0.0] * 49], many)[0] > 0.2
    assert bootstrap.chances([6.0, *[0.0] * 49], many)[0] <= 0.02


def test_no_effect_has_no_chance_to_be_one() -> None:
    assert bootstrap.chances([0.0, 1.0], [[0.0, 0.5]] * 99) == [1.0, 0.01]


def test_intervals_of_few_units_are_wider() -> None:
    effects = [place / 1000 for place in range(-500, 501)]
    wide, narrow = (bootstrap.interval(effects, 0.0, drawn) for drawn in (4, 400))
    assert narrow == pytest.approx((-0.478, 0.478), abs=0.01)
    assert wide == pytest.approx((-0.89, 0.89), abs=0.01)  # 3.18 / 1.96 and the square root of 4 / 3 times as wide
    assert bootstrap.interval(effects, 0.0, 1) is None
