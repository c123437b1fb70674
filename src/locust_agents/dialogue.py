"""One agent's history as turns change it: what is said, what was heard, and what the cache should hold of it."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from locust_agents import draws, expected, filler, messages
from locust_agents.conversation import Conversation, Preamble, closing
from locust_agents.outcome import Outcome
from locust_agents.plugins.api import Agent, Reply, Say
from locust_agents.profile import Profile
from locust_agents.sizing import Sizer
from locust_agents.stream import Answer, ToolCall


@dataclass(frozen=True, slots=True)
class Style:
    """What is the same for all turns of an entry. `scale` multiplies every size that a behaviour names."""

    profile: Profile
    preamble: Preamble
    scale: float = 1.0
    replies: Literal["live", "scripted"] = "live"
    outputs: Literal["live", "drawn"] = "live"


class Dialogue:
    """The history of one agent, and the tokens of it that were computed before."""

    def __init__(self, agent: Agent, style: Style, sizer: Sizer) -> None:
        self.agent = agent
        self.turns = 0
        self.continued_tokens: int | None = None
        self._style = style
        self._sizer = sizer
        self._conversation = Conversation(style.preamble)
        self._filler = random.Random(f"{agent.seed} text {agent.session}")
        self._unanswered: tuple[ToolCall, ...] = ()
        self._asked = 0
        self._answer_tokens: int | None = None
        self._is_counted = True
        self._said_chars = 0
        self._said_messages = 0

    def say(self, says: Sequence[Say]) -> None:
        """Adds the messages of a turn; calls that nobody answers are answered first, as real clients do.

        What answers no open call (it was answered before, or compacted away) is said as the user.
        """
        self._said_chars = self._said_messages = 0
        answers, rest = self._sorted(says)
        for say in answers:
            self._add(say, len(says))
        self._asked = len(self._conversation.messages)
        for say in rest:
            self._add(say, len(says))

    @property
    def preamble(self) -> Preamble:
        """The start that every request of this history has."""
        return self._style.preamble

    def body(self, max_tokens: int | None) -> bytes:
        """The bytes of the next request; `max_tokens` None leaves it to the server."""
        return self._conversation.body(closing(max_tokens))

    def max_tokens(self, wanted: int | None) -> int | None:
        """The limit to send: the turn's own, the drawn size of the answer, or the profile's."""
        if wanted is not None:
            return wanted
        if self._style.outputs == "live":
            return self._style.profile.max_tokens
        self._answer_tokens = self._drawn_tokens()
        return self._answer_tokens

    def hear(self, answer: Answer, outcome: Outcome, first_token_s: float | None) -> Reply:
        """Takes the last attempt's answer into the history and says what the behaviour gets."""
        self.turns += 1
        usage = answer.usage
        if usage is not None and usage.prompt_tokens:
            self._learn(usage.prompt_tokens)
        if usage is not None:  # it comes last: the prefill has ended
            live = self._style.replies == "live" and outcome is Outcome.OK
            self.continued_tokens = expected.continued(usage.prompt_tokens, usage.completion_tokens, live)
        tokens = None if usage is None else usage.completion_tokens
        text, calls = self._kept(answer, outcome)
        # What a turn left behind without a count, or a template may drop (reasoning), would spoil the next one's.
        self._is_counted = usage is not None and not answer.reasoning and (outcome is Outcome.OK or not text)
        return Reply(text, calls, outcome, tokens, first_token_s)

    def compacted(self, keep_tokens: float, summary: str) -> None:
        """Replaces the history by a summary and what came last before it was asked for, from a user message on."""
        kept = self._last(self._conversation.messages[: self._asked], keep_tokens * self._style.scale)
        self._conversation = Conversation(self.preamble, [messages.user(summary), *kept])
        self._unanswered = ()
        self.continued_tokens = None

    def unasked(self) -> None:
        """Takes the last turn out again: a summary that did not come leaves the history as it was."""
        self._conversation = Conversation(self.preamble, self._conversation.messages[: self._asked])
        self._unanswered = ()

    def summary(self, text: str, tokens: float) -> str:
        """The summary to keep: the model's own words, or filler of its size where replies are scripted or empty."""
        if text and self._style.replies == "live":
            return text
        return filler.text(self._sizer.chars(tokens * self._style.scale), self._filler)

    def _sorted(self, says: Sequence[Say]) -> tuple[list[Say], list[Say]]:
        """The answers to every open call, in the order of the calls; and the rest."""
        given = {say.answers.id: say for say in says if say.answers is not None}
        default = Say("The call was not run.")
        answers = [replace(given.get(call.id, default), answers=call) for call in self._unanswered]
        opened = {call.id for call in self._unanswered}
        self._unanswered = ()
        strays = (say for say in says if say.answers is None or say.answers.id not in opened)
        return answers, [replace(say, answers=None) for say in strays]

    def _add(self, say: Say, of_turn: int) -> None:
        text = self._text(say, of_turn)
        self._said_chars += len(text)
        self._said_messages += 1
        message = messages.user(text) if say.answers is None else messages.tool(say.answers.id, text)
        self._conversation.append(message)

    def _text(self, say: Say, messages_of_turn: int) -> str:
        if say.tokens is None:
            return self._opening() + say.text
        tokens = say.tokens
        cap = self._style.profile.tool_result_cap_tokens
        if say.answers is not None and cap is not None:
            tokens = min(tokens, cap)
        opening = self._opening()
        room = self._sizer.chars(tokens * self._style.scale, len(opening), messages_of_turn)
        said = _fitting(say.text, room)
        return opening + filler.text(room - len(said), self._filler) + said

    def _opening(self) -> str:
        """Sets a session apart from its first message on, however small that is: no prefix is shared by accident."""
        return filler.words(4, self._filler) + "\n" if not self._conversation.messages else ""

    def _kept(self, answer: Answer, outcome: Outcome) -> tuple[str, tuple[ToolCall, ...]]:
        text = "".join(answer.content)
        if self._style.replies == "scripted":
            # half an answer of the model's depends on when it broke off; the script must not
            return self._scripted() if outcome is Outcome.OK else (text, ())
        # A call that came in full or not at all: only an answer that ended properly has whole ones.
        calls = tuple(answer.tool_calls.values()) if outcome is Outcome.OK else ()
        if text or calls:
            reasoning = "".join(answer.reasoning)
            replay = self._style.profile.reasoning_replay
            self._conversation.append(messages.assistant(text, calls, reasoning, replay))
        self._unanswered = calls
        return text, calls

    def _scripted(self) -> tuple[str, tuple[ToolCall, ...]]:
        tokens = self._answer_tokens or self._drawn_tokens()  # with drawn outputs, what was asked of the model
        text = filler.text(self._sizer.chars(tokens), self._filler)
        name = self._style.profile.tools[0] if self._style.profile.tools else ""
        call = ToolCall(f"call_{self.agent.session}_{self.turns}", name, '{"filePath": "src/app.py"}')
        calls = (call,) if name else ()
        self._conversation.append(messages.assistant(text, calls))
        self._unanswered = calls
        return text, calls

    def _drawn_tokens(self) -> int:
        return max(1, round(draws.draw(draws.TOOL_CALL, self._filler) * self._style.scale))

    def _learn(self, prompt_tokens: int) -> None:
        if self.turns > 1 and self._style.replies == "scripted":
            return  # what the script said lies between, and was not counted
        if not self._is_counted:
            return
        before = self.preamble.tokens if self.turns == 1 else self.continued_tokens
        if before is not None and prompt_tokens > before:
            self._sizer.learn(self._said_chars, self._said_messages, prompt_tokens - before)

    def _last(self, history: Sequence[bytes], tokens: float) -> Sequence[bytes]:
        left = tokens
        kept = 0
        for place, message in enumerate(reversed(history), start=1):
            left -= len(message) * self._sizer.tokens_per_char
            if left < 0:
                break
            if message.startswith(b'{"role":"user"'):
                kept = place
        return history[len(history) - kept :]


def _fitting(text: str, chars: float) -> str:
    """The text, or as many of its first words as there is room for: at small scales a sentence is more than a turn."""
    if len(text) <= chars:
        return text
    kept, _, _ = text[: int(chars) + 1].rpartition(" ")
    return kept
