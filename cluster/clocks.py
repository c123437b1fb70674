"""Decides from two readings of three clocks whether the machine slept, or whether somebody set its wall clock."""

import sys
import time
from dataclasses import dataclass

AT_LEAST_S = 2.0
"""Smaller jumps are the time that passed between reading one clock and the next, or a clock being slewed."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One reading, in seconds: UNIX time, the clock that stands still in sleep, and the one that does not.

    The last is None where the system has none.
    """

    wall_s: float
    awake_s: float
    always_s: float | None = None


@dataclass(frozen=True, slots=True)
class Slept:
    """The machine slept so long; `sure` is False where its wall clock may have been set forward instead."""

    seconds: float
    sure: bool = True


@dataclass(frozen=True, slots=True)
class ClockSet:
    """The wall clock was set by so many seconds, backwards when negative. No duration of ours depends on it."""

    seconds: float


def read() -> Moment:
    """The clocks now."""
    return Moment(time.time(), time.monotonic(), _always_s())


def jumps(before: Moment, now: Moment) -> list[Slept | ClockSet]:
    """What happened between the two that no clock of its own would tell."""
    wall_s, awake_s = now.wall_s - before.wall_s, now.awake_s - before.awake_s
    if before.always_s is None or now.always_s is None:
        return _guessed(wall_s - awake_s)
    always_s = now.always_s - before.always_s
    slept = [Slept(always_s - awake_s)] if always_s - awake_s > AT_LEAST_S else []
    was_set = [ClockSet(wall_s - always_s)] if abs(wall_s - always_s) > AT_LEAST_S else []
    return [*slept, *was_set]


def sentence(slept_s: float, sure: bool = True) -> str:
    """What a person reads when a run cannot be trusted for it."""
    what = "the machine slept" if sure else "the machine slept, or its clock was set forward,"
    return f"{what} {slept_s:.0f} s while turns were timed: keep it awake (caffeinate -is on a Mac) and run again"


def _guessed(ahead_s: float) -> list[Slept | ClockSet]:
    """With two clocks only. None that runs back has ever slept."""
    if ahead_s > AT_LEAST_S:
        return [Slept(ahead_s, sure=False)]
    return [ClockSet(ahead_s)] if ahead_s < -AT_LEAST_S else []


def _always_s() -> float | None:
    """Linux: CLOCK_BOOTTIME. macOS: CLOCK_MONOTONIC_RAW, which goes on in sleep there (clock_gettime(3)), as on Linux
    it does not."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    if sys.platform == "darwin":
        return time.clock_gettime(time.CLOCK_MONOTONIC_RAW)
    return None
