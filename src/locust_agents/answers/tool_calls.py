"""Puts the pieces of streamed tool calls together, and says what is wrong with a call."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from locust_agents.answers import tool_schema
from locust_agents.answers.deltas import ToolDelta

Fault = Literal["not_json", "unknown_tool", "broken_schema"]


@dataclass(slots=True)
class ToolCall:
    """A tool call as the stream builds it up; `arguments` is the model's own text, meant to be JSON."""

    id: str = ""
    name: str = ""
    arguments: str = ""

    @property
    def is_bad(self) -> bool:
        """Without a name, or with arguments that are not a JSON object."""
        try:
            return not self.name or not isinstance(_parsed(self), dict)
        except (ValueError, RecursionError):
            return True


def checked(calls: Sequence[ToolCall], tools: Sequence[Mapping[str, Any]]) -> Mapping[Fault, int]:
    """How many calls have which fault, against the `tools` of the request; the first that applies to each call.

    `not_json`: arguments that no client can parse; `unknown_tool`: a name that was not offered; `broken_schema`:
    arguments that the tool's own JSON Schema forbids.
    """
    schemas = {tool["function"]["name"]: tool["function"].get("parameters", {}) for tool in tools}
    return Counter(fault for call in calls if (fault := _fault(call, schemas)) is not None)


def _fault(call: ToolCall, schemas: Mapping[str, Mapping[str, Any]]) -> Fault | None:
    try:
        arguments = _parsed(call)
    except (ValueError, RecursionError):
        return "not_json"
    schema = schemas.get(call.name)
    if schema is None:
        return "unknown_tool"
    return None if tool_schema.allows({"type": "object", **schema}, arguments) else "broken_schema"


def _parsed(call: ToolCall) -> Any:
    """What JavaScript's parser makes of the arguments, too: Python's alone takes NaN. Raises ValueError."""
    return json.loads(call.arguments or "{}", parse_constant=_refuse)


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def add(calls: dict[int, ToolCall], delta: ToolDelta) -> None:
    """Puts a piece where it belongs; a call that is not known yet is begun."""
    call = calls.setdefault(_place(calls, delta), ToolCall())
    call.id = call.id or delta.id
    call.name = call.name or delta.name
    call.arguments += delta.arguments


def _place(calls: Mapping[int, ToolCall], delta: ToolDelta) -> int:
    """The call that a piece belongs to: servers that give no index, or always 0, still give each call its id."""
    there = calls.get(delta.index)
    if there is None or not delta.id or not there.id or there.id == delta.id:
        return delta.index
    return next((place for place, call in calls.items() if call.id == delta.id), max(calls) + 1)
