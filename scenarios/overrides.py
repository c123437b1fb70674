"""How `--set key=value` changes a scenario that was read, before any check, and how a sweep's values are put in."""

import copy
import json
from collections.abc import Sequence
from dataclasses import dataclass

from locust_agents.errors import ScenarioError
from locust_agents.scenarios.model import keys_at
from locust_agents.scenarios.places import KeyPath, Place, Problem, Reading, ScenarioProblems, dotted
from locust_agents.scenarios.reading import compose, read_node


@dataclass(frozen=True, slots=True)
class Override:
    """One key of the scenario with its value as YAML text; errors are placed at `option`, by default `--set KEY`."""

    key: str
    value: str
    option: str = ""


def read_override(text: str) -> Override:
    """Split `key=value` at the first `=`; raises ScenarioError when there is none or no key before it."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ScenarioError(f"--set {text}: write it as key=value, such as --set swarm.fixers.agents=8")
    return Override(key.strip(), value)


def attaching(url: str) -> list[Override]:
    """What `--attach URL` changes: what is said of a server that the run would start has no meaning any more."""
    gone = ("launch", "launcher", "with", "options", "port", "on_failure")
    changes = [(f"server.{key}", "null") for key in gone] + [("server.attach", json.dumps(url))]
    return [Override(key, value, option="--attach") for key, value in changes]


def apply_overrides(reading: Reading, overrides: Sequence[Override]) -> None:
    """Put the values in, in order; what cannot be put in becomes a problem of the reading."""
    for number, override in enumerate(overrides, start=1):
        place = _place(override, number)
        try:
            _apply(reading, override, place)
        except ScenarioProblems as error:
            reading.problems.extend(error.problems)


def _place(override: Override, number: int) -> Place:
    if override.option:
        return Place(override.option, (number, 0, 0))
    return Place(f"--set {override.key}", (number, 0, 0), names_key=override.key)


def _apply(reading: Reading, override: Override, place: Place) -> None:
    path = path_of(override.key)
    if not all(path):
        raise ScenarioProblems([Problem(place, path, "the key has an empty part")])
    node = compose(override.value, lambda _line, _column: place)
    parent = _room(reading, path, place)
    value = None if node is None else read_node(node, path, reading, lambda _line, _column: place)
    _set(reading, parent, path, value)


def put(reading: Reading, key: str, value: object, place: Place) -> None:
    """Put a plain value in at a dotted key, as if it were written at `place`; null takes away what is there.

    Raises ScenarioProblems where something above the key is not a mapping.
    """
    path = path_of(key)
    parent = _room(reading, path, place)
    if value is None and not nulls_are_values(path):
        parent.pop(path[-1], None)
    else:
        parent[path[-1]] = copy.deepcopy(value)


def _room(reading: Reading, path: KeyPath, place: Place) -> dict[str, object]:
    """Return the mapping for the last key of `path`, and make `place` the one that is blamed for its value."""
    parent = _parent(reading, path, place)
    forget(reading, path)
    for end in range(1, len(path) + 1):
        reading.keys.setdefault(path[:end], place)
    reading.values[path] = place
    return parent


def _set(reading: Reading, parent: dict[str, object], path: KeyPath, value: object) -> None:
    """Null in so many letters removes a key that is there, or leaves away one that may be; else it is a mistake."""
    if path not in reading.nulls or nulls_are_values(path) or not (path[-1] in parent or _may_be(path)):
        parent[path[-1]] = value
    else:
        parent.pop(path[-1], None)


def _may_be(path: KeyPath) -> bool:
    try:
        return path[-1] in keys_at(path[:-1])
    except KeyError:
        return True


def nulls_are_values(path: KeyPath) -> bool:
    """Tell whether null at `path` is something to pass on: a behaviour's parameter."""
    return len(path) == 4 and path[0] == "swarm" and path[2] == "with"


def path_of(key: str) -> KeyPath:
    """Split a dotted key; what follows `limits.` or `sweep.` is one key, dots and all."""
    above, dot, below = key.partition(".")
    return (above, below) if dot and above in ("limits", "sweep") else tuple(key.split("."))


def _parent(reading: Reading, path: KeyPath, place: Place) -> dict[str, object]:
    """Return the mapping that holds the last key of `path`, made where it is missing."""
    mapping = reading.data
    for end in range(1, len(path)):
        below = mapping.setdefault(path[end - 1], {})
        if not isinstance(below, dict):
            raise ScenarioProblems([Problem(place, path, f"{dotted(path[:end])} is not a mapping, so it has no keys")])
        mapping = below
    return mapping


def forget(reading: Reading, path: KeyPath) -> None:
    """Drop what was known of the value that is being replaced, its mistakes too."""
    for places in (reading.keys, reading.values):
        for old in [old for old in places if old[: len(path)] == path]:
            del places[old]
    reading.nulls = {old for old in reading.nulls if old[: len(path)] != path}
    reading.problems = [problem for problem in reading.problems if problem.path[: len(path)] != path]
