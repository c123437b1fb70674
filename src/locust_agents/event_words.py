"""How a line of cluster.jsonl is said to a person: in a sentence where it is a known event, else by its fields."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from locust_agents.quantities import counted

_Event = Mapping[str, Any]

_LONGEST = 300
# What a line has beside what it tells.
_FRAME = ("event", "time", "clock", "epoch")


def said(note: _Event) -> str:
    """One line of at most 300 letters."""
    words = _SENTENCES.get(str(note.get("event")), _fields)
    try:
        text = words(note)
    except (KeyError, TypeError, ValueError):  # another version wrote it
        text = _fields(note)
    whole = " ".join(text.split())
    return whole if len(whole) <= _LONGEST else f"{whole[: _LONGEST - 1]}…"


def _fields(note: _Event) -> str:
    """The event, and the fields that say something."""
    told = [(name, value) for name, value in note.items() if name not in _FRAME]
    parts = [f"{name} {_plain(value)}" for name, value in told if value not in (None, "", [], {}, False)]
    return f"{note.get('event')}: {', '.join(parts)}".rstrip(": ").replace("_", " ")


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value)


def _seconds(note: _Event, key: str = "seconds") -> str:
    return f"{float(note[key]):.1f} s"


def _gap(note: _Event) -> str:
    return f"no server for {_seconds(note)}, then its start {note['epoch']}: {note['why']}"


def _stop(note: _Event) -> str:
    left = "; ".join(note["unsure"])
    return f"the server was stopped in {_seconds(note)}" + (f"; {left}" if left else "")


def _probe(note: _Event) -> str:
    came = "an answer" if note["ok"] else f"no answer ({note['text']})" if note.get("text") else "no answer"
    return f"asked for a sign of life, it gave {came} after {_seconds(note)}"


def _turns(note: _Event) -> str:
    return f"{counted(len(note.get('turns') or ()), 'turn')} open"


def _of_rank(note: _Event, text: str) -> str:
    """What a rank's log said, and how often where that was more than once."""
    times = note.get("times")
    return f"rank {note['rank']}: {text}" + (f" ({times} times)" if times else "")


def _traceback(note: _Event) -> str:
    return _of_rank(note, "a client had left" if note["client_left"] else str(note["last_line"]))


def _what(note: _Event) -> str:
    return str(note["what"])


_SENTENCES: Mapping[str, Callable[[_Event], str]] = {
    "attach": lambda note: f"attached to {note['url']}",
    "ready": lambda note: f"ready after {_seconds(note)}",
    "error": _what,
    "death": _what,
    "guard": _what,
    "wedge": _what,
    "gap": _gap,
    "stop": _stop,
    "health": lambda note: f"/health says {str(note['says']).replace('_', ' ')}",
    "pressure": lambda note: f"memory pressure on {note['host']}: {note['level']}",
    "slept": lambda note: f"the machine slept for {_seconds(note)}" + ("" if note["sure"] else ", as it seems"),
    "clock_set": lambda note: f"its clock was set by {float(note['seconds']):+.1f} s",
    "ssh_lost": lambda note: f"the connection to {note['host']} broke ({note['why']}) and is made anew",
    "quiet": lambda note: f"nothing has moved for {_seconds(note)}, {_turns(note)}",
    "moving": lambda note: f"it moves again, after {_seconds(note, 'after_s')}",
    "probe": _probe,
    "traceback": _traceback,
    "generation_thread_died": lambda note: _of_rank(note, f"its generation thread died: {note['why']}"),
    "tool_call_dropped": lambda note: _of_rank(note, f"a tool call could not be read and was dropped: {note['why']}"),
    "warning": lambda note: _of_rank(note, f"{str(note['level']).lower()}: {note['text']}"),
    "log_skipped": lambda note: f"{int(note['bytes']):,} bytes of rank {note['rank']}'s log were not read",
}
