"""How each kind of single value may be written, as JSON Schema, for an editor; `units` reads what these let through."""

from collections.abc import Mapping
from typing import Any

from locust_agents.limits import KINDS, METRICS, Metric
from locust_agents.scenarios.rates import RATE_PATTERN, TURNS_PATTERN

Schema = dict[str, Any]

_NUMBER = r"\d+(\.\d*)?([eE][+-]?\d+)?"
_DURATION = rf"^ *(?=\d)({_NUMBER} *h *)?({_NUMBER} *m(?!s) *)?({_NUMBER} *s *)?({_NUMBER} *ms *)?$|^ *{_NUMBER} *$"
_SIZE = r"^ *(\d+\.?\d*|\.\d+) *([kKmMgGtT][bB]?|[bB])? *$"
_VARIABLE = r"\$\{[A-Za-z_][A-Za-z0-9_]*\}"
_WORDS = rf"^([a-z][a-z0-9_-]*\.)?(({'|'.join(KINDS)})\.)?"


def ref(name: str) -> Schema:
    """A pointer to a definition, which must stand alone."""
    return {"$ref": f"#/$defs/{name}"}


def _text(pattern: str) -> Schema:
    return {"type": "string", "pattern": pattern}


def _or_variable(*ways: Schema) -> Schema:
    return {"anyOf": [*ways, ref("variable")]}


def _limits() -> Schema:
    """Every metric by itself, for completion; the same behind an entry or a kind, by pattern."""
    plain = {
        f"{name}.{stat}" if stat else name: _bound(metric)
        for name, metric in METRICS.items()
        for stat in metric.stats or ("",)
    }
    return {"type": "object", "properties": plain, "patternProperties": _behind(), "additionalProperties": False}


def _behind() -> Schema:
    return {f"{_WORDS}{name}{_stats(metric)}$": _bound(metric) for name, metric in METRICS.items()}


def _stats(metric: Metric) -> str:
    return rf"\.({'|'.join(metric.stats)})" if metric.stats else ""


def _bound(metric: Metric) -> Schema:
    return ref({"s": "duration", "share": "factor", "tok/s": "number"}[metric.unit])


_AMOUNT = {"type": "number", "minimum": 0}
_WHOLE = {"type": "integer", "minimum": 0}

DEFINITIONS: Mapping[str, Schema] = {
    "variable": {"type": "string", "pattern": _VARIABLE, "description": "taken from the environment"},
    "text": {"type": "string", "minLength": 1},
    "texts": {"anyOf": [ref("text"), {"type": "array", "items": ref("text")}]},
    "plain": {"type": ["string", "number", "boolean", "null"]},
    "switch": _or_variable({"type": "boolean"}),
    "count": _or_variable(_WHOLE, _text(r"^ *(\d+|\d+(\.\d+)? *[kKM]) *$")),
    "number": _or_variable(_AMOUNT, _text(rf"^ *{_NUMBER} *[kKM]? *$")),
    "factor": _or_variable(_AMOUNT, _text(rf"^ *{_NUMBER} *[kKM]? *%? *$")),
    "duration": _or_variable(_AMOUNT, _text(_DURATION)),
    "drain": {"anyOf": [{"enum": ["cut"]}, ref("duration")]},
    "size": _or_variable(_AMOUNT, _text(_SIZE)),
    "rate": _or_variable(_text(RATE_PATTERN)),
    "warm_up": {"anyOf": [ref("duration"), _text(TURNS_PATTERN)]},
    "seeds": {"anyOf": [ref("count"), {"type": "array", "items": ref("count"), "minItems": 1}]},
    "listeners": {"anyOf": [ref("texts"), {"type": "object", "additionalProperties": {"type": "object"}}]},
    "limits": _limits(),
}
"""By the name that `section.written` gives; a text that asks for a variable is let through everywhere."""
