"""Decides which agents may start a turn at a moment of a run with stages; one that may not is parked.

A parked agent keeps its session: let in again by a later stage, it goes on where it was, as a colleague does who comes
back from lunch. What it had in the server's cache may be gone by then; that is part of what stages are for. Only where
its turn was cut, its behaviour sees that, and may end the session over it.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from locust_agents.scenarios.model import Scenario


@dataclass(frozen=True, slots=True)
class Stage:
    """For `lasts_s` so many agents of each entry may start turns; of an entry that is left out, none may."""

    lasts_s: float
    agents: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Plan:
    """The stages one after another; those whom a stage adds come in one by one, `apart_s` after each other.

    Agents of an entry are numbered from 0, and the lowest numbers stay longest. `cuts`: who must go ends its turn at
    once, instead of finishing it.
    """

    stages: tuple[Stage, ...]
    apart_s: float = 0.0
    cuts: bool = False

    @classmethod
    def of(cls, scenario: Scenario) -> Self | None:
        """A scenario's own; None where it has no stages."""
        if scenario.stages is None:
            return None
        stages = tuple(Stage(stage.for_s, stage.agents) for stage in scenario.stages)
        return cls(stages, scenario.start.apart_s, scenario.on_retire == "cut")

    @property
    def ends_s(self) -> tuple[float, ...]:
        """When each stage ends, from the start of the load; that of the last is the end of all."""
        return tuple(itertools.accumulate(stage.lasts_s for stage in self.stages))

    def wanted(self, entry: str, elapsed_s: float) -> int:
        """How many agents of an entry the plan has at that moment; none before and after it."""
        place = self._place(elapsed_s)
        return 0 if place is None else self.stages[place].agents.get(entry, 0)

    def may_start(self, entry: str, number: int, elapsed_s: float) -> bool:
        """Whether the agent of this number may start a turn now."""
        place = self._place(elapsed_s)
        if place is None or number >= self.stages[place].agents.get(entry, 0):
            return False
        begun_s = self.ends_s[place - 1] if place else 0.0
        return elapsed_s >= begun_s + self.apart_s * self._rank(entry, number, place)

    def must_go(self, entry: str, number: int, elapsed_s: float) -> bool:
        """Whether a stage is on that has no place for the agent of this number."""
        place = self._place(elapsed_s)
        return place is not None and number >= self.stages[place].agents.get(entry, 0)

    def _place(self, elapsed_s: float) -> int | None:
        if elapsed_s < 0:
            return None
        return next((place for place, end_s in enumerate(self.ends_s) if elapsed_s < end_s), None)

    def _rank(self, entry: str, number: int, place: int) -> int:
        """How many come in before it in this stage; 0 for one that was there already."""
        before = self.stages[place - 1].agents if place else {}
        if number < before.get(entry, 0):
            return 0
        earlier = itertools.takewhile(lambda pair: pair[0] != entry, self.stages[place].agents.items())
        added = sum(max(0, agents - before.get(other, 0)) for other, agents in earlier)
        return added + number - before.get(entry, 0)


def numbered(agent: str) -> tuple[str, int]:
    """The entry and the number in an agent's name, `fixers/1.3`; raises ValueError where it has none."""
    entry, _, rest = agent.rpartition("/")
    return entry, int(rest.rpartition(".")[2])


def leaving(plan: Plan | None, agents: Iterable[str], elapsed_s: float) -> int:
    """How many of these agents, each with a turn open, may start no other in this stage."""
    if plan is None:
        return 0
    return sum(plan.must_go(*numbered(agent), elapsed_s) for agent in set(agents))


def missing(wanted: Mapping[str, int], numbers: Mapping[str, Sequence[int]]) -> int:
    """How many of the agents that are wanted nobody is, by the numbers that are taken of each entry."""
    return sum(agents - sum(number < agents for number in numbers.get(entry, ())) for entry, agents in wanted.items())
