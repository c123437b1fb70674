"""Decides nothing: what a forecast knows of an entry and of a run, and what a session will send, as values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from locust_agents.plugins.api import Behaviour
from locust_agents.profile import Profile
from locust_agents.prompts import preambles
from locust_agents.prompts.prefix_break import PrefixBreak
from locust_agents.prompts.sizing import Calibration
from locust_agents.scenarios.course import Arrival
from locust_agents.stages import Plan

START = -1
"""Stands in `waits` for the start of the session, where the number of an earlier turn could be."""

Waits = Mapping[int, float]
"""Numbers of earlier turns (or START), each with the seconds of pause after its end; the last of them counts."""


@dataclass(frozen=True, slots=True)
class Load:
    """An entry of a swarm: what its agents do. `after_s` is when the first of them starts.

    `prefix` is what of their prompts the run changes on purpose, or keeps the product from changing; `scale` None is
    that of the run. `twin_of` is the entry whose draws its agents repeat. `arrival` is the clock on which its sessions
    start, None where an agent's next session follows its last.
    """

    entry: str
    behaviour: Behaviour
    profile: Profile
    agents: int = 1
    parameters: Mapping[str, Any] = field(default_factory=dict)
    after_s: float = 0.0
    prefix: PrefixBreak | None = None
    scale: float | None = None
    twin_of: str | None = None
    arrival: Arrival | None = None

    @property
    def drawn_as(self) -> str:
        """The entry whose draws its agents have."""
        return self.twin_of or self.entry

    def of(self, terms: "Terms") -> "Terms":
        """The run's terms as they are for this entry."""
        return terms if self.scale is None else replace(terms, scale=self.scale)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a run sets for all of its entries. `calibration` is a guess until the server's own is known.

    `answer_tokens` is the length of every answer where the model is known to give no other; None draws it.
    """

    seed: int = 1
    scale: float = 1.0
    gap_scale: float = 1.0
    gap_cap_s: float | None = None
    replies: Literal["live", "scripted"] = "live"
    outputs: Literal["live", "drawn"] = "live"
    calibration: Calibration = Calibration("")
    answer_tokens: int | None = None

    def gap_s(self, seconds: float) -> float:
        """A pause as the run makes it."""
        scaled = seconds * self.gap_scale
        return scaled if self.gap_cap_s is None else min(scaled, self.gap_cap_s)

    def preamble_tokens(self, profile: Profile) -> float:
        """The tokens of a profile's system text, examples and tools: the server's count, else the product's own."""
        measured = self.calibration.preamble_tokens.get(preambles.key(profile, self.scale))
        return preambles.wanted_tokens(profile) * self.scale if measured is None else measured


@dataclass(frozen=True, slots=True)
class Bounds:
    """When a run ends: the first of `duration_s`, `turns` of all agents and `sessions` of each; None is no bound.

    With `stages` no turn starts after the last of them, and how far `apart_s` agents come in is theirs to say.
    """

    duration_s: float | None = None
    turns: int | None = None
    sessions: int | None = None
    apart_s: float = 0.0
    drain_s: float = 0.0
    stages: Plan | None = None


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """One turn, in the server's tokens. It starts when everything in `waits` is over.

    `said_tokens` are what is new in it. `kept_tokens` are what this history's turns before left in the cache and this
    request still begins with, None where there are none: then the `shared_tokens` may be there, with which every turn
    begins that has the same name in `shared`. Who leaves on purpose does so after `leaves_after_s`.
    """

    kind: str
    prompt_tokens: int
    said_tokens: int
    kept_tokens: int | None
    answer_tokens: int
    waits: Waits
    leaves_after_s: float | None = None
    shared: str = ""
    shared_tokens: int = 0


@dataclass(frozen=True, slots=True)
class SessionPlan:
    """The turns of a session in an order that they may start in, and what its end waits for.

    `is_cut` where the session did not end within the bounds, `fault` where the behaviour raised: one line.
    """

    turns: tuple[PlannedTurn, ...]
    ends: Waits
    is_cut: bool = False
    fault: str | None = None


def joined(waits: Iterable[Waits]) -> Waits:
    """All of them; of two pauses after one turn the longer."""
    found: dict[int, float] = {}
    for some in waits:
        for number, wait_s in some.items():
            found[number] = max(wait_s, found.get(number, 0.0))
    return found
