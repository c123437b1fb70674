"""Decides when sessions are due that start on a clock, whether or not an agent is free; a late one says by how much."""

import random
from collections.abc import Callable, Iterator
from itertools import count, takewhile

from locust_agents.scenarios.course import Arrival


def due_times(arrival: Arrival, seed: str) -> Iterator[float]:
    """Seconds after the entry's start at which its sessions are due, for ever; the same for the same seed."""
    burst = arrival.burst or 1
    if arrival.process == "poisson":
        yield from _poisson(arrival.per_s, random.Random(f"{seed} arrivals"))
    elif arrival.process == "constant":
        yield from (number / arrival.per_s for number in count())
    else:
        yield from (number // burst * (burst / arrival.per_s) for number in count())


def due_until(arrival: Arrival, seed: str, until_s: float) -> list[float]:
    """Those that are due before that second."""
    return list(takewhile(lambda due_s: due_s < until_s, due_times(arrival, seed)))


def seed_of(seed: int, entry: str) -> str:
    """What the clock of an entry is drawn from."""
    return f"{seed} {entry}"


class Clock:
    """The sessions of one entry that a process must start, in the order in which they are due.

    Session k is that of the agent number k, counted round and round: each process starts those of its own agents, and
    all together start each once, however the agents are spread. Which of a process's free agents takes it is open.
    `agents` says how many there are at a session's second: whom the plan has not then gets none.
    """

    def __init__(self, due: Iterator[float], agents: Callable[[float], int], is_mine: Callable[[int], bool]) -> None:
        self._due = due
        self._agents = agents
        self._is_mine = is_mine
        self._sessions = 0
        self._next_s = next(due)

    @property
    def next_s(self) -> float:
        """When there is next something to decide."""
        return self._next_s

    def take(self, elapsed_s: float) -> float | None:
        """The second at which the longest due session should have started; None where none of ours is due."""
        while (due_s := self._next_s) <= elapsed_s:
            number = self._sessions % self._agents(due_s)
            self._sessions += 1
            self._next_s = next(self._due)
            if self._is_mine(number):
                return due_s
        return None


def _poisson(per_s: float, rng: random.Random) -> Iterator[float]:
    due_s = 0.0
    while True:
        due_s += rng.expovariate(per_s)
        yield due_s
