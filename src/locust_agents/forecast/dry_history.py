"""Decides how many tokens a history has after each planned turn, and how many of them a cache would still know."""

import random

from locust_agents.forecast import dry_places, dry_sizes
from locust_agents.forecast.dry_prompt import Prompt
from locust_agents.forecast.session_plan import Load, Terms
from locust_agents.patience import Leave
from locust_agents.plugins.api import Agent, Hole, Turn
from locust_agents.profile import Compaction, Profile
from locust_agents.prompts import preambles

# The request for a summary where the profile says nothing: a sentence of some twenty words.
_SUMMARY_REQUEST_TOKENS = 20.0

Call = tuple[float, float | None, float]
"""A request's tokens, those of them that a cache knows (None: no more than any session's), and those that are new."""


class History:
    """The sizes of one agent's requests. `_kept` is None while none of them has put anything of it into a cache."""

    def __init__(self, agent: Agent, load: Load, terms: Terms) -> None:
        self.agent = agent
        self.profile: Profile = load.profile if agent.profile is None else agent.profile
        self.turns = 0
        self.shared = preambles.key(self.profile, terms.scale)
        self._load = load
        self._terms = terms
        # beside the agent's own, from which the plan is drawn
        self._rng = random.Random(f"{agent.seed} answers")
        self._breaks = random.Random(f"{agent.seed} breaks")
        self._prompt = Prompt(self.profile, terms)
        self._changing = dry_places.of_each_request(self.profile, terms, load.prefix)
        self._kept: float | None = None
        self._typed = 0.0
        self._sent = 0.0
        self._answered = 0

    @property
    def shared_tokens(self) -> float:
        """What other sessions of this profile begin with, too."""
        own = dry_places.of_each_session(self.profile, self._terms)
        return min(place for place in (self._prompt.head, own, self._changing) if place is not None)

    @property
    def due(self) -> Compaction | None:
        """The profile's rule, where the prompt that was sent last is longer than its client bears."""
        rule = self.profile.compaction
        return rule if rule is not None and self._sent > rule.trigger_tokens * self._terms.scale else None

    def say(self, turn: Turn) -> Call:
        """Adds a turn's files and messages."""
        if turn.is_fresh:
            self._kept = None
        if self._load.prefix is not None and self._load.prefix.drawn(self._breaks):
            self._prompt.touch(dry_places.of_break(self._load.prefix.kind, self._prompt, self.profile, self._terms))
        new = sum(self._prompt.show(document) for document in turn.documents)
        for say in turn.says:
            tokens = dry_sizes.message(say, len(turn.says), self.profile, self._terms)
            new += self._prompt.add(tokens, say.answers is None)
        return self._prompt.tokens, self._readable(), new

    def repeat(self) -> Call:
        """Takes the last answer out again, as the same request is sent once more."""
        self._prompt.drop(self._answered)
        return self._prompt.tokens, self._readable(), 0.0

    def answer(self, turn: Turn) -> int:
        """Adds the answer; returns the tokens that the server generates for it."""
        is_scripted, is_left = self._terms.replies == "scripted", turn.patience != Leave()
        generated, scripted = dry_sizes.answer(self._rng, turn, self.profile, self._terms)
        self.turns += 1
        self._sent, self._answered = self._prompt.tokens, self._prompt.messages
        self._prompt.add(scripted if is_scripted and not is_left else generated, False)
        if not turn.patience.in_prefill:  # else nothing of it was stored
            self._kept = self._sent if is_scripted or is_left else self._prompt.tokens
        return generated

    def fill(self, turn: Turn, hole: Hole) -> tuple[Call, int]:
        """The request for a hole, and what is generated: no history, but what stood before the cursor is known."""
        scale = self._terms.scale
        before, self._typed = self._typed, hole.prefix_tokens * scale
        known = min(before, self._typed)
        tokens = max(1.0, (hole.prefix_tokens + hole.suffix_tokens) * scale)
        return (tokens, known, tokens - known), self._generated(turn)

    def ask_summary(self, limit: int) -> tuple[Call, int]:
        """The request for a summary as the profile's client makes it, and what is generated for it."""
        self.turns += 1
        return self._summary_call(self.profile.compaction), self._generated(Turn(self.agent, (), limit))

    def compact(self, keep_tokens: float, summary_tokens: float) -> None:
        """Replaces the history by a summary and the last of what came before."""
        self._prompt.shorten(keep_tokens, summary_tokens)
        self._sent, self._answered, self._kept = 0.0, self._prompt.messages, None

    def _summary_call(self, rule: Compaction | None) -> Call:
        scale, prompt = self._terms.scale, self._prompt
        asks = _SUMMARY_REQUEST_TOKENS if rule is None else rule.instruction_tokens * scale or _SUMMARY_REQUEST_TOKENS
        if rule is None or rule.call == "same":
            return prompt.tokens + asks, self._readable(), asks
        if rule.call == "without_tools":
            prompt.touch(self.profile.system_tokens * scale)
            return prompt.tokens - self.profile.tool_tokens * scale + asks, self._readable(), asks
        return rule.system_tokens * scale + prompt.said + asks, 0.0, asks

    def _readable(self) -> float | None:
        """What of the next request a cache knows; asked once for each, when everything is said."""
        touched, self._prompt.touched = self._prompt.touched, None
        if self._kept is None:
            return None
        places = (self._kept, self._prompt.tokens, touched, self._changing)
        return min(place for place in places if place is not None)

    def _generated(self, turn: Turn) -> int:
        return dry_sizes.answer(self._rng, turn, self.profile, self._terms)[0]
