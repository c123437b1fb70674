"""Prints the tables of docs/scenarios.md, by group, from the model and its help; a test holds the guide to them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from locust_agents.scenarios import course, model, questions, schema, section, server_section, units
from locust_agents.scenarios.key_help import KEY_HELP

_TOP = "Scenario"
GROUPS: Mapping[str, Sequence[tuple[str, str, tuple[str, ...]]]] = {
    "file": [("", _TOP, ("name", "extends", "plugins", "listeners"))],
    "server": [
        ("", _TOP, ("server",)),
        ("server.", "Server", ()),
        ("server.launch.", "Launch", ()),
        ("server.attach.", "Attach", ()),
    ],
    "swarm": [("", _TOP, ("swarm",)), ("swarm.NAME.", "Entry", ())],
    "course": [
        ("", _TOP, ("duration", "turns", "sessions", "stages")),
        ("stages[].", "Stage", ()),
        ("", _TOP, ("on_retire", "start")),
        ("start.", "Start", ()),
        ("", _TOP, ("arrival",)),
        ("arrival.", "Arrival", ()),
        ("", _TOP, ("warm_up",)),
        ("warm_up.", "WarmUp", ()),
        ("", _TOP, ("drain",)),
    ],
    "sizes": [
        ("", _TOP, ("seed", "scale", "context", "gaps")),
        ("gaps.", "Gaps", ()),
        ("", _TOP, ("replies", "outputs", "thinking", "cap_prompt", "timeouts")),
        ("timeouts.", "Timeouts", ()),
    ],
    "cache": [("", _TOP, ("cache", "prefix")), ("prefix.", "Prefix", ())],
    "limits": [
        ("", _TOP, ("limits", "stop_on_breach", "canary")),
        ("canary.", "Canary", ()),
        ("", _TOP, ("identity",)),
    ],
    "care": [
        ("", _TOP, ("curve", "probe")),
        ("probe.", "Probe", ()),
        ("", _TOP, ("guard",)),
        ("guard.", "GuardKeys", ()),
    ],
    "questions": [
        ("", _TOP, ("sweep",)),
        ("sweep.", "Sweep", ()),
        ("", _TOP, ("capacity",)),
        ("capacity.", "Capacity", ()),
    ],
}
"""The guide's tables: where keys are written, their section, and which of it; none are all."""

_UNITS: Mapping[str, str] = {
    "text": "text",
    "texts": "a path, or a list of them",
    "plain": "any plain value",
    "switch": "`true`, `false`",
    "count": "whole number",
    "factor": "factor or share",
    "duration": "time",
    "drain": "time, or `cut`",
    "size": "bytes",
    "rate": "rate",
    "warm_up": "time, or `20 turns`",
    "seeds": "whole number, or a list of them",
    "listeners": "names, or each with its parameters",
    "limits": "mapping",
    # Sections that have a short form.
    "Attach": "mapping, or its address",
    "Arrival": "mapping, or a rate",
    "WarmUp": "mapping, or a time, or `20 turns`",
    "Prefix": "mapping, or what changes",
    "Probe": "mapping, or its kind",
}
# What the loader fills in, or what holds where nothing is said; the model alone does not tell.
_FILLED: Mapping[str, str] = {
    "Scenario.name": "the file's name",
    "Scenario.server": "`{launch: {model: tiny}}`",
    "Scenario.duration": "`90s`, if nothing else ends it",
    "Scenario.on_retire": "`finish`",
    "Scenario.limits": "`{failures: 0%}`",
    "Launch.ranks": "`2`",
    "Entry.arrival": "the scenario's",
    "Entry.cap_prompt": "the scenario's",
    "Entry.prefix": "the scenario's",
    "Capacity.over": "the agents of the only entry",
    **{f"Timeouts.{key}": "the profile's" for key in ("connect", "headers", "first_token", "silence", "turn")},
}
_MODULES = (model, server_section, course, questions)


def rows(group: str) -> Iterator[tuple[str, str, str, str]]:
    """Key, how it is written, its default, what it is for."""
    made = schema.schema()
    for prefix, name, chosen in GROUPS[group]:
        keys = made["properties"] if name == _TOP else _properties(made["$defs"][name])
        for key in chosen or keys:
            yield f"{prefix}{key}", _written(keys[key]), _default(name, key, keys[key]), KEY_HELP[f"{name}.{key}"]


def table(group: str) -> str:
    """In Markdown."""
    head = ["| key | written as | default | what it is for |", "|---|---|---|---|"]
    lines = (f"| `{key}` | {how} | {default} | {why} |" for key, how, default, why in rows(group))
    return "\n".join([*head, *lines])


def _properties(body: dict[str, Any]) -> dict[str, Any]:
    found = body if "properties" in body else next(way for way in body["anyOf"] if "properties" in way)
    return dict(found["properties"])


def _written(rule: dict[str, Any]) -> str:
    """Of one key; null and ${NAME} may stand anywhere, and are told once."""
    ways = [way for way in _flat(rule) if way not in ({"type": "null"}, {"$ref": "#/$defs/variable"})]
    return ", or ".join(dict.fromkeys(map(_way, ways)))


def _flat(rule: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for way in rule.get("anyOf", [rule]):
        yield from _flat(way) if "anyOf" in way else iter([way])


def _way(way: dict[str, Any]) -> str:
    if "$ref" in way:
        name = way["$ref"].rpartition("/")[2]
        return _UNITS.get(name, "mapping")
    if "enum" in way:
        return ", ".join(f"`{value}`" for value in way["enum"])
    return {"array": "list", "string": "text"}.get(way.get("type", ""), "mapping")


def _default(name: str, key: str, rule: dict[str, Any]) -> str:
    if f"{name}.{key}" in _FILLED:
        return _FILLED[f"{name}.{key}"]
    if "default" in rule and rule["default"] is not None:
        return f"`{_shown(rule['default'], rule)}`"
    return "must be given" if _is_demanded(name, key) else "–"


def _is_demanded(name: str, key: str) -> bool:
    found: type[section.Section] = next(getattr(one, name) for one in _MODULES if hasattr(one, name))
    fields = {field.alias or plain: field for plain, field in found.model_fields.items()}
    return key in fields and fields[key].is_required()


def _shown(value: object, rule: dict[str, Any]) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    is_time = any(word in str(rule) for word in ("$defs/duration", "$defs/drain"))
    if isinstance(value, float) and is_time:
        return f"{value / 60:g}m" if value >= 60 and value % 60 == 0 else units.duration_text(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    for each in GROUPS:
        print(f"\n{each}\n\n{table(each)}")
