"""Puts the pieces of streamed tool calls together."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from locust_agents.deltas import ToolDelta


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
            return not self.name or not isinstance(json.loads(self.arguments or "{}"), dict)
        except (ValueError, RecursionError):
            return True


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
