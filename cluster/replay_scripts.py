"""Decides what a scripted answer is: which bytes at which second, how they are framed, how the connection ends."""

import base64
import binascii
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

from locust_agents.errors import ScenarioError

Framing = Literal["until_close", "chunked", "length", "raw"]
Ending = Literal["close", "cut", "reset", "hang"]


@dataclass(frozen=True, slots=True)
class Script:
    """One answer. Every time is in seconds after the request has been read: a date, never a gap.

    `sends` are written one by one; an empty one writes nothing, and as the last one it puts off the ending.
    Status line and headers leave at `headers_s`. `framing`: `until_close` is HTTP/1.0, where the end of the connection
    is the end of the body (so does mlx_lm.server); `chunked` and `length` are HTTP/1.1 (a Content-Length among the
    headers is left as it is); `raw` writes the sends alone, without status line and headers. `ending`: `close` ends the
    answer as its framing asks, `cut` closes without the last chunk, `reset` sends RST, `hang` says nothing more until
    the client goes. A script with a `path` answers only requests for it (without query), one without every other POST.
    `read_body` false: the answer begins when the request's headers are in, and its body stays unread.

    Raises ValueError when the times run backwards or a word is not one of the above.
    """

    sends: tuple[tuple[float, bytes], ...]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/event-stream"})
    framing: Framing = "until_close"
    ending: Ending = "close"
    headers_s: float = 0.0
    path: str = ""
    read_body: bool = True

    def __post_init__(self) -> None:
        """Refuses what no server could do, where the script is written and not where it is played."""
        _one_of("framing", self.framing, get_args(Framing))
        _one_of("ending", self.ending, get_args(Ending))
        if not 100 <= self.status <= 599:
            raise ValueError(f"status: {self.status} is not an HTTP status")
        if not all(text.isascii() and text.isprintable() for pair in self.headers.items() for text in pair):
            raise ValueError("headers: names and values must be printable ASCII (`raw` framing sends anything)")
        times = [self.headers_s, *(at_s for at_s, _ in self.sends)]
        if not all(0 <= at_s < math.inf for at_s in times):
            raise ValueError("sends and headers_s: a time must be a finite number of seconds, 0 or more")
        for number, (before, after) in enumerate(pairwise(times)):
            if after < before:
                raise ValueError(f"sends[{number}]: {after} s comes before {before} s; times count from the request")

    def later(self, by_s: float) -> "Script":
        """The same answer, every time moved by `by_s`: many streams that start together then do not send together."""
        sends = tuple((at_s + by_s, data) for at_s, data in self.sends)
        return replace(self, sends=sends, headers_s=self.headers_s + by_s)

    def to_json(self) -> dict[str, Any]:
        """The fields by name; bytes that are not UTF-8 become `{"base64": …}`."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return {**values, "headers": dict(self.headers), "sends": [[at_s, _to_text(data)] for at_s, data in self.sends]}


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


def _one_of(key: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{key}: must be one of {', '.join(allowed)}, not {value!r}")


def _to_text(data: bytes) -> str | dict[str, str]:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


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
}
