"""Decides what a turn's time is divided into, and on which line of a chart it stands."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from locust_agents.records import TurnRecord


@dataclass(frozen=True, slots=True)
class Phases:
    """Where a turn's parts end, in seconds from its start; a part that did not happen is of no length.

    Queue to `taken`, prefill to `read`, decode to `silent`, then a tool call that is written in silence to `last`,
    which is the last token; from there to `end` nothing came.
    """

    taken: float
    read: float
    silent: float
    last: float
    end: float


def phases(record: TurnRecord) -> Phases:
    """The start of the prefill is known to a step at best: it is reckoned from its speed where that was measured."""
    end = record.end_s or 0.0
    taken = min(end, _taken(record))
    read = min(end, max(taken, _first(record.prefill_end_s, record.first_token_s, end)))
    last = min(end, max(read, _first(record.last_token_s, read)))
    silence = record.tool_silence_s or 0.0
    return Phases(taken, read, max(read, last - silence), last, end)


def _taken(record: TurnRecord) -> float:
    if record.sent_s is None or (record.headers_s is None and record.first_token_s is None):
        return record.end_s or 0.0
    if record.headers_s is None or record.streamed is False:
        return record.sent_s
    speed, done = record.prefill_tokens_s, record.prefill_end_s
    if not speed or record.prefill_is_bound or done is None or not record.computed_tokens:
        return record.headers_s
    reckoned = done - record.computed_tokens / speed
    return max(record.headers_s, min(reckoned, _first(record.first_progress_s, done)))


def _first(*values: float | None) -> float:
    return next((value for value in values if value is not None), 0.0)


@dataclass(frozen=True, slots=True)
class Lines:
    """`of` has the line of each record, `agents` the agent of each line: turns beside each other need several."""

    of: Sequence[int]
    agents: Sequence[str]


def lines(records: Sequence[TurnRecord], entries: Sequence[str]) -> Lines:
    """Agents by entry, then by number."""
    by_agent: dict[str, list[int]] = {}
    for place, record in enumerate(records):
        by_agent.setdefault(record.agent, []).append(place)
    order = {entry: number for number, entry in enumerate(entries)}
    of = [0] * len(records)
    agents: list[str] = []
    for agent in sorted(by_agent, key=lambda name: (order.get(name.rpartition("/")[0], len(order)), _natural(name))):
        places = sorted(by_agent[agent], key=lambda place: records[place].wall_time)
        beside = _side_by_side([records[place] for place in places])
        for place, line in zip(places, beside, strict=True):
            of[place] = len(agents) + line
        agents += [agent] * (max(beside) + 1)
    return Lines(of, agents)


def _side_by_side(records: Sequence[TurnRecord]) -> list[int]:
    """For each turn, in order of its start, the first line that is free."""
    found: list[int] = []
    busy: list[tuple[float, int]] = []
    free: list[int] = []
    for record in records:
        while busy and busy[0][0] <= record.wall_time:
            heapq.heappush(free, heapq.heappop(busy)[1])
        line = heapq.heappop(free) if free else len(busy)
        heapq.heappush(busy, (record.wall_time + record.end_s, line))
        found.append(line)
    return found


def _natural(name: str) -> list[tuple[int, str]]:
    """Agent 10 comes after agent 9."""
    words = name.replace("/", ".").split(".")
    return [(int(word), "") if word.isdecimal() else (-1, word) for word in words]
