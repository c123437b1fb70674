"""Decides how many tokens a history has after each planned turn, as the real one would be filled and answered."""

import random
from collections.abc import Sequence

from locust_agents import draws
from locust_agents.patience import Leave
from locust_agents.plugins.api import Agent, Say
from locust_agents.profile import Profile
from locust_agents.session_plan import Terms

# The request for a summary: a sentence of some twenty words.
_SUMMARY_REQUEST_TOKENS = 20.0

_Message = tuple[float, bool]
"""Tokens, and whether the user says it."""


class History:
    """The sizes of one agent's messages. `kept_tokens` is None while no turn of it has put anything into a cache."""

    def __init__(self, agent: Agent, profile: Profile, terms: Terms) -> None:
        self.agent = agent
        self.profile = profile
        self.turns = 0
        self.prompt_tokens = terms.preamble_tokens(profile)
        self.kept_tokens: float | None = None
        self._terms = terms
        # beside the agent's own, from which the plan is drawn
        self._rng = random.Random(f"{agent.seed} answers {agent.session}")
        self._messages: list[_Message] = []
        self._asked = 0

    def say(self, says: Sequence[Say]) -> float:
        """Adds a turn's messages; returns their tokens."""
        self._asked = len(self._messages)
        return sum(self._add(self._tokens(say, len(says)), say.answers is None) for say in says)

    def ask_summary(self) -> float:
        """Adds the request for a summary; returns its tokens."""
        self._asked = len(self._messages)
        return self._add(_SUMMARY_REQUEST_TOKENS, True)

    def answer(self, limit: int | None, leave: Leave) -> int:
        """Adds the answer; returns the tokens that the server generates for it."""
        is_scripted, is_left = self._terms.replies == "scripted", leave != Leave()
        drawn = draws.draw(draws.TOOL_CALL, self._rng)
        generated = self._generated(drawn, limit)
        if leave.after_chunks is not None:
            generated = min(generated, leave.after_chunks)
        prompt = self.prompt_tokens
        self._add(self._scaled(drawn) if is_scripted and not is_left else generated, False)
        self.kept_tokens = prompt if is_scripted or is_left else self.prompt_tokens
        self.turns += 1
        return generated

    def compact(self, keep_tokens: float, summary_tokens: float) -> None:
        """Replaces the history by a summary and the last of what came before it was asked for."""
        scale = self._terms.scale
        kept = _last(self._messages[: self._asked], keep_tokens * scale)
        self._messages = [(summary_tokens * scale, True), *kept]
        self.prompt_tokens = self._terms.preamble_tokens(self.profile) + sum(tokens for tokens, _ in self._messages)
        self.kept_tokens = None

    def _add(self, tokens: float, is_user: bool) -> float:
        self._messages.append((tokens, is_user))
        self.prompt_tokens += tokens
        return tokens

    def _generated(self, drawn: float, limit: int | None) -> int:
        """What the model says, up to the turn's own limit, the drawn size or the profile's limit."""
        is_drawn = self._terms.outputs == "drawn"
        wanted = self._terms.answer_tokens or (self._scaled(drawn) if is_drawn else max(1, round(drawn)))
        if limit is None:
            limit = self._scaled(drawn) if is_drawn else self.profile.max_tokens
        return wanted if limit is None else min(wanted, limit)

    def _scaled(self, tokens: float) -> int:
        return max(1, round(tokens * self._terms.scale))

    def _tokens(self, say: Say, messages_of_turn: int) -> float:
        calibration = self._terms.calibration
        if say.tokens is None:
            return len(say.text) * calibration.tokens_per_char + calibration.message_tokens
        cap = self.profile.tool_result_cap_tokens
        tokens = say.tokens if say.answers is None or cap is None else min(say.tokens, cap)
        least = calibration.message_tokens + calibration.turn_tokens / messages_of_turn
        return max(tokens * self._terms.scale, least)


def _last(messages: Sequence[_Message], tokens: float) -> Sequence[_Message]:
    """The last of them that are no more than `tokens`, from a user message on."""
    left, kept = tokens, 0
    for place, (size, is_user) in enumerate(reversed(messages), start=1):
        left -= size
        if left < 0:
            break
        kept = place if is_user else kept
    return messages[len(messages) - kept :]
