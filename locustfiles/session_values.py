"""What one session is: how its entry acts, whose place it has, and what it knows from one turn to the next."""

from dataclasses import dataclass, field

from locust_agents.patience import Timeouts
from locust_agents.plugins.api import Reply
from locust_agents.prompts.dialogue import Dialogue, Style


@dataclass(frozen=True, slots=True)
class Manner:
    """How one entry's agents act: what a scenario, or a hand-written class, sets.

    No prompt of more than `cap_tokens` (as the server counts, scaled already) is sent.
    """

    entry: str
    behaviour: str
    style: Style
    timeouts: Timeouts
    gap_scale: float = 1.0
    gap_cap_s: float | None = None
    cap_tokens: float | None = None

    def gap_s(self, seconds: float) -> float:
        """A pause as this run makes it."""
        scaled = seconds * self.gap_scale
        return scaled if self.gap_cap_s is None else min(scaled, self.gap_cap_s)


class Leaves(Exception):
    """The slot was asked to go, and no turn is open: the session ends here."""


@dataclass(slots=True)
class Thread:
    """A session and its place: main (kind None), beside another, or below it; its next turn is due at `intended`.

    `is_due`: a clock said when it was to begin, and its first turn is still to come. All that keeps it waiting until
    then makes it late.
    """

    kind: str | None
    intended: float
    is_due: bool = False
    last: Reply | None = None
    dialogues: dict[int, Dialogue] = field(default_factory=dict)
    compacted: dict[int, int] = field(default_factory=dict)
