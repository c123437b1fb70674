"""When a host's memory ends the sending; how sizes are read and written."""

import pytest

from locust_agents.cluster.byte_sizes import size, size_text
from locust_agents.cluster.vitals import guard as guards
from locust_agents.cluster.vitals.guard import Guard
from locust_agents.cluster.vitals.memory_sample import Sample

BOTH = Guard(swap_growth=10**9, pressure="critical")
FIRST = Sample(swap_used=2 * 10**9, pressure="normal")


@pytest.mark.parametrize(
    ("guard", "now", "parts", "remark"),
    [
        (BOTH, Sample(swap_used=3 * 10**9 - 1, pressure="warn"), None, "just below both"),
        (BOTH, Sample(swap_used=3 * 10**9), ("swap on mac2 grew by 1.00 GB", "guard.swap_growth 1.00 GB"), "at it"),
        (BOTH, Sample(pressure="critical"), ("pressure on mac2 is critical", "guard.pressure critical"), "pressure"),
        (
            Guard(pressure="warn"),
            Sample(pressure="critical"),
            ("is critical", "guard.pressure warn"),
            "worse than warn",
        ),
        (Guard(pressure="warn"), Sample(pressure="normal"), None, "normal"),
        (Guard(swap_growth=0), Sample(swap_used=0), ("grew by 0 B",), "a bound of nothing"),
        (Guard(), Sample(swap_used=10**12, pressure="critical"), None, "no guard"),
        (BOTH, Sample(), None, "a host that tells nothing"),
        (BOTH, Sample(swap_used=10**9, pressure="normal"), None, "swap that shrank"),
    ],
)
def test_decide(guard: Guard, now: Sample, parts: tuple[str, ...] | None, remark: str) -> None:
    sentence = guards.decide(guard, FIRST, now, "mac2")
    assert (sentence is None) == (parts is None), remark
    assert all(part in (sentence or "") for part in parts or ()), remark
    assert sentence is None or "\n" not in sentence


@pytest.mark.parametrize(
    ("guard", "sample", "keys", "remark"),
    [
        (BOTH, Sample(), ["guard.swap_growth", "guard.pressure"], "a system that is neither macOS nor Linux"),
        (BOTH, Sample(swap_used=0), ["guard.pressure"], "a kernel without PSI"),
        (BOTH, FIRST, [], "all seen"),
        (Guard(), Sample(), [], "nothing asked for"),
    ],
)
def test_blind_spots(guard: Guard, sample: Sample, keys: list[str], remark: str) -> None:
    assert guards.blind_spots(guard, sample) == keys, remark


def test_swap_growth_is_unknown_where_one_sample_is() -> None:
    assert guards.swap_growth(FIRST, Sample()) is None
    assert guards.swap_growth(Sample(), FIRST) is None


@pytest.mark.parametrize(
    ("value", "amount", "remark"),
    [
        ("1GB", 10**9, "decimal, as on a Mac's label"),
        ("1.5 gb", 1_500_000_000, "as mlx_lm.server's own sizes"),
        ("500M", 500_000_000, "short unit"),
        ("64kB", 64_000, "small"),
        ("2TB", 2 * 10**12, "large"),
        ("1000000", 1_000_000, "bytes"),
        (1000000, 1_000_000, "a number"),
        ("12B", 12, "bytes said"),
        (0, 0, "nothing"),
    ],
)
def test_size(value: object, amount: int, remark: str) -> None:
    assert size(value) == amount, remark


@pytest.mark.parametrize(
    "value", ["1GiB", "lots", "", "-1GB", -1, True, None, float("nan"), float("inf"), [1], "1e9TB"]
)
def test_what_is_no_size(value: object) -> None:
    with pytest.raises(ValueError, match="a size in bytes such as 1GB"):
        size(value)


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (999.6, "1.00 kB"),
        (412_400_000, "412 MB"),
        (999_600_000, "1.00 GB"),
        (1_254_000_000, "1.25 GB"),
        (12_340_000_000, "12.3 GB"),
        (412e9, "412 GB"),
    ],
)
def test_size_text(amount: float, text: str) -> None:
    assert size_text(amount) == text
