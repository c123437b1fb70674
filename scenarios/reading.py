"""How the text of a scenario becomes plain values that remember their line and column; knows YAML, not scenarios."""

from collections.abc import Callable, Iterator

import yaml

from locust_agents.errors import ScenarioError
from locust_agents.scenarios.places import KeyPath, Place, Problem, Reading, ScenarioProblems
from locust_agents.scenarios.units import shown

PlaceOf = Callable[[int, int], Place]
"""Makes a place of a line and a column that count from 0, as YAML's marks do."""

_TAG = "tag:yaml.org,2002:"
_PLAIN_TAGS = {_TAG + name for name in ("str", "int", "float", "bool", "null")}
_AS_WRITTEN_TAGS = {_TAG + name for name in ("timestamp", "value")}  # a date in a name is text, not a date
_MERGE_TAG = _TAG + "merge"
_MOST_VALUES = 5_000  # a file of aliases to aliases has few lines and no end
_LARGEST_INT = 2**63


def read_text(text: str, file: str) -> Reading:
    """Read a whole file; raises ScenarioProblems when it is not YAML, holds nothing or is not a mapping."""
    reading = Reading()
    place_of = places_in(file)
    start = Place(f"{file}:1:1", (0, 1, 1))
    node = compose(text, place_of)
    if node is None:
        raise ScenarioProblems([Problem(start, (), "the file holds no scenario; see the shipped quickstart.yaml")])
    reading.keys[()] = _begin(node, place_of)
    data = read_node(node, (), reading, place_of)
    if not isinstance(data, dict):
        place = reading.keys[()]
        raise ScenarioProblems([Problem(place, (), f"expected keys such as server: and swarm:, got {shown(data)}")])
    reading.data = data
    return reading


def places_in(file: str) -> PlaceOf:
    """Return how places in this file are made; they count lines and columns from 1."""

    def place_of(line: int, column: int) -> Place:
        return Place(f"{file}:{line + 1}:{column + 1}", (0, line + 1, column + 1))

    return place_of


def compose(text: str, place_of: PlaceOf) -> yaml.Node | None:
    """Return the tree of nodes, None for no content; what is not YAML raises ScenarioProblems with its place."""
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        raise ScenarioProblems([_not_yaml(error, place_of)]) from None
    except yaml.reader.ReaderError as error:
        before, letter = text[: error.position], text[error.position]
        place = place_of(before.count("\n"), len(before) - before.rfind("\n") - 1)
        raise ScenarioProblems([Problem(place, (), f"not YAML: the character {letter!r} is not allowed")]) from None
    except RecursionError:
        raise _too_deep(place_of) from None


def _not_yaml(error: yaml.MarkedYAMLError, place_of: PlaceOf) -> Problem:
    mark = error.problem_mark or error.context_mark
    place = place_of(mark.line, mark.column) if mark else place_of(0, 0)
    what = ", ".join(part for part in (error.context, error.problem) if part)
    return Problem(place, (), f"not YAML: {what}")


def read_node(node: yaml.Node, path: KeyPath, reading: Reading, place_of: PlaceOf) -> object:
    """Return the plain value of a node and note its places and problems under `path`."""
    try:
        return _value(node, path, reading, place_of)
    except RecursionError:  # an alias that holds itself
        raise _too_deep(place_of) from None


def _value(node: yaml.Node, path: KeyPath, reading: Reading, place_of: PlaceOf) -> object:
    reading.values[path] = _begin(node, place_of)
    if len(reading.values) > _MOST_VALUES:
        raise ScenarioError(f"{place_of(0, 0).label}: more than {_MOST_VALUES:,} values, too many for a scenario")
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, reading, place_of)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, (*path, f"[{n}]"), reading, place_of) for n, item in enumerate(node.value)]
    return _scalar(node, path, reading)


def _mapping(node: yaml.MappingNode, path: KeyPath, reading: Reading, place_of: PlaceOf) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in _pairs(node):
        if not isinstance(key, yaml.ScalarNode):
            reading.problems.append(Problem(_begin(key, place_of), path, "a key must be plain text"))
            continue
        below, place = (*path, key.value), _begin(key, place_of)
        if key.value in found:
            _report_twice(reading, below, place)
            continue
        reading.keys[below] = place
        found[key.value] = _value(value, below, reading, place_of)
    return found


def _report_twice(reading: Reading, path: KeyPath, place: Place) -> None:
    _, line, column = reading.keys[path].order
    text = f"this key is there twice, first at line {line}, column {column}; keep one"
    reading.problems.append(Problem(place, path, text))


def _pairs(node: yaml.MappingNode) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    """Yield the pairs written here, then those that `<<` brings in and no key written here replaces."""
    own = [(key, value) for key, value in node.value if key.tag != _MERGE_TAG]
    taken = {key.value for key, _ in own if isinstance(key, yaml.ScalarNode)}
    yield from own
    for source in (value for key, value in node.value if key.tag == _MERGE_TAG):
        for merged in source.value if isinstance(source, yaml.SequenceNode) else [source]:
            yield from _not_taken(merged, taken)


def _not_taken(merged: yaml.Node, taken: set[str]) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    for key, value in _pairs(merged) if isinstance(merged, yaml.MappingNode) else ():
        name = key.value if isinstance(key, yaml.ScalarNode) else ""
        if name not in taken:
            taken.add(name)
            yield key, value


def _scalar(node: yaml.Node, path: KeyPath, reading: Reading) -> object:
    if node.tag in _AS_WRITTEN_TAGS:
        return node.value
    if node.tag not in _PLAIN_TAGS:
        reading.report(path, f"the YAML tag {node.tag.replace(_TAG, '!!')} has no meaning here; remove it")
        return None
    try:
        value: object = yaml.constructor.SafeConstructor().construct_object(node)
    except (ValueError, LookupError):  # !!int lots, !!bool maybe, !!int with nothing after it
        value = node.value
    if isinstance(value, int) and abs(value) > _LARGEST_INT:
        reading.report(path, "this number is too large")
    return value


def _begin(node: yaml.Node, place_of: PlaceOf) -> Place:
    return place_of(node.start_mark.line, node.start_mark.column)


def _too_deep(place_of: PlaceOf) -> ScenarioError:
    return ScenarioError(f"{place_of(0, 0).label}: nested too deeply to be a scenario")
