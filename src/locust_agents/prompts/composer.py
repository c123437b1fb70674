"""Decides what stands around a history in each request, and what of it changes from one request to the next."""

import random
from collections.abc import Sequence

from locust_agents.plugins.api import Agent, Document
from locust_agents.profile import Profile
from locust_agents.prompts import messages
from locust_agents.prompts.conversation import Preamble
from locust_agents.prompts.documents import Shelf
from locust_agents.prompts.sizing import Sizer
from locust_agents.prompts.style import Style
from locust_agents.prompts.voice import Voice
from locust_agents.prompts.volatile import Start


class Composer:
    """Puts the requests of one history together: its head, files, messages, and a reminder at the last of the user's.

    Breaks are drawn beside the texts and the behaviour's own plan: both stay the same whatever breaks.
    """

    def __init__(
        self, profile: Profile, preamble: Preamble, style: Style, sizer: Sizer, voice: Voice, agent: Agent
    ) -> None:
        self._prefix = style.prefix
        self._start = Start(preamble, agent, style.prefix is not None and style.prefix.kind == "none")
        self._shelf = Shelf(f"{agent.seed} files {agent.session}", style.scale, sizer)
        self._voice = voice
        self._rng = random.Random(f"{agent.seed} breaks")
        self._reminds = self._always_reminds = profile.reminder_tokens > 0
        self._reminded = (b"", b"")
        self._changes: list[str] = []

    @property
    def preamble(self) -> Preamble:
        """The start of the last request, of the first one before there is any."""
        return self._start.preamble

    @property
    def is_bare(self) -> bool:
        """Nothing stands between the preamble and the history, or behind it."""
        return not self._shelf.messages and not self._reminds

    def show(self, documents: Sequence[Document]) -> None:
        """Files to stand before the history from now on."""
        self._changes += self._shelf.show(documents)

    def note(self, change: str) -> None:
        """Something was changed that the next request shows."""
        self._changes.append(change)

    def renew(self) -> None:
        """Gives the files other texts."""
        self._shelf.renew()

    def vary(self) -> tuple[str, ...]:
        """Changes what the next request changes; says what was changed since the last one."""
        kind = self._prefix.kind if self._prefix and self._prefix.drawn(self._rng) else None
        if kind == "file_refresh":
            self._changes += self._shelf.edit(self._rng)
        had_reminder, self._reminds = self._reminds, self._always_reminds or kind == "moving_reminder"
        if had_reminder and not self._reminds:
            self._changes.append("the reminder is gone")
        self._changes += self._start.next_request(kind)
        changes, self._changes = tuple(self._changes), []
        return changes

    def parts(self, history: Sequence[bytes]) -> tuple[bytes, ...]:
        """The head and the messages of a request; equal parts of two requests are one object."""
        said = self._with_reminder(history) if self._reminds else history
        return (self._start.preamble.head, *self._shelf.messages, *said)

    def _with_reminder(self, history: Sequence[bytes]) -> Sequence[bytes]:
        place = next((place for place in reversed(range(len(history))) if messages.is_user(history[place])), None)
        if place is None:
            return history
        if self._reminded[0] is not history[place]:
            self._reminded = (history[place], messages.with_end(history[place], self._voice.reminder))
        return [*history[:place], self._reminded[1], *history[place + 1 :]]
