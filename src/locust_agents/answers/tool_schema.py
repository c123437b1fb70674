"""Whether arguments keep to a tool's JSON Schema, in the part of that language that tools of agents are written in."""

from collections.abc import Mapping
from typing import Any

_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
}


def allows(schema: Any, value: Any) -> bool:
    """Judges `type`, `required`, `properties`, `additionalProperties: false`, `items` and `enum`; the rest it ignores.

    So it never refuses what the whole language would allow.
    """
    if not isinstance(schema, Mapping):
        return True  # true and false are schemas too, and neither is one of a tool
    if not _is_of(schema.get("type"), value) or ("enum" in schema and value not in schema["enum"]):
        return False
    if isinstance(value, dict):
        return _allows_object(schema, value)
    if isinstance(value, list):
        return all(allows(schema.get("items"), item) for item in value)
    return True


def _allows_object(schema: Mapping[str, Any], value: Mapping[str, Any]) -> bool:
    parts = schema.get("properties", {})
    is_open = schema.get("additionalProperties") is not False or "patternProperties" in schema
    return (
        all(name in value for name in schema.get("required", ()))
        and (is_open or all(name in parts for name in value))
        and all(allows(parts.get(name), part) for name, part in value.items())
    )


def _is_of(types: Any, value: Any) -> bool:
    if types is None:
        return True
    names = [types] if isinstance(types, str) else types
    return any(_is_one(name, value) for name in names)


def _is_one(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return name == "boolean"  # in Python alone true is a number
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES.get(name, object))
