"""What one turn asks for, and what came of it."""

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from locust_agents.answers.stream import ToolCall
from locust_agents.outcome import Outcome
from locust_agents.patience import Leave

if TYPE_CHECKING:
    from locust_agents.plugins.agent import Agent


@dataclass(frozen=True, slots=True)
class Reply:
    """How a turn went, seen from the agent: the last attempt only.

    `tokens` are the completion tokens that the server counted, `prompt_tokens` those of the request, `first_token_s`
    the seconds from the request's last byte; None where they did not happen. With scripted replies, text and calls are
    the script's.
    """

    text: str
    tool_calls: tuple[ToolCall, ...]
    outcome: Outcome
    tokens: int | None = None
    first_token_s: float | None = None
    prompt_tokens: int | None = None

    @property
    def ok(self) -> bool:
        """The answer ended properly."""
        return self.outcome is Outcome.OK


def check_number(name: str, value: float) -> None:
    """Raises TypeError for what is no finite number, in the words of a plugin's author."""
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"{name} is a number, not {value!r}")


@dataclass(frozen=True, slots=True)
class Say:
    """One message to add: `text`, filled up with code-like lines to `tokens` (unscaled); `answers` is a tool call."""

    text: str
    tokens: float | None = None
    answers: ToolCall | None = None

    def __post_init__(self) -> None:
        """Refuses here what would raise later, in no line of the plugin's."""
        if not isinstance(self.text, str):
            raise TypeError(f"a message is text, not {self.text!r}")
        if self.tokens is not None:
            check_number("tokens", self.tokens)


@dataclass(frozen=True, slots=True)
class Document:
    """A file that stands before the history, of `tokens` (unscaled); its text changes with `version` alone."""

    name: str
    tokens: float
    version: int = 1


@dataclass(frozen=True, slots=True)
class Hole:
    """A place to fill in, for a completion model: what stands before it and behind it, in unscaled tokens."""

    prefix_tokens: float
    suffix_tokens: float


@dataclass(frozen=True, slots=True)
class Turn:
    """One request: messages to add to the agent's history, then the streamed answer. Yields a Reply.

    `documents` are put before the history, or replaced there. `is_again` sends the last request once more, `is_fresh`
    gives the history a new start, so that nothing of it is found in a cache. With a `hole` there is no history at all.
    `no_call` tells of tool results that there was no call for; None where a human speaks. `ends_loop`: the answer that
    is expected calls no tool.
    """

    agent: "Agent"
    says: tuple[Say, ...]
    answer_tokens: int | None = None
    patience: Leave = Leave()
    documents: tuple[Document, ...] = ()
    is_again: bool = False
    is_fresh: bool = False
    hole: Hole | None = None
    no_call: bool | None = None
    ends_loop: bool = False

    def leave(
        self,
        after_s: float | None = None,
        after_chunks: int | None = None,
        in_prefill: bool = False,
        after_silence_s: float | None = None,
    ) -> "Turn":
        """The same turn, abandoned at the first of these.

        So many seconds after its start; when so many chunks have come; at the first word that its prefill has begun;
        when nothing came for so long after the first token, as while a tool call is written.
        """
        patience = Leave(after_s, after_chunks, in_prefill=in_prefill, after_silence_s=after_silence_s)
        return dataclasses.replace(self, patience=patience)

    def showing(self, *documents: Document) -> "Turn":
        """The same turn with these files before the history; those of earlier turns stay."""
        return dataclasses.replace(self, documents=documents)

    def final(self) -> "Turn":
        """The same turn, whose drawn or scripted answer ends the loop: of the size that those have, with no call."""
        return dataclasses.replace(self, ends_loop=True)

    def fresh(self) -> "Turn":
        """The same turn, with nothing of its history to be found in a cache: an old session taken up again."""
        return dataclasses.replace(self, is_fresh=True)
