"""What the other turns of a run were doing in a span of time, from their records; times are UNIX seconds."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from locust_agents import figures
from locust_agents.quantities import count, counted
from locust_agents.records import TurnRecord

Span = tuple[float, float]

# The others that are named: those who fill so much of the time together, but not more of them than this.
_ENOUGH, _MOST_NAMED = 0.8, 2


@dataclass(frozen=True, slots=True)
class Beside:
    """Another turn. Spans are None where it never came so far; of an answer in one piece nothing inside is known."""

    record: TurnRecord
    open: Span | None
    prefill: Span | None
    decode: Span | None


@dataclass(frozen=True, slots=True)
class Done:
    """What others did within a span: seconds that at least one did it, and the turns, the longest first."""

    seconds: float
    turns: tuple[TurnRecord, ...]


def beside(record: TurnRecord) -> Beside:
    """A turn as its neighbours meet it: prefill from its headers on, decode from its first token on."""
    at, end_s = record.wall_time, record.end_s
    sent_s, headers_s, first_s = record.sent_s, record.headers_s, record.first_token_s
    if sent_s is None:
        return Beside(record, None, None, None)
    opened = (at + sent_s, at + end_s)
    if headers_s is None or record.streamed is False:
        return Beside(record, opened, None, None)
    prefilled_s = next((one for one in (record.prefill_end_s, first_s) if one is not None), end_s)
    decode = None if first_s is None else (at + first_s, at + _last(record))
    return Beside(record, opened, (at + headers_s, at + prefilled_s), decode)


def done(span: Span, others: Iterable[Beside], doing: Callable[[Beside], Span | None]) -> Done:
    """What `doing` says that each of the others did, within the span."""
    found = [(cut, other.record) for other in others if (cut := _cut(span, doing(other))) is not None]
    found.sort(key=lambda each: each[0][0] - each[0][1])
    return Done(figures.union_s(cut for cut, _ in found), tuple(record for _, record in found))


def prefill(other: Beside) -> Span | None:
    """For `done`."""
    return other.prefill


def decode(other: Beside) -> Span | None:
    """For `done`."""
    return other.decode


def opened(other: Beside) -> Span | None:
    """For `done`: from sent to its end."""
    return other.open


def work(span: Span, others: Sequence[Beside]) -> float:
    """Seconds within the span in which others were prefilled or answered."""
    spans = [cut for other in others for one in (other.prefill, other.decode) if (cut := _cut(span, one)) is not None]
    return figures.union_s(spans)


def prefilled(span: Span, others: Sequence[Beside]) -> str:
    """Who was prefilled within the span, and how much: "giant/0 prefilled 61k tokens"."""
    turns = done(span, others, prefill).turns
    named = _named(span, others, turns)
    rest = len(turns) - len(named)
    names = [name(turn) for turn in named] + ([counted(rest, "other")] if rest else [])
    sizes = [computed(turn) for turn in turns]
    known = [size for size in sizes if size is not None]
    read = f" {tokens(sum(known))}" if known and len(known) == len(sizes) else ""
    return f"{_joined(names)} prefilled{read}"


def name(record: TurnRecord) -> str:
    """An agent as a person says it: giant/0 for giant/0.0, whose worker is the only one or the first."""
    entry, _, number = record.agent.rpartition("/")
    worker, dot, place = number.partition(".")
    return f"{entry}/{place}" if dot and worker == "0" else record.agent


def computed(record: TurnRecord) -> int | None:
    """Prompt tokens that the server computed: of a turn that ended in its prefill, those that were done by then."""
    if record.wasted_prefill_tokens is not None:
        return record.wasted_prefill_tokens
    if record.computed_tokens is not None:
        return record.computed_tokens
    if record.prompt_tokens is None:
        return None
    return record.prompt_tokens - (record.cached_tokens or 0)


def tokens(number: float) -> str:
    """In full up to ten thousand, then in thousands."""
    if number < 9_999.5:
        return f"{number:,.0f} token{'' if round(number) == 1 else 's'}"
    return f"{number / 1000:.0f}k tokens" if number < 999_500 else f"{count(number)} tokens"


def _last(record: TurnRecord) -> float:
    return record.end_s if record.last_token_s is None else record.last_token_s


def _cut(span: Span, other: Span | None) -> Span | None:
    if other is None:
        return None
    start, end = max(span[0], other[0]), min(span[1], other[1])
    return (start, end) if end > start else None


def _named(span: Span, others: Sequence[Beside], turns: Sequence[TurnRecord]) -> list[TurnRecord]:
    """Those whose prefills fill most of what all of them fill."""
    by_record = {id(other.record): other for other in others}
    whole = done(span, others, prefill).seconds
    for number in range(1, _MOST_NAMED + 1):
        chosen = [by_record[id(turn)] for turn in turns[:number]]
        if done(span, chosen, prefill).seconds >= _ENOUGH * whole:
            return list(turns[:number])
    return list(turns[:_MOST_NAMED])


def _joined(names: Sequence[str]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"


def length(span: Span) -> float:
    """Seconds, 0 for one that ends before it starts."""
    return math.fsum((span[1], -span[0])) if span[1] > span[0] else 0.0
