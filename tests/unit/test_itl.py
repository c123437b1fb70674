"""Gaps between tokens in 2 % buckets: nothing is lost but the last digits."""

import random

import pytest

from locust_agents.answers import itl


@pytest.mark.parametrize("gap_s", [0.0, 1e-9, 1e-6])
def test_tokens_of_one_read_are_in_bucket_0(gap_s: float) -> None:
    assert itl.bucket(gap_s) == 0
    assert itl.gap_s(0) == 0.0


@pytest.mark.parametrize("gap_s", [2e-6, 1e-4, 0.004, 0.0125, 0.05, 1.0, 7.3, 300.0, 86_400.0])
def test_a_bucket_knows_its_gap_to_one_percent(gap_s: float) -> None:
    assert itl.gap_s(itl.bucket(gap_s)) == pytest.approx(gap_s, rel=0.01)


def test_gaps_four_percent_apart_are_told_apart() -> None:
    assert itl.bucket(0.0104) > itl.bucket(0.01)
    assert itl.bucket(0.01) - itl.bucket(0.01 / 1.02) == 1


def test_merging_adds() -> None:
    assert itl.merge([{0: 1, 5: 2}, {}, {5: 3, 7: 1}]) == {0: 1, 5: 5, 7: 1}
    assert itl.merge([]) == {}


@pytest.mark.parametrize(
    ("counts", "share", "bucket", "remark"),
    [
        ({100: 1}, 0.5, 100, "one gap is every quantile"),
        ({100: 1}, 0.99, 100, "one gap is every quantile"),
        ({100: 50, 200: 50}, 0.5, 100, "half do not exceed it"),
        ({100: 49, 200: 51}, 0.5, 200, "less than half do not"),
        ({200: 1, 100: 99}, 0.99, 100, "the order of the keys does not matter"),
        ({100: 99, 200: 1}, 1.0, 200, "the longest"),
        ({0: 99, 200: 1}, 0.5, 0, "clumped tokens count as gaps of 0"),
    ],
)
def test_quantile(counts: dict[int, int], share: float, bucket: int, remark: str) -> None:
    assert itl.quantile_s(counts, share) == itl.gap_s(bucket), remark


def test_no_gaps_have_no_quantile() -> None:
    assert itl.quantile_s({}, 0.5) is None


def test_a_histogram_gives_the_quantiles_of_its_gaps() -> None:
    rng = random.Random(1)
    gaps = sorted(rng.lognormvariate(-4, 1) for _ in range(5000))
    counts = itl.merge([{itl.bucket(gap): 1} for gap in gaps])
    for share in (0.5, 0.95, 0.99):
        assert itl.quantile_s(counts, share) == pytest.approx(gaps[round(share * 5000) - 1], rel=0.02)
