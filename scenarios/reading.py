"""How the text of a scenario becomes plain values that remember their line and column; knows YAML, not scenarios."""

from collections.abc import Callable, Iterator, Mapping

import yaml

from locust_agents.errors import ScenarioError
from locust_agents.scenarios import environment
from locust_agents.scenarios.places import KeyPath, Place, Problem, Reading, ScenarioProblems
from locust_agents.scenarios.units import shown

PlaceOf = Callable[[int, int], Place]
"""Makes a place of a line and a column that count from 0, as YAML's marks do."""

_TAG = "tag:yaml.org,2002:"
_TEXT_TAG = _TAG + "str"
_NULL_TAG = _TAG + "null"
_PLAIN_TAGS = {_TAG + name for name in ("str", "int", "float", "bool", "null")}
_AS_WRITTEN_TAGS = {_TAG + name for name in ("timestamp", "value")}  # a date in a name is text, not a date
_MERGE_TAG = _TAG + "merge"
_MOST_VALUES = 5_000  # a file of aliases to aliases has few lines and no end
_LARGEST_INT = 2**63


def read_text(text: str, file: str, variables: Mapping[str, str] | None = None, depth: int = 0) -> Reading:
    """Read a whole file; raises ScenarioProblems when it is not YAML, holds nothing or is not a mapping.

    `variables` fill in texts that ask for one. `depth` is how many files extend this one: their mistakes come later.
    """
    reading = Reading(environment=variables)
    place_of = places_in(file, depth)
    start = place_of(0, 0)
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


def places_in(file: str, depth: int = 0) -> PlaceOf:
    """Return how places in this file are made; they count lines and columns from 1."""

    def place_of(line: int, column: int) -> Place:
        return Place(f"{file}:{line + 1}:{column + 1}", (-depth, line + 1, column + 1), file=file)

    return place_of


def compose(text: str, place_of: PlaceOf) -> yaml.Node | None:
    """Return the tree of nodes, None for no content; what is not YAML raises ScenarioProblems with its place."""
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        raise ScenarioProblems([_not_yaml(error, text, place_of)]) from None
    except yaml.reader.ReaderError as error:
        before, letter = text[: error.position], text[error.position]
        place = place_of(before.count("\n"), len(before) - before.rfind("\n") - 1)
        raise ScenarioProblems([Problem(place, (), f"not YAML: the character {letter!r} is not allowed")]) from None
    except RecursionError:
        raise _too_deep(place_of) from None


def _not_yaml(error: yaml.MarkedYAMLError, text: str, place_of: PlaceOf) -> Problem:
    mark = error.problem_mark or error.context_mark
    place = place_of(mark.line, mark.column) if mark else place_of(0, 0)
    if mark and text[mark.index - 1 : mark.index + 1] == "${":
        return Problem(place, (), "not YAML: within brackets, ${NAME} needs quotes")
    if mark and text[mark.index : mark.index + 1] == "\t":
        return Problem(place, (), "not YAML: a tab; write blanks")
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
        return _list(node, path, reading, place_of)
    return _scalar(node, path, reading) if isinstance(node, yaml.ScalarNode) else None


def _list(node: yaml.SequenceNode, path: KeyPath, reading: Reading, place_of: PlaceOf) -> list[object]:
    """An item has no key; what its key would be blamed for is placed where it begins."""
    found = []
    for number, item in enumerate(node.value):
        below = (*path, f"[{number}]")
        reading.keys[below] = _begin(item, place_of)
        found.append(_value(item, below, reading, place_of))
    return found


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


def _scalar(node: yaml.ScalarNode, path: KeyPath, reading: Reading) -> object:
    if node.tag in _AS_WRITTEN_TAGS:
        return node.value
    if node.tag not in _PLAIN_TAGS:
        reading.report(path, f"the YAML tag {node.tag.replace(_TAG, '!!')} has no meaning here; remove it")
        return None
    if node.tag == _TEXT_TAG and "${" in node.value:
        return _filled(node, path, reading)
    return _single(node, path, reading)


def _filled(node: yaml.ScalarNode, path: KeyPath, reading: Reading) -> object:
    """The text with its variables; one without quotes is read as if their values had been written there."""
    if reading.environment is not None and (refused := environment.complaint(node.value, reading.environment)):
        reading.report(path, refused)
        return node.value
    if environment.is_secret(path):
        return node.value
    text = environment.filled(node.value, reading.environment)
    if node.style is not None or text == node.value:
        return text
    tag = yaml.resolver.Resolver().resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    return _single(yaml.ScalarNode(tag if tag in _PLAIN_TAGS else _TEXT_TAG, text), path, reading)


def _single(node: yaml.ScalarNode, path: KeyPath, reading: Reading) -> object:
    if node.tag == _NULL_TAG and node.value:
        reading.nulls.add(path)
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
