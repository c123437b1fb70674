"""What of a request is not as it was in the request before: the first part that differs, and the byte in it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["volatile_text", "history_rewritten"]

# What is shown of a text, of which a third lies ahead of the first byte that differs.
_SHOWN, _AHEAD = 24, 8
_ROLE = re.compile(rb'\{"role":"(\w+)"')
_TOOLS, _MESSAGES = b'"tools":[', b'"messages":['


@dataclass(frozen=True, slots=True)
class Change:
    """`part` 0 is the head (parameters, tools, system), part n is message n; `byte` counts from 0 within the part.

    `before` and `now` show some 24 characters around it, empty where there is no text. `kind` is whose doing it is: of
    text that is meant to change, or of a client that goes back on what it sent. `share` is how much of the messages of
    the request before, in bytes, stands ahead of the change: 0 where it is in the head.
    """

    part: int
    byte: int
    where: str
    before: str
    now: str
    kind: Kind
    share: float

    def __str__(self) -> str:
        """One line."""
        place = f"{self.where}, byte {self.byte:,}"
        return f"{place}: “{self.before}” became “{self.now}”" if self.now else f"{place}: “{self.before}” is gone"


def change(before: Sequence[bytes], now: Sequence[bytes], block_bytes: int = 0) -> Change | None:
    """The first difference between two requests of a session, None where the later one only goes on from the other.

    Each is a head and messages. Parts that are one object are not looked into: a thousand messages cost some 50 µs.
    `block_bytes` is how far the environment block reaches into the first user message.
    """
    part = _first(before, now)
    if part is None:
        return None
    was, becomes = before[part], now[part] if part < len(now) else b""
    byte = _byte(was, becomes)
    return Change(
        part,
        byte,
        _where(part, was, byte),
        _excerpt(was, byte),
        _excerpt(becomes, byte),
        _kind(part, was, byte, block_bytes),
        _share(before, part, byte),
    )


def _first(before: Sequence[bytes], now: Sequence[bytes]) -> int | None:
    for part, (was, becomes) in enumerate(zip(before, now, strict=False)):
        if was is not becomes and was != becomes:
            return part
    return len(now) if len(now) < len(before) else None


def _byte(was: bytes, becomes: bytes) -> int:
    """The first that differs, by halving: slices are compared at the speed of memory, bytes at that of Python."""
    low, high = 0, min(len(was), len(becomes))
    while low < high:
        middle = (low + high + 1) // 2
        if was[low:middle] == becomes[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _where(part: int, was: bytes, byte: int) -> str:
    if part:
        return f"message {part} ({_role(was)})"
    if was.find(_MESSAGES, 0, byte) >= 0:
        last = was.rfind(b'{"role":"', 0, byte)
        return "system" if _role(was[last : last + _SHOWN]) in ("system", "unknown") else "examples"
    return "tools" if was.find(_TOOLS, 0, byte) >= 0 else "parameters"


def _role(message: bytes) -> str:
    found = _ROLE.match(message)
    return "unknown" if found is None else found[1].decode()


def _kind(part: int, was: bytes, byte: int, block_bytes: int) -> Kind:
    is_block = part == 1 and byte < block_bytes and _role(was) == "user"
    return "volatile_text" if part == 0 or is_block else "history_rewritten"


def _share(before: Sequence[bytes], part: int, byte: int) -> float:
    if part == 0:
        return 0.0
    ahead = sum(map(len, before[1:part])) + byte
    return ahead / max(1, sum(map(len, before[1:])))


def _excerpt(text: bytes, byte: int) -> str:
    """In one line; a character that the cut went through is left out."""
    start = max(0, byte - _AHEAD)
    return " ".join(text[start : start + _SHOWN].decode(errors="ignore").split())
