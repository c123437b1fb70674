"""What one `data:` payload of a streamed answer says, or a whole answer, whichever server of this API wrote it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from locust_agents.errors import ProtocolError

Channel = Literal["content", "reasoning", "tool_call"]

_LONGEST_ERROR = 500
# json.loads guesses the encoding of bytes each time; events are UTF-8 by their standard.
_DECODER = json.JSONDecoder()
_NAMES = {"delta": "an event", "message": "a body"}


@dataclass(frozen=True, slots=True)
class ToolDelta:
    """A piece of a tool call: which call it belongs to, and what it adds."""

    index: int
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as the server gives them; None where it says nothing."""

    prompt_tokens: int | None
    cached_tokens: int | None
    completion_tokens: int | None


class Delta(NamedTuple):
    """The parts of one payload that anybody here looks at; empty where absent."""

    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolDelta, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    error: str | None = None

    @property
    def channel(self) -> Channel | None:
        """What kind of token this is, None for a role-only or an empty delta."""
        if self.tool_calls:
            return "tool_call"
        if self.content:
            return "content"
        return "reasoning" if self.reasoning else None


def parse(data: bytes | str, part: Literal["delta", "message"] = "delta") -> Delta:
    """Reads one payload, or the body of an answer that is not streamed, whose choice holds a whole `message`.

    A text completion has its `text` in both. Raises ProtocolError where it is not the JSON of this API.
    """
    try:
        text = data.decode() if isinstance(data, bytes) else data
        payload = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError; nesting has a bottom
        raise ProtocolError(f"{_NAMES[part]} that is not JSON: {_excerpt(data)} ({error})") from None
    try:
        return _delta(payload, part)
    except (AttributeError, TypeError, LookupError, ValueError, OverflowError):
        raise ProtocolError(f"{_NAMES[part]} of an unknown form: {_excerpt(data)}") from None


def error_text(error: Any) -> str:
    """The words, in one line, of an `error` value: servers send a string, or an object with a message."""
    words = str(error.get("message") or json.dumps(error)) if isinstance(error, Mapping) else str(error)
    return " ".join(words[:_LONGEST_ERROR].split()) or "an error without words"


def _delta(payload: Mapping[str, Any], part: str) -> Delta:
    if payload.get("error"):
        return Delta(error=error_text(payload["error"]))
    usage = _usage(payload.get("usage"))
    choices = payload.get("choices")
    if not choices:
        if usage is None and choices != []:
            raise ValueError("neither choices nor usage nor error")
        return Delta(usage=usage)
    choice = choices[0]
    delta = choice.get(part) or {}
    return Delta(
        content=_text(delta.get("content", choice.get("text"))),
        reasoning=_text(delta.get("reasoning") or delta.get("reasoning_content")),
        tool_calls=_tool_deltas(calls) if (calls := delta.get("tool_calls")) else (),
        finish_reason=_text(choice.get("finish_reason")) or None,
        usage=usage,
    )


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    raise TypeError(f"text expected, got {value!r}")


def _tool_deltas(calls: Sequence[Mapping[str, Any]]) -> tuple[ToolDelta, ...]:
    deltas = (_tool_delta(place, call) for place, call in enumerate(calls))
    return tuple(delta for delta in deltas if delta.id or delta.name or delta.arguments)


def _tool_delta(place: int, call: Mapping[str, Any]) -> ToolDelta:
    function = call.get("function") or {}
    index = _count(call.get("index"))
    return ToolDelta(
        place if index is None else index, _text(call.get("id")), _text(function.get("name")), _arguments(function)
    )


def _arguments(function: Mapping[str, Any]) -> str:
    arguments = function.get("arguments")
    return json.dumps(arguments) if isinstance(arguments, Mapping) else _text(arguments)


def _usage(usage: Mapping[str, Any] | None) -> Usage | None:
    if not usage:
        return None
    details = usage.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens", usage.get("cached_tokens"))
    return Usage(_count(usage.get("prompt_tokens")), _count(cached), _count(usage.get("completion_tokens")))


def _count(value: Any) -> int | None:
    """A whole number; None where there is none, or a negative one, which says the same."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise TypeError(f"a whole number expected, got {value!r}")
    return int(value) if value >= 0 else None


def _excerpt(data: bytes | str) -> str:
    shown = data[:80]
    return repr(shown) + ("…" if len(data) > len(shown) else "")
