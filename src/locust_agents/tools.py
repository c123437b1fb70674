"""A tool list of a wanted size: a profile's tool names around our own filler, as the API wants it."""

import random
from collections.abc import Sequence
from typing import Any

from locust_agents import filler

# What a tool's JSON takes before its description says anything; below it, fewer tools are sent.
_BARE_CHARS = 190


def build(names: Sequence[str], chars: int, nonce: str) -> list[dict[str, Any]]:
    """Tools of about `chars` characters of JSON in all; the first names where there is no room for every one.

    The nonce opens the first description: templates that render tools before the system text must stay cold too.
    """
    if not names or chars <= 0:
        return []
    kept = names[: max(1, min(len(names), chars // _BARE_CHARS))]
    room = max(0, chars // len(kept) - _BARE_CHARS)
    rng = random.Random(f"tools of {' '.join(names)}")
    return [_tool(name, nonce if name == kept[0] else "", filler.text(room, rng)) for name in kept]


def _tool(name: str, nonce: str, text: str) -> dict[str, Any]:
    description = f"{nonce} {text}".strip() or name
    parameter = {"type": "string", "description": "what it works on"}
    parameters = {"type": "object", "properties": {"filePath": parameter}, "required": ["filePath"]}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}
