"""Sleep and a set clock, told from each other by three clocks, guessed from two."""

import pytest

from locust_agents.cluster import clocks
from locust_agents.cluster.clocks import ClockSet, Moment, Slept

START = Moment(1_800_000_000.0, 500.0, 900.0)
TWO = Moment(1_800_000_000.0, 500.0)


def later(before: Moment, wall_s: float, awake_s: float, always_s: float = 0.0) -> Moment:
    always = None if before.always_s is None else before.always_s + always_s
    return Moment(before.wall_s + wall_s, before.awake_s + awake_s, always)


@pytest.mark.parametrize(
    ("before", "passed", "found", "remark"),
    [
        (START, (1.0, 1.0, 1.0), [], "a second"),
        (START, (30.0, 30.0, 30.0), [], "a look that came late"),
        (START, (2.9, 1.0, 1.0), [], "a clock that is slewed"),
        (START, (601.0, 1.0, 601.0), [Slept(600.0)], "ten minutes of sleep"),
        (START, (301.0, 1.0, 1.0), [ClockSet(300.0)], "set forward: nobody slept"),
        (START, (-299.0, 1.0, 1.0), [ClockSet(-300.0)], "set back"),
        (START, (605.0, 1.0, 601.0), [Slept(600.0), ClockSet(4.0)], "NTP after a sleep"),
        (START, (1.0, 1.0, 61.0), [Slept(60.0), ClockSet(-60.0)], "a sleep hidden by a step back"),
        (TWO, (1.0, 1.0), [], "two clocks, a second"),
        (TWO, (61.0, 1.0), [Slept(60.0, sure=False)], "two clocks cannot tell"),
        (TWO, (-59.0, 1.0), [ClockSet(-60.0)], "two clocks, set back"),
    ],
)
def test_jumps(before: Moment, passed: tuple[float, ...], found: list[Slept | ClockSet], remark: str) -> None:
    assert clocks.jumps(before, later(before, *passed)) == found, remark


def test_sentence_says_who_must_do_what() -> None:
    assert clocks.sentence(312.4) == (
        "the machine slept 312 s while turns were timed: keep it awake (caffeinate -is on a Mac) and run again"
    )
    assert "or its clock was set forward" in clocks.sentence(3, sure=False)


def test_this_machine_did_not_sleep_between_two_readings() -> None:
    before = clocks.read()
    assert clocks.jumps(before, clocks.read()) == []
