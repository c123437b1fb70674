"""The parts that a turn's wait for its first token is made of, and what each is put down to, in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from locust_agents.figures import Wait
from locust_agents.forecast.prefill_curve import Curve
from locust_agents.quantities import seconds
from locust_agents.records import TurnRecord
from locust_agents.why import spans
from locust_agents.why.again import read_again
from locust_agents.why.spans import Beside, Span, length

ENOUGH = 0.7
"""A wait is explained where so much of it is."""

_MAIN, _WHOLE, _SOME, _NOBODY = 0.5, 0.9, 0.3, 0.1
_STOPS: Mapping[str, str] = {"gap": "the server was started again", "slept": "the machine slept"}


@dataclass(frozen=True, slots=True)
class Around:
    """What is known of the run beside the turn.

    `curve` is that of an idle server, `entries` what its prompt cache holds; None is not known. `is_shared` where
    others than this run may use the server.
    """

    others: Sequence[Beside]
    notes: Sequence[Mapping[str, Any]] = ()
    curve: Curve | None = None
    entries: int | None = None
    is_shared: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """`explained_s` of its `seconds` are accounted for by what the text says."""

    name: str
    seconds: float
    text: str
    explained_s: float


def parts(record: TurnRecord, around: Around) -> tuple[Part, ...]:
    """From its last byte sent to its first token, or to its end: queue, own prefill and what came after, in order.

    Without comments on its prefill that part reaches to the first token. Their seconds add up to the wait.
    """
    if record.sent_s is None:
        return ()
    at, end_s = record.wall_time, record.end_s if record.first_token_s is None else record.first_token_s
    if record.headers_s is None or record.streamed is False:
        return (_queue((at + record.sent_s, at + end_s), around, "before its answer" if record.headers_s else None),)
    headers_s = min(record.headers_s, end_s)
    prefilled_s = end_s if record.prefill_end_s is None else min(record.prefill_end_s, end_s)
    found = [
        _queue((at + record.sent_s, at + headers_s), around, None),
        _prefill(record, (at + headers_s, at + prefilled_s), around),
    ]
    if record.prefill_end_s is not None:
        found.append(_after(record, (at + prefilled_s, at + end_s), around))
    return tuple(found)


def nobody(around: Around) -> str:
    """What is left where no other turn was open."""
    if around.is_shared:
        return "no other turn of ours was open: the server itself, or others who use it"
    return "no other turn was open: the server itself"


def _queue(span: Span, around: Around, where: str | None) -> Part:
    whole = length(span)
    text = f"{_s(whole)} {where or 'before headers'}"
    return Part("queue", whole, *_put_down(text, span, around))


def _put_down(text: str, span: Span, around: Around) -> tuple[str, float]:
    """To a stop of everything, to the prefills or the answers of others, to nobody, or to nothing."""
    whole, others = length(span), around.others
    for event, words in _STOPS.items():
        if (stopped_s := _stopped(span, around.notes, event)) >= _MAIN * whole > 0:
            return f"{text}, as {words}", stopped_s
    read = spans.done(span, others, spans.prefill)
    if read.turns and read.seconds >= _MAIN * whole:
        part = "" if read.seconds >= _WHOLE * whole else f"{_s(read.seconds)} of them "
        return f"{text}, {part}while {spans.prefilled(span, others)}", read.seconds
    worked_s = spans.work(span, others)
    if worked_s >= ENOUGH * whole > 0 and read.seconds >= _SOME * whole:
        some = f"{_s(read.seconds)} of them while {spans.prefilled(span, others)}"
        return f"{text}, {some}, the rest while others were being answered", worked_s
    if worked_s >= ENOUGH * whole > 0:
        return f"{text}, while the server was decoding for others and looked at its queue in bursts", worked_s
    if spans.done(span, others, spans.opened).seconds <= _NOBODY * whole:
        return f"{text}; {nobody(around)}", whole
    return text, worked_s


def _prefill(record: TurnRecord, span: Span, around: Around) -> Part:
    """Its own tokens, at the speed of an idle server where that is known; then those that were read beside it."""
    whole, size = length(span), spans.computed(record)
    again = read_again(record, whole, around.others, around.entries)
    own = f"its own {'prompt' if size is None else spans.tokens(size)} took {_s(whole)} to prefill"
    text = own if again is None else again
    alone_s = whole if around.curve is None or size is None else around.curve.seconds(record.cached_tokens or 0, size)
    read = spans.done(span, around.others, spans.prefill)
    if read.turns and read.seconds >= _SOME * whole:
        text += f", as {spans.prefilled(span, around.others)} beside it"
        return Part("prefill", whole, text, min(whole, alone_s + read.seconds))
    if alone_s >= ENOUGH * whole:
        return Part("prefill", whole, text, whole)
    answers = spans.done(span, around.others, spans.decode)
    text += f" ({_s(alone_s)} on an idle server)"
    if answers.seconds >= _MAIN * whole:
        agents = len({turn.agent for turn in answers.turns})
        text += f", as {agents} other answer{' was' if agents == 1 else 's were'} written beside it"
        return Part("prefill", whole, text, min(whole, alone_s + answers.seconds))
    return Part("prefill", whole, text, alone_s)


def _after(record: TurnRecord, span: Span, around: Around) -> Part:
    whole = length(span)
    text = f"{_s(whole)} from its prefill to its first token"
    if record.first_channel == "tool_call":
        return Part("after", whole, f"{_s(whole)} in which a tool call was written, which is not streamed", whole)
    read = spans.done(span, around.others, spans.prefill)
    if read.turns and read.seconds >= _MAIN * whole:
        return Part("after", whole, f"{text}, while {spans.prefilled(span, around.others)}", read.seconds)
    worked_s = spans.work(span, around.others)
    if worked_s >= ENOUGH * whole > 0:
        return Part("after", whole, f"{text}, while others were being answered", worked_s)
    if spans.done(span, around.others, spans.opened).seconds <= _NOBODY * whole:
        return Part("after", whole, f"{text}; {nobody(around)}", whole)
    return Part("after", whole, text, worked_s)


def _stopped(span: Span, notes: Sequence[Mapping[str, Any]], event: str) -> float:
    """Seconds of the span that a note's seconds cover; a note is written as its time ends."""
    ends = [(float(note["time"]), float(note["seconds"])) for note in notes if note.get("event") == event]
    return sum(max(0.0, min(span[1], end) - max(span[0], end - lasted_s)) for end, lasted_s in ends)


def _s(value: float) -> str:
    return seconds(Wait(value))
