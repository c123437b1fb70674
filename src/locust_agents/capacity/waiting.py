"""Decides which share of its sessions an agent spent waiting for a first token."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

from locust_agents import figures
from locust_agents.records import CANARY, TurnRecord


@dataclass(frozen=True, slots=True)
class Waiting:
    """Shares of session time, pauses of tools and people included: the median agent's, and the worst one's."""

    median: float
    worst: float
    agent: str


def waiting(shares: Mapping[str, float]) -> Waiting | None:
    """The worst beside the median; None of nobody."""
    if not shares:
        return None
    agent = max(shares, key=lambda name: shares[name])
    return Waiting(median(shares.values()), shares[agent], agent)


def shares(records: Iterable[TurnRecord]) -> dict[str, float]:
    """By agent: the seconds in which it waited over those in which it had a session, of all runs together.

    A wait counts from the request's last byte to the first token, or to the turn's end where none came. Waits of
    sub-agents that overlap count once: so no share is above 1.
    """
    ordered = sorted((one for one in records if one.kind != CANARY), key=lambda one: (one.agent, one.run or ""))
    found: dict[str, list[tuple[float, float]]] = {}
    for (agent, _), turns in groupby(ordered, lambda one: (one.agent, one.run)):
        found.setdefault(agent, []).append(_seconds(list(turns)))
    sums = {agent: tuple(map(sum, zip(*of_runs, strict=True))) for agent, of_runs in found.items()}
    return {agent: waited / lasted for agent, (waited, lasted) in sums.items() if lasted > 0}


def _seconds(turns: Sequence[TurnRecord]) -> tuple[float, float]:
    """Of one agent in one run: how long it waited, and how long its sessions lasted."""
    return figures.union_s(span for one in turns for span in _wait(one)), figures.union_s(_sessions(turns))


def _wait(turn: TurnRecord) -> list[tuple[float, float]]:
    if turn.sent_s is None:
        return []
    until_s = turn.end_s if turn.first_token_s is None else turn.first_token_s
    return [(turn.wall_time + turn.sent_s, turn.wall_time + until_s)]


def _sessions(turns: Iterable[TurnRecord]) -> list[tuple[float, float]]:
    spans: dict[str, tuple[float, float]] = {}
    for one in turns:
        start, end = one.wall_time, one.wall_time + one.end_s
        before = spans.get(one.session, (start, end))
        spans[one.session] = min(before[0], start), max(before[1], end)
    return list(spans.values())
