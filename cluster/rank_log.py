"""Decides what a rank's output means, from its bytes as they come; the words are mlx-lm 0.32.2's.

With `--log-level DEBUG` the server also writes the model's words, which could look like anything here.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

LONGEST = 65_536
"""Bytes of a line that are looked at."""

SHOWN = 300
"""Characters of a complaint that are kept: a bad request is logged with its whole body."""

CACHE_TYPES = ("assistant", "user", "system")
"""The lines that follow `Prompt Cache:`, in this order (LRUPromptCache.stats_by_type)."""

_LOGGED = re.compile(r"\d{4}-\d\d-\d\d (\d\d:\d\d:\d\d,\d{3}) - ([A-Z]+) - (.*)")
_CACHE = re.compile(r"Prompt Cache: (\d+) sequences, ([\d.]+) GB")
_OF_TYPE = re.compile(r"- (\w+): (\d+) sequences, ([\d.]+) GB")
_PROGRESS = re.compile(r"Prompt processing progress: (\d+)/(\d+)")
_HTTPD = re.compile(r"Starting httpd at (\S+) on port (\d+)")
_DIED = re.compile(r"mlx_lm\.server generation thread died: ?(.*)")
_TOOL_CALL = re.compile(r"Failed to parse tool call ?(.*)")
_PYTHON_WARNING = re.compile(r"\S.*:\d+: (\w+Warning: .*)")
_EXCEPTION = re.compile(r"(?:\w+\.)*([A-Z]\w*)(?::.*)?")
_TRACEBACK = "Traceback (most recent call last):"
_CLIENT_LEFT = ("BrokenPipeError", "ConnectionResetError", "ConnectionAbortedError")


@dataclass(frozen=True, slots=True)
class CacheState:
    """The prompt cache as a request is taken: sequences and GB (two digits after the point), also for each type."""

    sequences: int
    size_gb: float
    by_type: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    clock: str = ""
    """The log's own wall clock, HH:MM:SS,mmm in the zone of the rank's host."""


@dataclass(frozen=True, slots=True)
class PrefillProgress:
    """A prefill step has been computed; `total` leaves out the tokens that came from the cache."""

    done: int
    total: int
    clock: str = ""


@dataclass(frozen=True, slots=True)
class Traceback:
    """An exception with its traceback; `client_left` where a client was gone: mlx_lm.server lets that one escape."""

    last_line: str
    client_left: bool = False


@dataclass(frozen=True, slots=True)
class HttpdStarted:
    """Rank 0 listens."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class ToolCallDropped:
    """What the model meant as a tool call could not be parsed, and was left out of the answer."""

    why: str


@dataclass(frozen=True, slots=True)
class GenerationThreadDied:
    """Nothing will be generated any more, though the server may still take connections."""

    why: str


@dataclass(frozen=True, slots=True)
class Warned:
    """Any other line of level WARNING or above, or a warning of Python's, with its level or kind."""

    level: str
    text: str


Event = CacheState | PrefillProgress | Traceback | HttpdStarted | ToolCallDropped | GenerationThreadDied | Warned


class Parser:
    """Takes bytes cut anywhere; the events do not depend on where."""

    def __init__(self) -> None:
        self._rest = b""
        self._cache: CacheState | None = None
        self._in_traceback = False

    def feed(self, data: bytes) -> list[Event]:
        """The events of the lines that these bytes end."""
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[:LONGEST]
        return [event for line in lines for event in self._line(_text(line))]

    def end(self) -> list[Event]:
        """What is still held back when no more comes."""
        return [*self.feed(b"\n"), *self._held_cache()]

    def _line(self, line: str) -> Iterator[Event]:
        if logged := _LOGGED.fullmatch(line):
            yield from self._logged(*logged.groups())
        elif line.endswith(_TRACEBACK):
            self._in_traceback = True
        elif warning := _PYTHON_WARNING.fullmatch(line):
            kind, _, text = warning[1].partition(": ")
            yield Warned(kind, text[:SHOWN])
        elif self._in_traceback and (ending := _EXCEPTION.fullmatch(line)):
            self._in_traceback = False
            yield Traceback(line[:SHOWN], ending[1] in _CLIENT_LEFT)

    def _logged(self, clock: str, level: str, text: str) -> Iterator[Event]:
        if progress := _PROGRESS.fullmatch(text):
            yield PrefillProgress(int(progress[1]), int(progress[2]), clock)
        elif cache := _CACHE.fullmatch(text):
            yield from self._held_cache()
            self._cache = CacheState(int(cache[1]), float(cache[2]), {}, clock)
        elif of_type := _OF_TYPE.fullmatch(text):
            yield from self._of_type(of_type[1], (int(of_type[2]), float(of_type[3])))
        elif httpd := _HTTPD.match(text):
            yield HttpdStarted(httpd[1], int(httpd[2]))
        elif level in ("WARNING", "ERROR", "CRITICAL"):
            yield _complaint(level, text[:SHOWN])

    def _of_type(self, name: str, share: tuple[int, float]) -> Iterator[Event]:
        """Lines of other threads may come between these: the state is whole with its last type."""
        if (held := self._cache) is None:
            return
        self._cache = CacheState(held.sequences, held.size_gb, {**held.by_type, name: share}, held.clock)
        if name == CACHE_TYPES[-1]:
            yield from self._held_cache()

    def _held_cache(self) -> Iterator[Event]:
        if self._cache is not None:
            yield self._cache
        self._cache = None


def _complaint(level: str, text: str) -> Event:
    if died := _DIED.fullmatch(text):
        return GenerationThreadDied(died[1])
    if dropped := _TOOL_CALL.fullmatch(text):
        return ToolCallDropped(dropped[1])
    return Warned(level, text)


def _text(line: bytes) -> str:
    """The line as a terminal would leave it: of a progress bar only its last state."""
    return line[:LONGEST].decode(errors="replace").rstrip("\r").rpartition("\r")[2]
