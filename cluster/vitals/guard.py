"""Decides from a host's memory whether a run must stop sending before that host comes to harm."""

from dataclasses import dataclass
from typing import Literal

from locust_agents.cluster.byte_sizes import size_text
from locust_agents.cluster.vitals.memory_sample import LEVELS, Sample

_LESS = "give the server a smaller model or prompt cache, or the run fewer agents"


@dataclass(frozen=True, slots=True)
class Guard:
    """What must not be reached: swap grown by so many bytes since the run began, that level of pressure. None: off."""

    swap_growth: int | None = None
    pressure: Literal["warn", "critical"] | None = None


def decide(guard: Guard, first: Sample, now: Sample, host: str) -> str | None:
    """The sentence that ends the sending, with the host and the figure; None while all is well, or nothing is known."""
    grown = swap_growth(first, now)
    if guard.swap_growth is not None and grown is not None and grown >= guard.swap_growth:
        limit = f"guard.swap_growth {size_text(guard.swap_growth)}"
        return f"swap on {host} grew by {size_text(grown)} in this run ({limit}), so nothing more was sent: {_LESS}"
    if guard.pressure and now.pressure and LEVELS.index(now.pressure) >= LEVELS.index(guard.pressure):
        limit = f"guard.pressure {guard.pressure}"
        return f"memory pressure on {host} is {now.pressure} ({limit}), so nothing more was sent: {_LESS}"
    return None


def blind_spots(guard: Guard, sample: Sample) -> list[str]:
    """The keys of the guard that this host gives no figure for, so that nobody feels safe who is not."""
    swap = ["guard.swap_growth"] if guard.swap_growth is not None and sample.swap_used is None else []
    return swap + (["guard.pressure"] if guard.pressure and sample.pressure is None else [])


def swap_growth(first: Sample, now: Sample) -> int | None:
    """Bytes of swap used since the first sample, never less than 0."""
    if first.swap_used is None or now.swap_used is None:
        return None
    return max(0, now.swap_used - first.swap_used)
