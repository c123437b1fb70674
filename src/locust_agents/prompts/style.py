"""Decides what is the same for all turns of an entry, and what a role of its agents changes of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from locust_agents.profile import Profile
from locust_agents.prompts.conversation import Preamble
from locust_agents.prompts.prefix_break import PrefixBreak


@dataclass(frozen=True, slots=True)
class Style:
    """What an entry says and how. `scale` multiplies every size that a behaviour names.

    `thinking` is sent to the model's template, None leaves it to the server. `role_preambles` gives the preamble of a
    role that a behaviour names; without it all agents have the same.
    """

    profile: Profile
    preamble: Preamble
    scale: float = 1.0
    replies: Literal["live", "scripted"] = "live"
    outputs: Literal["live", "drawn"] = "live"
    prefix: PrefixBreak | None = None
    thinking: bool | None = None
    role_preambles: Callable[[str], Preamble] | None = None

    def of(self, role: str | None) -> tuple[Profile, Preamble]:
        """The profile and the preamble of agents in this role."""
        if role is None or self.role_preambles is None:
            return self.profile, self.preamble
        return self.profile.in_role(role), self.role_preambles(role)
