"""How a long run is thinned for a chart, and that the worst of it never is."""

import pytest

from locust_agents.pages import cluster, spans


@pytest.mark.parametrize(
    ("seconds", "most", "expected", "remark"),
    [
        (60.0, 120, 0.5, "exactly as many as may be"),
        (61.0, 120, 1.0, "one more would be too many"),
        (5223.0, 120, 60.0, "an hour and a half"),
        (0.0, 120, 0.1, "a run of no length"),
        (3_000_000.0, 120, 25_200.0, "five weeks: whole hours"),
    ],
)
def test_spans_are_of_a_round_length(seconds: float, most: int, expected: float, remark: str) -> None:
    assert spans.length_s(seconds, most) == expected, remark


def test_things_are_grouped_by_their_time() -> None:
    found = spans.grouped([7.0, 1.0, 2.5, -0.5], lambda at: at, 2.0)
    assert list(found.items()) == [(-1, [-0.5]), (0, [1.0]), (1, [2.5]), (3, [7.0])]


@pytest.mark.parametrize("count", [0, 1, 600, 601, 19_000])
def test_of_sorted_values_the_largest_all_stay(count: int) -> None:
    kept = spans.kept_places(count, 600, 200)
    assert len(kept) == min(count, 600)
    assert kept == sorted(set(kept))
    assert kept[-200:] == list(range(max(0, count - 200), count)) or count < 200
    assert not count or kept[0] == 0


def test_a_line_keeps_its_ends_its_smallest_and_its_largest() -> None:
    points = [(float(at), float(at % 7)) for at in range(5_000)]
    points[1234] = (1234.0, 99.0)
    points[2345] = (2345.0, -99.0)
    kept = cluster.thinned(points, 600)
    assert len(kept) <= 602
    assert {(1234.0, 99.0), (2345.0, -99.0), points[0], points[-1]} <= set(kept)
    assert kept == sorted(kept)
    assert cluster.thinned(points[:600], 600) == points[:600]
