"""A request as bytes: a head that all agents of a profile share, messages that are never serialised twice, an end."""

import functools
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from locust_agents.prompts import filler, messages, slots
from locust_agents.prompts.slots import Slot

# Parameters that no server takes without tools.
OF_TOOLS = ("tools", "tool_choice", "parallel_tool_calls")
_OF_SAMPLING = frozenset(
    "temperature top_p top_k min_p seed logit_bias presence_penalty frequency_penalty repetition_penalty".split()
)


@dataclass(frozen=True, slots=True)
class Preamble:
    """The start of every request of a profile: parameters, tools, system message and examples; one object for all.

    `tokens` is what the server counts for it (system, tools and their template), from calibration; None before.
    `texts` are what stands in its `slots`, and `tools` what was sent as such, to judge calls by.
    """

    name: str
    head: bytes
    tokens: int | None = None
    slots: tuple[Slot, ...] = ()
    texts: tuple[str, ...] = ()
    nonce: str = ""
    tools: Sequence[Mapping[str, Any]] = field(default=(), compare=False, repr=False)

    @property
    def starts(self) -> tuple[tuple[str, int | None], ...]:
        """The prefixes that others may share, each a name and its tokens, the whole preamble last.

        One ends before each slot; its tokens are estimated for templates that write the system text before the tools.
        """
        base = self.name.partition(" [")[0]
        parts = [
            (f"{base} [{' '.join(self.texts[:number])} …", self._tokens(slot.before))
            for number, slot in enumerate(self.slots)
        ]
        return (*parts, (self.name, self.tokens))

    def _tokens(self, share: float) -> int | None:
        return None if self.tokens is None else int(self.tokens * share)


def preamble(
    name: str,
    model: str,
    system_text: str | None,
    tools: Sequence[Mapping[str, Any]],
    parameters: Mapping[str, Any],
    tokens: int | None = None,
    *,
    examples: Sequence[bytes] = (),
    stream: bool = True,
    include_usage: bool = True,
    nonce: str = "",
) -> Preamble:
    """Builds the shared start. What may differ between turns (max_tokens) goes behind the messages, not here.

    Usage is asked for or `stream_options` is left out: mlx_lm.server ends a stream whose options lack the key.
    """
    options = {"stream_options": {"include_usage": True}} if stream and include_usage else {}
    fields: dict[str, Any] = {"model": model, "stream": stream, **options, **parameters}
    if tools:
        fields["tools"] = list(tools)
    first = [] if system_text is None else [messages.system(system_text)]
    return Preamble(name, _opened(fields) + b",".join((*first, *examples)), tokens, nonce=nonce, tools=tools)


def filled(preamble: Preamble, texts: tuple[str, ...]) -> Preamble:
    """The preamble with these texts in its slots; agents with the same texts share one object."""
    return preamble if texts == preamble.texts else _filled(preamble, texts)


@functools.lru_cache(maxsize=64)
def _filled(preamble: Preamble, texts: tuple[str, ...]) -> Preamble:
    head = slots.written(preamble.head, preamble.slots, texts)
    return replace(preamble, name=f"{preamble.name} [{' '.join(texts)}]", head=head, texts=texts)


@functools.lru_cache(maxsize=64)
def greedy(preamble: Preamble) -> Preamble:
    """The same prompt, and so the same prefix in a cache, for an answer at temperature 0 that nothing is drawn for."""
    values = json.loads(preamble.head + b"]}")
    said = values.pop("messages")
    kept = {name: value for name, value in values.items() if name not in _OF_SAMPLING}
    head = _opened({**kept, "temperature": 0}) + b",".join(messages.encoded(message) for message in said)
    return replace(preamble, head=head)


@functools.lru_cache(maxsize=64)
def without_tools(preamble: Preamble) -> Preamble:
    """The same start without its tools, as some clients ask for a summary."""
    values = json.loads(preamble.head + b"]}")
    said = values.pop("messages")
    kept = {name: value for name, value in values.items() if name not in OF_TOOLS}
    head = _opened(kept) + b",".join(messages.encoded(message) for message in said)
    return Preamble(f"{preamble.name} without tools", head, nonce=preamble.nonce)


@functools.lru_cache(maxsize=64)
def instructed(preamble: Preamble, chars: int) -> Preamble:
    """Another system prompt of `chars` characters for the same model: no tools, and no prefix that a cache holds."""
    fields = parameters(preamble)
    opening = f"# summary {preamble.nonce}\n"
    text = opening + filler.text(chars - len(opening), random.Random(f"summary of {preamble.name}"))
    return Preamble(f"{preamble.name} summary", _opened(fields) + messages.system(text), nonce=preamble.nonce)


def parameters(preamble: Preamble) -> dict[str, Any]:
    """What its requests say beside messages and tools."""
    values = json.loads(preamble.head + b"]}")
    return {name: value for name, value in values.items() if name not in (*OF_TOOLS, "messages")}


def body(parts: Sequence[bytes], tail: bytes) -> bytes:
    """The request's body; `parts` are a head and messages, `tail` is what `closing` made."""
    pieces = [parts[0]]
    for message in parts[1:]:
        pieces += (b",", message)
    if len(parts) > 1 and parts[0].endswith(b"["):
        del pieces[1]
    pieces.append(tail)
    return b"".join(pieces)  # one copy: a long history has half a megabyte


def closing(max_tokens: int | None, /, **extra: Any) -> bytes:
    """The end of a body: the list of messages is closed, then come the parameters that may differ between turns."""
    fields = {"max_tokens": max_tokens, **extra}
    known = {name: value for name, value in fields.items() if value is not None}
    inside = json.dumps(known, separators=(",", ":"))[1:-1]
    return ("]," + inside + "}" if inside else "]}").encode()


def _opened(fields: Mapping[str, Any]) -> bytes:
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return (text.removesuffix("}") + ',"messages":[').encode()
