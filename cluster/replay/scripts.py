"""Decides what a scripted answer is: which bytes at which second, how they are framed, how the connection ends."""

import base64
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import Any, Literal, get_args

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
    `read_body` false: the answer begins when the request's headers are in, and its body stays unread. A script with
    `when` answers every request for its path whose body holds all of these texts, as often as one comes, before those
    that are used up in turn; the first such script is taken. `per_open_s` puts every time off, by so many seconds for
    each other answer that is open as this one begins: the server of the tests that is slower, the more it serves.

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
    per_open_s: float = 0.0
    when: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuses what no server could do, where the script is written and not where it is played."""
        _one_of("framing", self.framing, get_args(Framing))
        _one_of("ending", self.ending, get_args(Ending))
        if not 100 <= self.status <= 599:
            raise ValueError(f"status: {self.status} is not an HTTP status")
        if not all(text.isascii() and text.isprintable() for pair in self.headers.items() for text in pair):
            raise ValueError("headers: names and values must be printable ASCII (`raw` framing sends anything)")
        if not 0 <= self.per_open_s < math.inf:
            raise ValueError("per_open_s: must be a finite number of seconds, 0 or more")
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
        """The fields by name, as `script_from_json` reads them; bytes that are not UTF-8 become `{"base64": …}`."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        sends = [[at_s, _to_text(data)] for at_s, data in self.sends]
        return {**values, "headers": dict(self.headers), "sends": sends, "when": list(self.when)}


def _one_of(key: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{key}: must be one of {', '.join(allowed)}, not {value!r}")


def _to_text(data: bytes) -> str | dict[str, str]:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}
