"""One request as it is sent: parts that requests share with one another, joined only on their way out."""

import json
from dataclasses import dataclass
from typing import Any

from locust_agents.prompts import conversation, messages
from locust_agents.prompts.conversation import Preamble

CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"


@dataclass(frozen=True, slots=True)
class Request:
    """`parts` are the head and a part for each message, or a completion as a whole; `tail` ends the body.

    `changes` are words for what was changed on purpose of what the request before had sent.
    """

    preamble: Preamble
    parts: tuple[bytes, ...]
    tail: bytes
    path: str = CHAT
    changes: tuple[str, ...] = ()

    def body(self) -> bytes:
        """The bytes to send."""
        return conversation.body(self.parts, self.tail)


def chat(
    preamble: Preamble,
    parts: tuple[bytes, ...],
    limit: tuple[str, int | None],
    thinking: bool | None = None,
    changes: tuple[str, ...] = (),
) -> Request:
    """A request for the next message; `limit` is the field for the answer's length and its value, None: not sent."""
    kwargs = None if thinking is None else {"enable_thinking": thinking}
    tail = conversation.closing(None, **dict([limit]), chat_template_kwargs=kwargs)
    return Request(preamble, parts, tail, CHAT, changes)


def question(name: str, model: str, text: str, max_tokens: int, **parameters: Any) -> Request:
    """A streamed request of one message of the user's, behind a preamble of this name: no system text, no tools."""
    start = conversation.preamble(name, model, None, (), parameters)
    return chat(start, (start.head, messages.user(text)), ("max_tokens", max_tokens))


def completion(preamble: Preamble, prompt: str, max_tokens: int | None) -> Request:
    """A request to go on with a text, with the parameters of the preamble's product."""
    fields = conversation.parameters(preamble)
    values = {"model": fields.pop("model"), "prompt": prompt, **fields}
    if max_tokens is not None:
        values["max_tokens"] = max_tokens
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    return Request(preamble, (text.encode(),), b"", COMPLETIONS)
