"""Decides what stands in the slots of one history's preamble: its session's text, or this one request's."""

import random

from locust_agents.plugins.api import Agent
from locust_agents.prompts import conversation, slots
from locust_agents.prompts.conversation import Preamble
from locust_agents.prompts.slots import Slot


class Start:
    """The start of one history's requests. What a day changes stays as it is: no run is that long."""

    def __init__(self, preamble: Preamble, agent: Agent, is_quiet: bool) -> None:
        """A quiet one changes nothing from request to request, whatever the product does."""
        self._preamble = preamble
        self._texts = [_first(slot, agent) for slot in preamble.slots]
        self._rng = random.Random(f"{agent.seed} slots {agent.session}")
        self._is_quiet = is_quiet
        self.preamble = conversation.filled(preamble, tuple(self._texts))

    def next_request(self, breaks: str | None) -> list[str]:
        """Changes what each request changes, and the slot of a break on purpose; says which parts were changed."""
        changed = [
            number
            for number, slot in enumerate(self._preamble.slots)
            if (slot.changes == "request" and not self._is_quiet) or (breaks is not None and slot.breaks == breaks)
        ]
        for number in changed:
            self._texts[number] = slots.fill(self._rng)
        if changed:
            self.preamble = conversation.filled(self._preamble, tuple(self._texts))
        return [self._preamble.slots[number].part for number in changed]


def _first(slot: Slot, agent: Agent) -> str:
    """All agents of a run work in one project, on one day."""
    if slot.changes == "session":
        return slots.fill(random.Random(f"{agent.seed} session {agent.session} {slot.text}"))
    return slot.text
