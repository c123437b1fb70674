"""How a swarm breaks its own prompt prefix on purpose, or keeps a product from doing it."""

import random
from dataclasses import dataclass
from typing import Literal, get_args

from locust_agents.prompts.conversation import Preamble

Kind = Literal["head_hash", "date_tail", "tools_change", "moving_reminder", "file_refresh", "none"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_IN_A_SLOT = ("head_hash", "date_tail", "tools_change")


@dataclass(frozen=True, slots=True)
class PrefixBreak:
    """What changes of the bytes that were sent before, in a turn drawn with `probability`, 0 to 1.

    `head_hash`: the first line of the system prompt; `date_tail`: a line near its end; `tools_change`: a tool's
    description; `moving_reminder`: the last user message has a text in this request that it loses in the next one;
    `file_refresh`: a file before the history. `none`: nothing, nor what the product itself changes in each request.
    """

    kind: Kind
    probability: float = 1.0

    def drawn(self, rng: random.Random) -> bool:
        """Whether this turn is one of those."""
        return self.kind != "none" and rng.random() < self.probability

    def has_place(self, preamble: Preamble) -> bool:
        """Whether there is something to change: a prompt without tools, or of few words, has no place for it."""
        return self.kind not in _IN_A_SLOT or any(slot.breaks == self.kind for slot in preamble.slots)
