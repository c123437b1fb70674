"""Who is doing what at this moment: a row for each open turn, and for each agent that has none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from locust_agents import stages
from locust_agents.cluster.watch.look import OpenLook

MOST = 100
"""Rows; of more agents, those that wait longest are shown."""
_Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Speed:
    """Tokens/s; a bound where the prefill was seen to move only once, and its queue counts in."""

    tokens_s: float
    is_bound: bool


class Prefills:
    """Remembers of each open turn where its prefill was first seen: its speed is the slope from there."""

    def __init__(self) -> None:
        self._first: dict[_Key, tuple[int, float]] = {}

    def look(self, looks: Sequence[OpenLook]) -> None:
        """Asked often enough, at least two steps of a long prefill are seen."""
        steps = {_key(look): (look.prefill_done, look.moved_s) for look in looks}
        seen = {key: (done, at_s) for key, (done, at_s) in steps.items() if done and at_s is not None}
        before = self._first
        self._first = {
            key: before[key] if key in before and before[key][0] <= step[0] else step for key, step in seen.items()
        }

    def speed(self, look: OpenLook) -> Speed | None:
        """None before the first step, and once tokens come."""
        first, moved_s = self._first.get(_key(look)), look.moved_s
        if look.phase != "prefill" or first is None or moved_s is None or look.prefill_done is None:
            return None
        if moved_s > first[1] and look.prefill_done > first[0]:
            return Speed((look.prefill_done - first[0]) / (moved_s - first[1]), False)
        since_s = moved_s - (look.sent_s or look.started_s)
        return Speed(look.prefill_done / since_s, True) if since_s > 0 else None


def rows(
    looks: Sequence[OpenLook], numbers: Mapping[str, Sequence[int]], prefills: Prefills, now_s: float
) -> tuple[list[dict[str, Any]], int]:
    """The rows by entry and agent, and how many are left out."""
    taken = {_seat(look.agent) for look in looks}
    idle = [
        {"agent": f"{entry}/{number}", "at": (entry, number), "phase": "pause"}
        for entry, those in numbers.items()
        for number in those
        if (entry, number) not in taken
    ]
    shown = sorted(looks, key=lambda look: look.started_s)[:MOST]
    found = [_open(look, prefills.speed(look), now_s) for look in shown] + idle[: max(0, MOST - len(shown))]
    order = {entry: place for place, entry in enumerate(numbers)}
    found.sort(key=lambda row: (order.get(row["at"][0], len(order)), *row.pop("at"), row.get("turn", 0)))
    return found, len(looks) + len(idle) - len(found)


def _open(look: OpenLook, speed: Speed | None, now_s: float) -> dict[str, Any]:
    return {
        "agent": look.agent if _seat(look.agent)[1] < 0 else "{}/{}".format(*_seat(look.agent)),
        "at": _seat(look.agent),
        "turn": look.turn,
        "kind": look.kind,
        "phase": look.phase,
        "done": look.prefill_done if look.phase == "prefill" else None,
        "total": look.prefill_total if look.phase == "prefill" else None,
        "speed": None if speed is None else round(speed.tokens_s),
        "is_bound": speed is not None and speed.is_bound,
        "for_s": round(max(0.0, now_s - look.started_s), 1),
    }


def _seat(agent: str) -> tuple[str, int]:
    """Of an agent whose name is nobody's of ours, the name and -1."""
    try:
        return stages.numbered(agent)
    except ValueError:
        return agent, -1


def _key(look: OpenLook) -> _Key:
    return look.agent, look.session, look.turn
