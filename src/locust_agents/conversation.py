"""A history that only grows: messages as bytes, behind a start that all agents of a profile share."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from locust_agents import messages


@dataclass(frozen=True, slots=True)
class Preamble:
    """The start of every request of a profile: parameters, tools and the system message, one object for all agents.

    `tokens` is what the server counts for it (system, tools and their template), from calibration; None before.
    """

    name: str
    head: bytes
    tokens: int | None = None


def preamble(
    name: str,
    model: str,
    system_text: str | None,
    tools: Sequence[Mapping[str, Any]],
    parameters: Mapping[str, Any],
    tokens: int | None = None,
) -> Preamble:
    """Builds the shared start. What may differ between turns (max_tokens) goes behind the messages, not here."""
    fields: dict[str, Any] = {"model": model, "stream": True, "stream_options": {"include_usage": True}, **parameters}
    if tools:
        fields["tools"] = list(tools)
    head = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).removesuffix("}") + ',"messages":['
    first = b"" if system_text is None else messages.system(system_text)
    return Preamble(name, head.encode() + first, tokens)


class Conversation:
    """Messages behind a preamble. Nothing is ever serialised twice, and no byte that was sent changes."""

    def __init__(self, preamble: Preamble, history: Sequence[bytes] = ()) -> None:
        self.preamble = preamble
        self.messages: list[bytes] = list(history)

    def append(self, message: bytes) -> None:
        """Adds one message at the end."""
        self.messages.append(message)

    def body(self, tail: bytes) -> bytes:
        """The request's body; `tail` is what `closing` made."""
        parts = [self.preamble.head]
        for message in self.messages:
            parts += (b",", message)
        if self.messages and parts[0].endswith(b"["):
            del parts[1]
        return b"".join((*parts, tail))  # one copy: a long history has half a megabyte


def closing(max_tokens: int | None, **extra: Any) -> bytes:
    """The end of a body: the list of messages is closed, then come the parameters that may differ between turns."""
    fields = {"max_tokens": max_tokens, **extra}
    known = {name: value for name, value in fields.items() if value is not None}
    inside = json.dumps(known, separators=(",", ":"))[1:-1]
    return ("]," + inside + "}" if inside else "]}").encode()
