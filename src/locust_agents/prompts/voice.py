"""Decides the text of a message: what a behaviour says, in the size it asked for, with what the product puts around."""

import random

from locust_agents import draws
from locust_agents.answers.stream import ToolCall
from locust_agents.plugins.api import Agent, Say
from locust_agents.profile import Profile
from locust_agents.prompts import filler
from locust_agents.prompts.conversation import Preamble
from locust_agents.prompts.sizing import Sizer

# What a reminder takes where a profile has none and one is to move: OpenCode's and Copilot's are of this order.
_REMINDER_TOKENS = 600


class Voice:
    """Speaks for one agent: its session decides every text, `scale` multiplies every size that is asked for.

    `opening` is the first line of its history, `environment` what its client told the model of its surroundings.
    """

    def __init__(self, profile: Profile, preamble: Preamble, scale: float, sizer: Sizer, agent: Agent) -> None:
        self.opening = ""
        self.environment = ""
        self._profile = profile
        self._known = frozenset(tool["function"]["name"] for tool in preamble.tools)
        self._scale = scale
        self._sizer = sizer
        self._rng = random.Random(f"{agent.seed} text {agent.session}")
        # A twin has the same seed and another session: its answers have the same sizes, and no text is the same.
        self._sizes = random.Random(f"{agent.seed} sizes")
        self._reminder: str | None = None

    def text(self, say: Say, of_turn: int, is_first: bool) -> str:
        """One of a turn's so many messages; the first of a history opens it and tells of the client's surroundings."""
        if say.answers is not None:
            return self._result(say, say.answers, of_turn)
        opening = self._open() if is_first else ""
        own = self._filled(say, len(opening), of_turn, say.tokens)
        return opening + (self.environment if is_first else "") + own + self._plain(self._profile.each_user_tokens)

    def summary(self, tokens: float) -> str:
        """A summary of this size."""
        return filler.text(self._sizer.chars(tokens * self._scale), self._rng)

    def reopened(self) -> tuple[str, str]:
        """A new opening for the same history: the old one, and what stands there from now on."""
        old, self.opening = self.opening, filler.words(4, self._rng)
        return old, self.opening

    @property
    def reminder(self) -> str:
        """What the product ends the last user message with."""
        if self._reminder is None:
            chars = self._sizer.plain_chars((self._profile.reminder_tokens or _REMINDER_TOKENS) * self._scale)
            self._reminder = "\n" + filler.text(chars, random.Random(f"reminder of {self._profile.name}"))
        return self._reminder

    def answer(self, tokens: int | None, call: str, ends_loop: bool) -> tuple[str, tuple[ToolCall, ...]]:
        """What a script has the model say: a text, and one call, to be told by `call`, where the profile has tools.

        An answer that ends a loop calls none.
        """
        text = filler.text(self._sizer.chars(tokens or self.drawn_tokens(ends_loop)), self._rng)
        tools = () if ends_loop else self._profile.tools
        return text, (ToolCall(f"call_{call}", tools[0], '{"filePath": "src/app.py"}'),) if tools else ()

    def drawn_tokens(self, ends_loop: bool) -> int:
        """A drawn size of an answer, never nothing."""
        table = draws.FINAL_ANSWER if ends_loop else draws.TOOL_CALL
        return max(1, round(draws.draw(table, self._sizes) * self._scale))

    def _open(self) -> str:
        """Sets a session apart from its first message on, however small that is: no prefix is shared by accident."""
        self.opening = filler.words(4, self._rng)
        self.environment = self._plain(self._profile.first_user_tokens)
        return self.opening + "\n"

    def _result(self, say: Say, call: ToolCall, of_turn: int) -> str:
        if (refusal := self._refusal(call)) is not None:
            return refusal
        cap = self._profile.tool_result_cap_tokens
        tokens = say.tokens if say.tokens is None or cap is None else min(say.tokens, cap)
        return self._filled(say, 0, of_turn, tokens)

    def _refusal(self, call: ToolCall) -> str | None:
        """What a client answers to a call that it cannot run."""
        if call.is_bad:
            return "This call was not run: its arguments are not a JSON object."
        if self._known and call.name not in self._known:
            return f"This call was not run: there is no tool named {call.name}."
        return None

    def _filled(self, say: Say, before: int, of_turn: int, tokens: float | None) -> str:
        if tokens is None:
            return say.text
        room = self._sizer.chars(tokens * self._scale, before, of_turn)
        said = _fitting(say.text, room)
        return filler.text(room - len(said), self._rng) + said

    def _plain(self, tokens: int) -> str:
        return filler.text(self._sizer.plain_chars(tokens * self._scale), self._rng) if tokens else ""


def _fitting(text: str, chars: float) -> str:
    """The text, or as many of its first words as there is room for: at small scales a sentence is more than a turn."""
    if len(text) <= chars:
        return text
    kept, _, _ = text[: int(chars) + 1].rpartition(" ")
    return kept
