"""When sessions are due on a clock, and which process starts which."""

import itertools
import statistics

import pytest

from locust_agents import arrival
from locust_agents.arrival import Clock
from locust_agents.scenarios.course import Arrival


def times(text: dict[str, object], number: int, seed: str = "1 a") -> list[float]:
    return list(itertools.islice(arrival.due_times(Arrival.model_validate(text), seed), number))


@pytest.mark.parametrize(
    ("text", "wanted", "remark"),
    [
        ({"rate": "2/s", "process": "constant"}, [0.0, 0.5, 1.0, 1.5], "equal gaps, the first at once"),
        ({"rate": "6/min", "process": "constant"}, [0.0, 10.0, 20.0, 30.0], "by the minute"),
        ({"rate": "2/s", "process": "burst", "burst": 3}, [0.0, 0.0, 0.0, 1.5, 1.5], "three at once"),
        ({"rate": "0.5/s", "process": "burst", "burst": 1}, [0.0, 2.0], "a burst of one is constant"),
    ],
)
def test_due(text: dict[str, object], wanted: list[float], remark: str) -> None:
    assert times(text, len(wanted)) == pytest.approx(wanted), remark


def test_poisson_is_drawn_from_the_seed_alone() -> None:
    text: dict[str, object] = {"rate": "4/s"}
    due = times(text, 20_000)
    assert due == times(text, 20_000)
    assert due[:9] != times(text, 9, "2 a")
    gaps = [after - before for before, after in itertools.pairwise([0.0, *due])]
    assert min(gaps) > 0
    assert statistics.fmean(gaps) == pytest.approx(0.25, rel=0.05)
    assert statistics.stdev(gaps) == pytest.approx(0.25, rel=0.05), "as wide as its mean: that is what makes it poisson"


def test_due_until() -> None:
    clock = Arrival.model_validate({"rate": "1/s", "process": "constant"})
    assert arrival.due_until(clock, "", 3.0) == [0.0, 1.0, 2.0]
    assert arrival.due_until(clock, "", -1.0) == []


def whole(due: list[float], agents: int = 1) -> Clock:
    return Clock(iter([*due, 1e9]), lambda _: agents, lambda _: True)


def test_the_longest_due_is_taken_first() -> None:
    clock = whole([0.0, 1.0, 1.0, 5.0])
    assert clock.take(-1.0) is None
    assert [clock.take(2.0) for _ in range(4)] == [0.0, 1.0, 1.0, None]
    assert clock.next_s == 5.0
    assert clock.take(4.999) is None
    assert clock.take(9.0) == 5.0


@pytest.mark.parametrize("spread", [[{0, 1, 2}], [{0}, {1, 2}], [{0, 1, 2}, set()], [{2}, {0}, {1}]])
def test_processes_start_each_session_once(spread: list[set[int]]) -> None:
    due = [float(second) for second in range(30)]
    clocks = [Clock(iter([*due, 1e9]), lambda _: 3, own.__contains__) for own in spread]
    taken = [[due_s for _ in range(40) if (due_s := clock.take(100.0)) is not None] for clock in clocks]
    assert sorted(itertools.chain(*taken)) == due
    assert [len(one) for one in taken] == [10 * len(own) for own in spread], "as many as it has agents for"


def test_whom_the_plan_has_not_gets_no_session() -> None:
    due = [float(second) for second in range(8)]
    clocks = [Clock(iter([*due, 1e9]), lambda at: 1 if at < 4 else 2, own.__contains__) for own in ({0}, {1})]
    taken = [[due_s for _ in due if (due_s := clock.take(100.0)) is not None] for clock in clocks]
    assert taken == [[0.0, 1.0, 2.0, 3.0, 4.0, 6.0], [5.0, 7.0]]
