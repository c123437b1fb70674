"""Decides whether mlx_lm.server would take an option and its value, and says what to write where it would not."""

import json
import math
import re

from locust_agents.cluster.options.known import OPTIONS, Kind, Option, Scalar
from locust_agents.cluster.options.model_classes import MLX_LM
from locust_agents.scenarios import suggest
from locust_agents.scenarios.units import shown

_SIZE = re.compile(r"(\d+\.?\d*|\.\d+) *([MG]B?)? *", re.IGNORECASE)

_EXPECTED: dict[Kind, str] = {
    "text": "text",
    "whole number": "a whole number",
    "number": "a number",
    "flag": "true or false",
    "size": "a size in bytes such as 8GB, 500MB or 1000000",
    "JSON object": "a JSON object in quotes, such as '{\"enable_thinking\": false}'",
    "comma-separated list": "addresses joined by commas",
}


def mistake(name: str, value: Scalar) -> str | None:
    """Return what is wrong with an option and what to write instead, one sentence without its name; None when good.

    A number may come as text, since YAML reads 1e3 so; None leaves the option out and is always good.
    """
    option = OPTIONS.get(name)
    if option is None:
        return _unknown(name)
    if value is None:
        return None
    if not _reads(option.kind, value):
        return f"expected {_EXPECTED[option.kind]}, got {shown(value)}"
    return _out_of_bounds(option, value)


def _unknown(name: str) -> str:
    guess = suggest.closest(name, OPTIONS)
    what = f"mlx_lm.server {MLX_LM} has no such option"
    return f"{what}; did you mean '{guess}'?" if guess else f"{what}; remove it, or see python -m mlx_lm server --help"


def _reads(kind: Kind, value: Scalar) -> bool:
    if kind == "flag":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if kind in ("text", "comma-separated list"):
        return isinstance(value, str)
    return _READERS[kind](str(value))


def _is_whole(text: str) -> bool:
    return re.fullmatch(r" *[-+]?\d+ *", text) is not None


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _is_size(text: str) -> bool:
    return _SIZE.fullmatch(text) is not None


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


_READERS = {"whole number": _is_whole, "number": _is_number, "size": _is_size, "JSON object": _is_json_object}


def _out_of_bounds(option: Option, value: Scalar) -> str | None:
    names = [str(choice) for choice in option.choices]
    if names and str(value) not in names:
        guess = suggest.closest(str(value), names) if isinstance(value, str) else None
        what = f"expected one of {suggest.listed(names)}, got {shown(value)}"
        return f"{what}; did you mean '{guess}'?" if guess else what
    if option.least is not None and float(str(value)) < option.least:
        return f"must be {option.least:g} or more, got {shown(value)}"
    return None
