"""Decides where in a product's prompt text may change, and keeps those places at one length whatever stands there."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from locust_agents.profile import Profile, Volatile

Part = Literal["system_head", "system", "tools"]
Changes = Literal["never", "day", "project", "session", "request"]

# Where the date of a system prompt stands, and the description that a switch of mode rewrites, where a profile does not
# say: as in OpenCode 1.18, seen on the wire.
_DATE_SHARE, _MODE_SHARE = 0.92, 0.72
# Of less text than this a slot would be the most: there is none then.
_LEAST_HEAD_CHARS, _LEAST_SYSTEM_CHARS = 60, 120
_OF_A_RUN = ("project", "session", "request")


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for eleven characters: `text`, unless something changes it, at byte `offset` of the head.

    It begins at `share` of its part; `before` is the share of the preamble's tokens ahead of it where a template
    writes the system text before the tools. `breaks` is the kind of break on purpose that changes it.
    """

    part: Part
    share: float
    changes: Changes
    breaks: str | None
    text: str
    offset: int = 0
    before: float = 0.0


def fill(rng: random.Random) -> str:
    """A text for a slot: three groups of three digits, which are the same number of tokens whatever the digits are."""
    return " ".join(f"{rng.randrange(1000):03}" for _ in range(3))


def planned(profile: Profile, system_chars: int, tool_chars: int) -> tuple[Slot, ...]:
    """The slots of a preamble of this size, in the order of a system text that tools follow; not yet placed."""
    found: list[tuple[Part, float, Changes, str | None]] = []
    if profile.system_tokens and system_chars >= _LEAST_HEAD_CHARS:
        found.append(("system_head", 0.0, _of_head(profile.volatile), "head_hash"))
    if profile.system_tokens and system_chars >= _LEAST_SYSTEM_CHARS:
        found += _of_part("system", profile.volatile, "date_tail", _DATE_SHARE)
    if profile.tools and tool_chars > 0:
        found += _of_part("tools", profile.volatile, "tools_change", _MODE_SHARE)
    # never 000 at the end: behind a nonce that ends in zeros it would be found too early
    return tuple(Slot(*one, f"000 000 {number:03}") for number, one in enumerate(found, start=1))


def placed(slots: Iterable[Slot], head: bytes, system_share: float) -> tuple[Slot, ...]:
    """Those of them that the head has room for; `system_share` is the system text's share of its tokens."""
    return tuple(
        replace(slot, offset=offset, before=_before(slot, system_share))
        for slot in slots
        if (offset := head.find(slot.text.encode())) >= 0
    )


def written(head: bytes, slots: Sequence[Slot], texts: Sequence[str]) -> bytes:
    """The head with these texts in its slots; all else, and all lengths, stay."""
    changed = bytearray(head)
    for slot, text in zip(slots, texts, strict=True):
        changed[slot.offset : slot.offset + len(slot.text)] = text.encode()
    return bytes(changed)


def _of_head(volatile: Iterable[Volatile]) -> Changes:
    return next((part.changes for part in volatile if part.at == "system_head"), "never")


def _of_part(
    part: Part, volatile: Iterable[Volatile], breaks: str, share: float
) -> list[tuple[Part, float, Changes, str | None]]:
    """What changes within a run, and the one place that a break on purpose changes: the last one, a date's if any."""
    there = sorted((one for one in volatile if one.at == part), key=lambda one: one.share)
    dated = [one for one in there if one.changes == "day"] or there or [Volatile("system", share, "", "never")]
    slots = [one for one in there if one.changes in _OF_A_RUN or one is dated[-1]] or dated
    return [(part, one.share, one.changes, breaks if one is dated[-1] else None) for one in slots]


def _before(slot: Slot, system_share: float) -> float:
    if slot.part == "tools":
        return system_share + (1 - system_share) * slot.share
    return system_share * slot.share
