"""Decides why the worst turns of a run waited: one sentence each, from what its records and its notes say, or none.

Nothing is guessed: a sentence names what overlaps with the wait, and where that is less than most of it, it begins with
"unexplained".
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from locust_agents import metrics
from locust_agents.figures import Wait
from locust_agents.forecast.prefill_curve import Curve
from locust_agents.quantities import seconds
from locust_agents.records import CANARY, TurnRecord
from locust_agents.why import parts as why_parts
from locust_agents.why import spans
from locust_agents.why.parts import ENOUGH, Around, Part

# Where the server's backlog is full, a connection is asked for again after 1 s, and then after 1 s or twice as long as
# before (RFC 6298; newer Linux and BSD do not double the first ones): it takes whole seconds, and a little.
_RETRIES_S, _NEAR_S, _LONG_S = (1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 15.0), 0.2, 0.5


@dataclass(frozen=True, slots=True)
class Cause:
    """Of the worst turn of an entry by `metric`: ttft, stall or connect.

    `parts` are seconds by name, which add up to the value; `explained` is the share of it that the sentence accounts
    for. `wall_time` is the turn's start in UNIX seconds.
    """

    entry: str
    metric: str
    value: Wait
    agent: str
    session: str
    turn: int
    attempt: int
    wall_time: float
    sentence: str
    explained: float
    parts: Mapping[str, float] = field(default_factory=dict)


def why(
    records: Sequence[TurnRecord],
    notes: Sequence[Mapping[str, Any]] = (),
    entries: int | None = None,
    curve: Curve | None = None,
    is_shared: bool = False,
    measured: Sequence[TurnRecord] | None = None,
) -> tuple[Cause, ...]:
    """By entry in order of its first turn: TTFT, then stall, then connect where that took half a second.

    `records` are all that the server worked on; the worst are looked for among `measured`, by default all. `notes` are
    the lines of cluster.jsonl, `entries` what the prompt cache holds, `curve` the prefill of an idle server.
    """
    beside = [spans.beside(record) for record in records]
    chosen = [record for record in (records if measured is None else measured) if record.kind != CANARY]
    ordered = sorted(chosen, key=lambda record: record.wall_time)
    return tuple(
        cause
        for entry in dict.fromkeys(record.entry for record in ordered)
        for metric, explain in _EXPLAIN.items()
        if (worst := _worst([record for record in ordered if record.entry == entry], metric)) is not None
        for others in [[other for other in beside if other.record is not worst[0]]]
        for cause in explain(*worst, Around(others, notes, curve, entries, is_shared))
    )


def _worst(records: Sequence[TurnRecord], metric: str) -> tuple[TurnRecord, Wait] | None:
    """The first of the largest."""
    known = [(record, wait) for record in records for wait in metrics.waits([record], metric)]
    return max(known, key=lambda each: (each[1].value, each[1].is_more), default=None)


def _of_ttft(record: TurnRecord, value: Wait, around: Around) -> Iterator[Cause]:
    found = why_parts.parts(record, around)
    named = _most(found, value.value)
    explained = sum(part.explained_s for part in named) / value.value if value.value > 0 else 1.0
    sentence = "; ".join(part.text for part in named)
    parts = {part.name: part.seconds for part in found}
    yield _cause(record, "ttft", value, sentence, explained, parts)


def _most(parts: Sequence[Part], whole_s: float) -> list[Part]:
    """The longest ones that make up most of it, in their order."""
    chosen: list[Part] = []
    for part in sorted(parts, key=lambda part: -part.seconds):
        if chosen and sum(one.seconds for one in chosen) >= ENOUGH * whole_s:
            break
        chosen.append(part)
    return [part for part in parts if part in chosen]


def _of_stall(record: TurnRecord, value: Wait, around: Around) -> Iterator[Cause]:
    """A record says how long its longest gap was, and not when: what filled it must lie within its answer."""
    span = spans.beside(record).decode
    if span is None or value.value <= 0:
        return
    text = f"a gap of {seconds(value)} in its answer"
    read = spans.done(span, around.others, spans.prefill)
    is_alone = spans.done(span, around.others, spans.opened).seconds <= 0.0
    if read.seconds >= ENOUGH * value.value:
        explained = 1.0
        text += f", in which {spans.prefilled(span, around.others)}"
    elif is_alone:
        explained = 1.0
        text += f"; {why_parts.nobody(around)}"
    else:
        explained = read.seconds / value.value
    yield _cause(record, "stall", value, text, explained, {"stall": value.value})


def _of_connect(record: TurnRecord, value: Wait, _around: Around) -> Iterator[Cause]:
    if value.value < _LONG_S:
        return
    is_retry = any(0 <= value.value - retry_s <= _NEAR_S for retry_s in _RETRIES_S)
    text = f"connect took {seconds(value)}" + (": the server's backlog" if is_retry else "")
    yield _cause(record, "connect", value, text, 1.0 if is_retry else 0.0, {"connect": value.value})


def _cause(
    record: TurnRecord, metric: str, value: Wait, text: str, explained: float, parts: Mapping[str, float]
) -> Cause:
    sentence = text if explained >= ENOUGH else f"unexplained: {text}"
    return Cause(
        record.entry,
        metric,
        value,
        record.agent,
        record.session,
        record.turn,
        record.attempt,
        record.wall_time,
        sentence,
        min(1.0, explained),
        parts,
    )


_EXPLAIN: Mapping[str, Callable[[TurnRecord, Wait, Around], Iterator[Cause]]] = {
    "ttft": _of_ttft,
    "stall": _of_stall,
    "connect": _of_connect,
}
