"""Decides which messages a history holds: what was said, what was heard, and what of it is taken out again."""

from collections.abc import Sequence

from locust_agents.answers.stream import ToolCall
from locust_agents.plugins.api import Say
from locust_agents.prompts import messages, open_calls, shortening
from locust_agents.prompts.messages import ReasoningReplay
from locust_agents.prompts.voice import Voice


class History:
    """One agent's `messages` as bytes; those that did not change between two requests are the same objects."""

    def __init__(self, voice: Voice) -> None:
        self.messages: list[bytes] = []
        self._voice = voice
        self._unanswered: tuple[ToolCall, ...] = ()
        # how many messages there were when the last turn's question began, and when its answer did
        self._asked = self._answered = 0
        self._planted = ""

    def plant(self, text: str) -> None:
        """Puts a text behind the next message that is said."""
        self._planted = text

    def say(self, says: Sequence[Say]) -> list[int]:
        """Adds the messages of a turn, open calls answered first; returns the characters of each."""
        answers, rest = open_calls.matched(self._unanswered, says)
        self._unanswered = ()
        closed = [self._add(say, len(says)) for say in answers]
        self._asked = len(self.messages)
        asked = [self._add(say, len(says)) for say in rest]
        self._answered = len(self.messages)
        return closed + asked

    def closing(self) -> list[bytes]:
        """What would answer the calls that are open."""
        answers, _ = open_calls.matched(self._unanswered, ())
        return [messages.tool(say.answers.id, say.text) for say in answers if say.answers is not None]

    def hear(self, text: str, calls: tuple[ToolCall, ...], reasoning: str, replay: ReasoningReplay) -> None:
        """Adds an answer; one of nothing at all leaves no message."""
        if text or calls:
            self.messages.append(messages.assistant(text, calls, reasoning, replay))
        self._unanswered = calls

    def take_back(self) -> None:
        """Forgets the last answer."""
        del self.messages[self._answered :]
        self._unanswered = ()

    def unask(self) -> None:
        """Forgets the last question and its answer; results of calls stay."""
        del self.messages[self._asked :]
        self._settle()

    def shorten(self, summary: str, keep_tokens: float, tokens_per_char: float) -> None:
        """Leaves a summary, and what came last before it was asked for, from a user message on."""
        kept = shortening.last(self.messages[: self._asked], keep_tokens, tokens_per_char)
        self.messages = [messages.user(summary), *kept]
        self._settle()

    def reopen(self) -> bool:
        """Gives it another first line; False where there is none."""
        if self.messages:
            self.messages[0] = messages.with_first_line(self.messages[0], *self._voice.reopened())
        return bool(self.messages)

    def _settle(self) -> None:
        self._unanswered = ()
        self._answered = len(self.messages)

    def _add(self, say: Say, of_turn: int) -> int:
        text = self._voice.text(say, of_turn, not self.messages) + self._planted
        self._planted = ""
        self.messages.append(messages.user(text) if say.answers is None else messages.tool(say.answers.id, text))
        return len(text)
