"""The forms of a chat message, each serialised once to the bytes that every later request repeats."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from locust_agents.answers.stream import ToolCall

# Which field, if any, carries the model's reasoning back to the server; clients differ.
ReasoningReplay = Literal["none", "reasoning", "reasoning_content", "both"]

# What `user` puts around a text.
_USER, _END = b'{"role":"user","content":"', b'"}'


def system(text: str) -> bytes:
    """The first message of every request."""
    return encoded({"role": "system", "content": text})


def user(text: str) -> bytes:
    """What the human, or a harness in the human's name, says."""
    return encoded({"role": "user", "content": text})


def is_user(message: bytes) -> bool:
    """Whether `user` made it."""
    return message.startswith(_USER)


def with_end(message: bytes, text: str) -> bytes:
    """The same message of the user's with more text at its end."""
    return message[: -len(_END)] + _inside(text) + _END


def with_first_line(message: bytes, old: str, new: str) -> bytes:
    """The same message of the user's with another first line; where it does not begin with the old one, with one more.

    A line here is everything up to a line end that is not part of it.
    """
    begun = _USER + _inside(old)
    rest = message[len(begun) :] if old and message.startswith(begun) else _inside("\n") + message[len(_USER) :]
    return _USER + _inside(new) + rest


def texts(said: Sequence[bytes]) -> str:
    """A history as one text, as a client shows it to a model that is to summarise it."""
    return "\n\n".join(_told(json.loads(message)) for message in said)


def assistant(
    content: str | None,
    tool_calls: Sequence[ToolCall] = (),
    reasoning: str | None = None,
    replay: ReasoningReplay = "none",
) -> bytes:
    """The model's answer as it is sent back: null content beside tool calls, never an empty list of calls."""
    message: dict[str, Any] = {"role": "assistant", "content": content or None if tool_calls else content or ""}
    if reasoning and replay in ("reasoning", "both"):
        message["reasoning"] = reasoning
    if reasoning and replay in ("reasoning_content", "both"):
        message["reasoning_content"] = reasoning
    if tool_calls:
        message["tool_calls"] = [_call(call) for call in tool_calls]
    return encoded(message)


def tool(call_id: str, content: str) -> bytes:
    """The result of one tool call."""
    return encoded({"role": "tool", "tool_call_id": call_id, "content": content})


def _call(call: ToolCall) -> dict[str, Any]:
    # Arguments that are no JSON object make the server answer 404; real clients replace them too.
    arguments = "{}" if call.is_bad else call.arguments or "{}"
    return {"id": call.id, "type": "function", "function": {"name": call.name or "invalid", "arguments": arguments}}


def _told(message: Mapping[str, Any]) -> str:
    calls = [call["function"] for call in message.get("tool_calls", ())]
    said = [message["content"] or "", *(f"{call['name']}({call['arguments']})" for call in calls)]
    return f"{message['role']}: " + "\n".join(text for text in said if text)


def _inside(text: str) -> bytes:
    return encoded({"": text})[len(b'{"":"') : -len(_END)]


def encoded(message: Mapping[str, Any]) -> bytes:
    """One message as the bytes that are sent."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:  # a server may cut an answer between the halves of a surrogate pair
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
