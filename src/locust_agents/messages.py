"""The forms of a chat message, each serialised once to the bytes that every later request repeats."""

import json
from collections.abc import Sequence
from typing import Any, Literal

from locust_agents.stream import ToolCall

# Which field, if any, carries the model's reasoning back to the server; clients differ.
ReasoningReplay = Literal["none", "reasoning", "reasoning_content", "both"]


def system(text: str) -> bytes:
    """The first message of every request."""
    return _bytes({"role": "system", "content": text})


def user(text: str) -> bytes:
    """What the human, or a harness in the human's name, says."""
    return _bytes({"role": "user", "content": text})


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
    return _bytes(message)


def tool(call_id: str, content: str) -> bytes:
    """The result of one tool call."""
    return _bytes({"role": "tool", "tool_call_id": call_id, "content": content})


def _call(call: ToolCall) -> dict[str, Any]:
    # Arguments that are no JSON object make the server answer 404; real clients replace them too.
    arguments = "{}" if call.is_bad else call.arguments or "{}"
    return {"id": call.id, "type": "function", "function": {"name": call.name or "invalid", "arguments": arguments}}


def _bytes(message: dict[str, Any]) -> bytes:
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:  # a server may cut an answer between the halves of a surrogate pair
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
