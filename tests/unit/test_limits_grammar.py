import subprocess
import sys

import pytest

from locust_agents.limits import METRICS, BoundError, Limit, parse_limit, with_default_failures

ENTRIES = ["fixers", "giant"]

GOOD: list[tuple[str, str, object, tuple[str | None, str | None, str, str | None, float, str]]] = [
    ("metric and statistic", "ttft.max", "60s", (None, None, "ttft", "max", 60.0, "60s")),
    ("of one kind", "later.ttft.p95", 20, (None, "later", "ttft", "p95", 20.0, "20")),
    ("of one entry", "giant.stall.max", "1m", ("giant", None, "stall", "max", 60.0, "1m")),
    ("of both", "fixers.sub.itl.p99", "50ms", ("fixers", "sub", "itl", "p99", 0.05, "50ms")),
    ("a share", "later.reuse", "95%", (None, "later", "reuse", None, 0.95, "95%")),
    ("a share as a number", "failures", 0, (None, None, "failures", None, 0.0, "0")),
    ("a speed has a least one", "decode.min", 12.5, (None, None, "decode", "min", 12.5, "12.5")),
    ("a speed with k", "prefill.p50", "1.8k", (None, None, "prefill", "p50", 1800.0, "1.8k")),
]


@pytest.mark.parametrize(("key", "value", "meant"), [pytest.param(*row[1:], id=row[0]) for row in GOOD])
def test_reads(key: str, value: object, meant: tuple[str | None, str | None, str, str | None, float, str]) -> None:
    assert parse_limit(key, value, ENTRIES) == Limit(key, *meant)


ALL = "ttft, first_answer, queue, connect, itl, stall, turn, prefill, decode, reuse, failures, right, same"
BAD_KEYS = [
    ("no metric", "later", f"names no metric; add one of {ALL}"),
    ("a mistyped metric", "tftt.max", "unknown word 'tftt'; did you mean 'ttft'?"),
    ("a mistyped entry", "fixer.ttft.max", "unknown word 'fixer'; did you mean 'fixers'?"),
    ("a mistyped kind", "fixers.latr.ttft.max", "unknown word 'latr'; did you mean 'later'?"),
    ("kind before entry", "later.fixers.ttft.max", f"'fixers' is no metric; write [entry.][kind.]metric.stat {ALL}"),
    ("no statistic", "giant.ttft", "names no statistic; write giant.ttft.p95, or one of p50, p90, p95, p99, max, mean"),
    ("an unknown statistic", "ttft.p96", "no statistic is called 'p96'; they are p50, p90, p95, p99, max, mean"),
    ("a wait has no least one", "ttft.min", "no statistic is called 'min'; they are p50, p90, p95, p99, max, mean"),
    ("a speed has no most one", "decode.max", "no statistic is called 'max'; they are p50, p90, p95, p99, min, mean"),
    ("too many words", "ttft.p95.s", "no statistic is called 'p95.s'; they are p50, p90, p95, p99, max, mean"),
    (
        "a share has no statistic",
        "later.reuse.p50",
        "takes no statistic, it is one figure for the run; write later.reuse",
    ),
]


@pytest.mark.parametrize(("key", "text"), [pytest.param(*row[1:], id=row[0]) for row in BAD_KEYS])
def test_refuses_the_key(key: str, text: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse_limit(key, "1s", ENTRIES)
    assert not isinstance(caught.value, BoundError)
    assert str(caught.value) == text.replace(f"stat {ALL}", f"stat with one of {ALL}")


BAD_BOUNDS = [
    ("negative", "ttft.max", -1, "must not be negative, got -1"),
    ("a share for a time", "ttft.max", "95%", "expected a duration such as 90s, 2m, 1m30s or 250ms, got '95%'"),
    ("a time for a share", "reuse", "95s", "expected a share such as 95% or 0.95, got '95s'"),
    ("more than all", "failures", "101%", "a share is at most 100%, got '101%'"),
    ("true", "decode.mean", True, "expected a number, got true"),
]


@pytest.mark.parametrize(("key", "value", "text"), [pytest.param(*row[1:], id=row[0]) for row in BAD_BOUNDS])
def test_refuses_the_bound(key: str, value: object, text: str) -> None:
    with pytest.raises(BoundError) as caught:
        parse_limit(key, value, ENTRIES)
    assert str(caught.value) == text


DEFAULTS = [
    ("none given", [], ["failures"]),
    ("another metric changes nothing", ["ttft.max"], ["ttft.max", "failures"]),
    ("given for all", ["failures"], ["failures"]),
    ("given for one entry: the others keep the default", ["giant.failures"], ["giant.failures", "fixers.failures"]),
    ("given for one kind: the whole keeps the default", ["later.failures"], ["later.failures", "failures"]),
]


@pytest.mark.parametrize(("given", "held"), [pytest.param(*row[1:], id=row[0]) for row in DEFAULTS])
def test_failures_are_always_held(given: list[str], held: list[str]) -> None:
    limits = with_default_failures([parse_limit(key, 1, ENTRIES) for key in given], ENTRIES)
    assert [limit.key for limit in limits] == held
    assert all(limit.bound == 0 for limit in limits[len(given) :])


def test_each_metric_has_a_side_and_a_unit() -> None:
    at_least = {"prefill", "decode", "reuse", "right", "same"}
    assert {name for name, metric in METRICS.items() if not metric.at_most} == at_least
    assert {metric.unit for metric in METRICS.values()} == {"s", "tok/s", "share"}
    assert {name for name, metric in METRICS.items() if not metric.stats} == {"reuse", "failures", "right", "same"}


def test_limits_need_no_heavy_library() -> None:
    code = (
        "import sys, locust_agents.limits; print(sorted({'pydantic', 'yaml', 'locust', 'gevent'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
