"""Decides how scripts are written in a JSON file, and says what is wrong with one."""

import base64
import binascii
import json
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from locust_agents.cluster.replay.scripts import Script
from locust_agents.errors import ScenarioError


def script_from_json(value: object, place: str = "script") -> Script:
    """The inverse of `Script.to_json`; a key left out has its default. Raises ScenarioError, `place` first."""
    if not isinstance(value, dict):
        raise ScenarioError(f"{place}: must be an object with the key 'sends', not {value!r:.40}")
    for key in value:
        _check_key(key, place)
    if "sends" not in value:
        raise ScenarioError(f"{place}: the key 'sends' is missing: a list of [seconds, text]")
    try:
        return Script(**{key: _READERS[key](key, item) for key, item in value.items()})
    except ValueError as error:
        raise ScenarioError(f"{place}: {error}") from error


def load_scripts(path: Path) -> tuple[Script, ...]:
    """Reads a file that holds one script or a list of them. Raises ScenarioError with the place of the mistake."""
    try:
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise ScenarioError(f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from error
    except ValueError as error:
        raise ScenarioError(f"{path}: not JSON: {error}") from error
    if not isinstance(value, list):
        return (script_from_json(value, f"{path}: script"),)
    if not value:
        raise ScenarioError(f"{path}: holds no script; write at least one")
    return tuple(script_from_json(item, f"{path}: script[{number}]") for number, item in enumerate(value))


def _check_key(key: str, place: str) -> None:
    if key not in _READERS:
        near = get_close_matches(key, _READERS, 1)
        raise ScenarioError(f"{place}: {key}: unknown key" + (f"; did you mean '{near[0]}'?" if near else ""))


def _is(kind: type, name: str) -> Callable[[str, object], Any]:
    def read(key: str, value: object) -> object:
        right = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if not right:
            raise ValueError(f"{key}: must be {name}, not {value!r:.40}")
        return value

    return read


def _seconds(key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{key}: must be a number of seconds, not {value!r:.40}")
    return float(value)


def _headers(key: str, value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise ValueError(f"{key}: must be an object of texts, not {value!r:.40}")
    return value


def _texts(key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"{key}: must be a list of texts, not {value!r:.40}")
    return tuple(value)


def _sends(key: str, value: object) -> tuple[tuple[float, bytes], ...]:
    if not isinstance(value, list):
        raise ValueError(f"{key}: must be a list of [seconds, text], not {value!r:.40}")
    return tuple(_send(f"{key}[{number}]", item) for number, item in enumerate(value))


def _send(key: str, value: object) -> tuple[float, bytes]:
    match value:
        case [at_s, str(text)]:
            return _seconds(key, at_s), text.encode()
        case [at_s, {"base64": str(text)}]:
            return _seconds(key, at_s), _decode_base64(key, text)
    raise ValueError(f"{key}: must be [seconds, text] or [seconds, {{'base64': text}}], not {value!r:.40}")


def _decode_base64(key: str, text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"{key}: not base64: {error}") from error


_READERS: dict[str, Callable[[str, object], Any]] = {
    "sends": _sends,
    "status": _is(int, "a whole number"),
    "headers": _headers,
    "framing": _is(str, "a text"),
    "ending": _is(str, "a text"),
    "headers_s": _seconds,
    "path": _is(str, "a text"),
    "read_body": _is(bool, "true or false"),
    "per_open_s": _seconds,
    "when": _texts,
}
