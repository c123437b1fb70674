"""How a YAML file becomes a Profile: strictly, and every mistake with its line, its column and its key."""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from locust_agents.errors import PluginError, ScenarioError
from locust_agents.patience import Timeouts
from locust_agents.plugins.profiles import checks
from locust_agents.profile import Compaction, Profile, Reaction, Retries, Role, SideCall, Volatile
from locust_agents.scenarios import reading as plain
from locust_agents.scenarios import suggest
from locust_agents.scenarios.places import KeyPath, Place, Problem, Reading, ScenarioProblems
from locust_agents.scenarios.units import shown

_SECTIONS: Mapping[str, Any] = {
    "timeouts": Timeouts,
    "volatile": Volatile,
    "compaction": Compaction,
    "roles": Role,
    "side_calls": SideCall,
    "retries": Retries,
    "empty": Reaction,
    "malformed": Reaction,
}
_EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a number",
    "bool_type": "true or false",
    "string_type": "text",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "dataclass_type": "a mapping",
    "dataclass_exact_type": "a mapping",
}
_UNKNOWN = "unexpected_keyword_argument"


class _File(BaseModel):
    """Lends its strictness to the dataclasses below: as in JSON, where "8" is no number and a list may be a tuple."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    profile: Profile


def read(text: str, file: str) -> Profile:
    """The profile in a YAML text; raises PluginError, one line for each mistake: file, place, key, what is wrong."""
    try:
        reading = _plain(text, file)
        found = _validated(reading)
        if found is None or reading.problems:
            raise ScenarioProblems(reading.problems)
    except ScenarioError as error:
        raise PluginError(str(error)) from None
    return found


def read_file(path: Path) -> Profile:
    """The profile of a YAML file; raises PluginError, also where it cannot be read."""
    try:
        return read(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise PluginError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise PluginError(f"{path}: cannot be read: {error.strerror}") from None


def _plain(text: str, file: str) -> Reading:
    reading, place_of = Reading(), plain.places_in(file)
    node = plain.compose(text, place_of)
    start = Place(f"{file}:1:1", (0, 1, 1))
    if node is None:
        raise ScenarioProblems([Problem(start, (), "the file holds no profile")])
    reading.keys[()] = start
    data = plain.read_node(node, (), reading, place_of)
    if not isinstance(data, dict):
        raise ScenarioProblems([Problem(start, (), f"expected keys such as name: and tools:, got {shown(data)}")])
    reading.data = data
    return reading


def _validated(reading: Reading) -> Profile | None:
    for path, number in _numbers(reading.data, ()):
        _check_number(reading, path, number)
    try:
        found = _File.model_validate_json(json.dumps({"profile": reading.data})).profile
    except ValidationError as error:
        for details in error.errors():
            path = tuple(f"[{part}]" if isinstance(part, int) else part for part in details["loc"][1:])
            if not reading.is_reported(path):
                reading.report(path, _text(details, path), at_value=details["type"] != _UNKNOWN)
        return None
    for path, text in checks.mistakes(found):
        reading.report(path, text)
    return found


def _numbers(value: object, path: KeyPath) -> Iterator[tuple[KeyPath, float]]:
    """Every number of the file and where it is; those of `parameters` are the server's to judge."""
    if isinstance(value, dict):
        for key, below in value.items():
            if (*path, key) != ("parameters",):
                yield from _numbers(below, (*path, key))
    elif isinstance(value, list):
        for number, below in enumerate(value):
            yield from _numbers(below, (*path, f"[{number}]"))
    elif isinstance(value, int | float):
        yield path, value


def _check_number(reading: Reading, path: KeyPath, number: float) -> None:
    if number < 0:
        reading.report(path, f"must not be negative, got {number}")
    elif path[-1] == "share" and number > 1:
        reading.report(path, f"a share is 0 to 1, got {number}")


def _text(details: ErrorDetails, path: KeyPath) -> str:
    kind, value = details["type"], details["input"]
    if kind == "missing":
        return "this key is missing"
    if kind == _UNKNOWN:
        return f"unknown key; {suggest.instead(path[-1], _keys_at(path[:-1]), 'the keys here are')}"
    if kind == "literal_error":
        return f"expected {details['ctx']['expected']}, got {shown(value)}"
    return f"expected {_EXPECTED[kind]}, got {shown(value)}" if kind in _EXPECTED else details["msg"]


def _keys_at(path: KeyPath) -> list[str]:
    section = next((_SECTIONS[part] for part in reversed(path) if part in _SECTIONS), Profile)
    return [field.name for field in dataclasses.fields(section)]
