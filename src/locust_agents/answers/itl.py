"""Inter-token gaps as a sparse histogram whose buckets are 2 % wide."""

import math
from collections.abc import Mapping

# A bucket holds gaps that differ by at most 2 %: finer than any two servers can be told apart by.
_RATIO = math.log(1.02)
_SMALLEST_S = 1e-6


def bucket(gap_s: float) -> int:
    """The bucket of a gap; 0 for gaps of a microsecond or less (tokens that came in one read)."""
    return 0 if gap_s <= _SMALLEST_S else round(math.log(gap_s / _SMALLEST_S) / _RATIO)


def gap_s(bucket: int) -> float:
    """The gap in the middle of a bucket, in seconds; 0 for bucket 0."""
    return 0.0 if bucket == 0 else _SMALLEST_S * math.exp(bucket * _RATIO)


def merge(histograms: list[Mapping[int, int]]) -> dict[int, int]:
    """The sum of several histograms."""
    total: dict[int, int] = {}
    for histogram in histograms:
        for key, count in histogram.items():
            total[key] = total.get(key, 0) + count
    return total


def quantile_s(histogram: Mapping[int, int], share: float) -> float | None:
    """The gap that `share` of all gaps do not exceed (nearest rank), None where there are no gaps."""
    wanted = math.ceil(share * sum(histogram.values()))
    seen = 0
    for key in sorted(histogram):
        seen += histogram[key]
        if seen >= wanted > 0:
            return gap_s(key)
    return None
