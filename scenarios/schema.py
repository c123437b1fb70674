"""The JSON Schema of a scenario file, made from the model: it gives an editor completion, and is no second judge."""

import argparse
import json
import sys
from collections.abc import Sequence
from importlib import resources

from locust_agents.scenarios.key_help import KEY_HELP
from locust_agents.scenarios.model import EXTENDS, Scenario
from locust_agents.scenarios.schema_units import DEFINITIONS, Schema, ref

FILE = "scenario.schema.json"
"""Its name, beside the scenarios that ship."""

_DRAFT = "http://json-schema.org/draft-07/schema#"
# Sections that may be written short, and the values that then stand for them.
_SHORT: dict[str, Schema] = {
    "Attach": ref("text"),
    "Arrival": ref("rate"),
    "WarmUp": ref("warm_up"),
    "Prefix": {"$from": "break"},
    "Probe": {"$from": "kind"},
}
_UNUSED = ("Limit",)
_IN_LISTS = ("Stage",)
_NULL = {"type": "null"}


def schema() -> Schema:
    """Return it as plain values, the same for every installation: names of plugins are examples, not all there are.

    No key is demanded, for it may come from a file that is extended; only lists are never laid over.
    """
    made = Scenario.model_json_schema(by_alias=True)
    sections = {name: body for name, body in made.pop("$defs").items() if name not in _UNUSED}
    sections["Scenario"] = made
    made["properties"][EXTENDS] = ref("text")
    found = {name: _section(name, body) for name, body in sorted(sections.items())}
    _offer(found)
    whole = found.pop("Scenario")
    short = {name: _shortened(name, body) for name, body in found.items()}
    return {"$schema": _DRAFT, "title": "A scenario of locust-agents", **whole, "$defs": {**DEFINITIONS, **short}}


def text() -> str:
    """Return it as the file holds it."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


def _section(name: str, body: Schema) -> Schema:
    keys = {key: _described(name, key, _value(value)) for key, value in body["properties"].items()}
    rest = body.get("additionalProperties", False)
    made = {"type": "object", "properties": keys, "additionalProperties": rest and _value(rest)}
    return made | ({"required": body["required"]} if name in _IN_LISTS else {})


def _described(section: str, key: str, value: Schema) -> Schema:
    """With null, which takes away what an extended file says."""
    default = {name: value.pop(name) for name in ("default",) if name in value}
    ways = value["anyOf"] if set(value) == {"anyOf"} else [value]
    if section not in _IN_LISTS and _NULL not in ways:
        ways = [*ways, _NULL]
    return {"description": KEY_HELP[f"{section}.{key}"], "anyOf": ways, **default}


def _value(value: Schema) -> Schema:
    """One value's schema without what only Python needs; the name of a unit becomes a pointer to its definition."""
    if "unit" in value:
        return ref(value["unit"]) | _default(value)
    if "$ref" in value:
        return ref(value["$ref"].rpartition("/")[2]) | _default(value)
    if "enum" in value or "const" in value:
        choices = {"enum": value.get("enum", [value.get("const")])}
        return {"anyOf": [choices, ref("variable")]} | _default(value)
    if "anyOf" in value:
        return {"anyOf": [_value(way) for way in value["anyOf"]]} | _default(value)
    return _container(value)


def _container(value: Schema) -> Schema:
    if value.get("type") == "array":
        return {"type": "array", "items": _value(value.get("items", {})), "minItems": 1}
    if value.get("type") == "object":
        return {"type": "object", "additionalProperties": _value(value.get("additionalProperties", {}))}
    return {key: value[key] for key in value if key == "type"}


def _default(value: Schema) -> Schema:
    default = value.get("default")
    return {} if default is None or isinstance(default, dict | list) else {"default": default}


def _shortened(name: str, body: Schema) -> Schema:
    short = _SHORT.get(name)
    if short is None:
        return body
    way = {"anyOf": body["properties"][short["$from"]]["anyOf"]} if "$from" in short else short
    return {"anyOf": [way, body]}


def _offer(sections: dict[str, Schema]) -> None:
    """What an editor proposes where any text may stand."""
    entry, launch = sections["Entry"]["properties"], sections["Launch"]["properties"]
    sections["Scenario"]["properties"]["swarm"]["anyOf"][0]["additionalProperties"] = {"anyOf": [ref("Entry"), _NULL]}
    entry["behaviour"]["examples"] = _shipped("locust_agents.plugins.behaviours", ".py")
    entry["profile"]["examples"] = _shipped("locust_agents.plugins.profiles", ".yaml")
    launch["model"]["examples"] = ["tiny", "tiny-long", "tiny-hybrid"]


def _shipped(package: str, ending: str) -> list[str]:
    names = (file.name for file in resources.files(package).iterdir())
    return sorted(name.removesuffix(ending) for name in names if name.endswith(ending) and name[0] != "_")


def main(argv: Sequence[str] = ()) -> int:
    """Print it; with `> scenarios/scenario.schema.json` the file is brought up to date."""
    argparse.ArgumentParser("locust-agents schema", description=__doc__).parse_args(argv)
    print(text(), end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
