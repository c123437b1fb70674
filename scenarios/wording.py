"""How what pydantic found wrong is said to the writer of a scenario."""

import re

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from locust_agents.scenarios import suggest
from locust_agents.scenarios.model import keys_at
from locust_agents.scenarios.places import Reading
from locust_agents.scenarios.units import shown

_AT_KEY = ("missing", "extra_forbidden")
_NOT_A_LIST = ("tuple_type", "list_type")
_NOT_A_MAPPING = ("model_type", "model_attributes_type", "mapping_type", "dict_type")


def report(error: ValidationError, reading: Reading) -> None:
    """Add each error as a problem, unless its value is known to be wrong already."""
    for details in error.errors():
        path = tuple(f"[{part}]" if isinstance(part, int) else part for part in details["loc"])
        if not reading.is_reported(path):
            reading.report(path, _text(details, path), at_value=details["type"] not in _AT_KEY)


def _text(details: ErrorDetails, path: tuple[str, ...]) -> str:
    kind, value = details["type"], details["input"]
    if kind == "value_error":
        return str(details["ctx"]["error"])
    if kind == "missing":
        return "this key is missing"
    if kind == "extra_forbidden":
        return f"unknown key; {suggest.instead(path[-1], keys_at(path[:-1]), 'the keys here are')}"
    if kind == "literal_error":
        return _not_a_choice(details["ctx"]["expected"], value)
    if kind in _NOT_A_LIST:
        return f"expected a list, got {shown(value)}"
    return f"expected a mapping, got {shown(value)}" if kind in _NOT_A_MAPPING else details["msg"]


def _not_a_choice(expected: str, value: object) -> str:
    guess = suggest.closest(str(value), re.findall(r"'([^']*)'", expected))
    return f"expected {expected}, got {shown(value)}" + (f"; did you mean '{guess}'?" if guess else "")
