"""A tool list of a wanted size: a profile's tool names around our own filler, as the API wants it."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from locust_agents.prompts import filler

# What a tool's JSON takes before its description says anything; below it, fewer tools are sent.
_BARE_CHARS = 190
# A description shorter than this has no room for a mark.
_ROOM_OF_A_MARK = 40


def build(
    names: Sequence[str], chars: int, nonce: str, marks: Mapping[float, str] | None = None
) -> list[dict[str, Any]]:
    """Tools of about `chars` characters of JSON in all; the first names where there is no room for every one.

    The nonce opens the first description: templates that render tools before the system text must stay cold too. Each
    of `marks` opens the description of the tool that its share (0 to 1) of the list falls on, where there is room.
    """
    if not names or chars <= 0:
        return []
    kept = names[: max(1, min(len(names), chars // _BARE_CHARS))]
    room = max(0, chars // len(kept) - _BARE_CHARS)
    rng = random.Random(f"tools of {' '.join(names)}")
    openings = _openings(len(kept), nonce, (marks or {}) if room >= _ROOM_OF_A_MARK else {})
    return [
        _tool(name, opening, filler.text(room - len(opening), rng))
        for name, opening in zip(kept, openings, strict=True)
    ]


def _openings(count: int, nonce: str, marks: Mapping[float, str]) -> list[str]:
    found = [[] for _ in range(count)] if not nonce else [[nonce], *([] for _ in range(count - 1))]
    for share, mark in marks.items():
        found[min(count - 1, int(share * count))].append(mark)
    return [" ".join(texts) for texts in found]


def _tool(name: str, opening: str, text: str) -> dict[str, Any]:
    description = f"{opening} {text}".strip() or name
    parameter = {"type": "string", "description": "what it works on"}
    parameters = {"type": "object", "properties": {"filePath": parameter}, "required": ["filePath"]}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}
