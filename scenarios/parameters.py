"""Whether the `with:` of an entry fits the parameters of its behaviour, judged by the function's own signature."""

import inspect
import types
import typing
from collections.abc import Callable, Iterator, Mapping

from locust_agents.scenarios import suggest, units

Parameters = Mapping[str, inspect.Parameter]

_READERS: Mapping[str, Callable[[object], object]] = {
    "int": units.count,
    "float": units.number,
    "str": units.text,
    "bool": units.switch,
}
_COLLECTS_REST = inspect.Parameter.VAR_KEYWORD
_NOT_BY_NAME = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.POSITIONAL_ONLY)


def names_of(parameters: Parameters) -> list[str]:
    """Return the parameters that `with:` may name, in the order of the signature."""
    unnamed = (_COLLECTS_REST, *_NOT_BY_NAME)
    return [name for name, parameter in parameters.items() if parameter.kind not in unnamed]


def missing(parameters: Parameters, given: Mapping[str, object]) -> Iterator[str]:
    """Yield the parameters that have no default and are not given."""
    for name in names_of(parameters):
        if parameters[name].default is inspect.Parameter.empty and name not in given:
            yield name


def not_taken(behaviour: str, name: str, parameters: Parameters) -> str | None:
    """Return why `name` cannot be given to the behaviour, None when it can."""
    known = names_of(parameters)
    if name in known or any(parameter.kind is _COLLECTS_REST for parameter in parameters.values()):
        return None
    guess = suggest.closest(name, known)
    takes = f"{behaviour} takes {suggest.listed(known) if known else 'no parameters'}"
    return f"unknown parameter; {takes}" + (f"; did you mean '{guess}'?" if guess else "")


def converted(value: object, parameter: inspect.Parameter) -> object:
    """Return the value as the annotation wants it, so that 64k becomes an int; raises ValueError with one line.

    An annotation other than int, float, str, bool, None and their unions is the behaviour's own to check. A float
    whose name ends in `_s` may be written as a duration, and only a parameter with a negative default may be negative.
    """
    wanted = _type_names(parameter)
    readable = [name for name in wanted if name != "None"]
    if not readable or any(name not in _READERS for name in readable):
        return value
    if value is None and "None" in wanted:
        return None
    if _is_negative(value) and _is_negative(parameter.default):
        _read(-value, parameter, readable)
        return value
    return _read(value, parameter, readable)


def _read(value: object, parameter: inspect.Parameter, wanted: list[str]) -> object:
    errors: list[ValueError] = []
    for name in wanted:
        try:
            return _reader(name, parameter)(value)
        except ValueError as error:
            errors.append(error)
    raise errors[0]


def _reader(type_name: str, parameter: inspect.Parameter) -> Callable[[object], object]:
    if type_name == "float" and parameter.name.endswith("_s"):
        return units.duration
    return _READERS[type_name]


def _is_negative(value: object) -> typing.TypeGuard[int | float]:
    return isinstance(value, int | float) and value < 0


def _type_names(parameter: inspect.Parameter) -> list[str]:
    """Return the types of the annotation by name; without one, the type of the default."""
    annotation = parameter.annotation
    if annotation is inspect.Parameter.empty:
        return [] if parameter.default in (None, inspect.Parameter.empty) else [type(parameter.default).__name__]
    if isinstance(annotation, str):
        return [part.strip() for part in annotation.split("|")]
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return [_name(part) for part in typing.get_args(annotation)]
    return [_name(annotation)]


def _name(annotation: object) -> str:
    if annotation in (None, types.NoneType):
        return "None"
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)
