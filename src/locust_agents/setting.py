"""What the figures of a run must know beside its records: when its load began, what was warm-up, what was due when."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from locust_agents import arrival
from locust_agents.scenarios.model import Scenario

LOAD, DRAIN = "load", "drain"
"""The lines of cluster.jsonl that say when turns could start, and when none could any more."""


@dataclass(frozen=True, slots=True)
class Setting:
    """`began` and `until` in UNIX seconds, None where nobody knows: then the first turn began it, the last ended it.

    At most one of `warm_up_s` and `warm_up_turns` is set. `due` are the seconds since `began` at which sessions should
    have started, by entry, where the run did not end by a count; `clocked` are all entries with a clock. `is_cold`
    where nothing was to be in the prompt cache.
    `twins` has, by entry, the one whose draws its agents repeat.
    """

    began: float | None = None
    until: float | None = None
    warm_up_s: float | None = None
    warm_up_turns: int | None = None
    due: Mapping[str, Sequence[float]] = field(default_factory=dict)
    is_cold: bool = False
    clocked: frozenset[str] = frozenset()
    twins: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, scenario: Scenario, began: float | None, until: float | None) -> Self:
        """That of a run of this scenario; after the last of its stages nothing could start, whenever that was seen."""
        warm_up = scenario.warm_up
        if scenario.stages is not None and scenario.load_s is not None and began is not None and until is not None:
            until = min(until, began + scenario.load_s)
        lasted_s = None if began is None or until is None else until - began
        return cls(
            began,
            until,
            None if warm_up is None else warm_up.for_s,
            None if warm_up is None else warm_up.turns,
            {} if lasted_s is None else _due(scenario, lasted_s),
            scenario.cache == "cold",
            frozenset(name for name in scenario.swarm if scenario.arrival_of(name) is not None),
            {name: entry.twin_of for name, entry in scenario.swarm.items() if entry.twin_of is not None},
        )


def _due(scenario: Scenario, lasted_s: float) -> dict[str, list[float]]:
    """Of each entry with a clock. Where turns or sessions end the run, nobody waited for what was due after that."""
    found = {}
    for name, entry in scenario.swarm.items():
        clock = scenario.arrival_of(name)
        if clock is None or scenario.turns is not None or scenario.sessions is not None:
            continue
        seed, after_s = arrival.seed_of(scenario.seed, scenario.drawn_as(name)), entry.after_s
        found[name] = [after_s + due_s for due_s in arrival.due_until(clock, seed, lasted_s - after_s)]
    return found
