"""Decides how a turn looks to the watch, from its stream, its record, or what a worker sent; and what is unusual."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from locust_agents.answers.stream import Answer
from locust_agents.cluster.watch.look import EndedLook, OpenLook, Phase
from locust_agents.records import TurnRecord

_USUAL = frozenset(
    "messages tools tool_choice parallel_tool_calls stream stream_options max_tokens max_completion_tokens stop"
    " temperature top_p top_k min_p presence_penalty frequency_penalty repetition_penalty reasoning_effort store user"
    " metadata chat_template_kwargs".split()
)
"""Fields that coding agents send, and for which mlx_lm.server (0.32) does nothing out of the ordinary."""

_TIMES = ("started_s", "sent_s", "moved_s")


def unusual_fields(fields: Mapping[str, Any], model: str) -> tuple[str, ...]:
    """The request's fields, with short values, that may change how it is served: `seed 7`; a model other than `model`.

    To be given what is small and known before a body is built, such as a profile's parameters.
    """
    odd = {name: value for name, value in fields.items() if name not in _USUAL and value is not None}
    if odd.get("model") == model:
        del odd["model"]
    return tuple(f"{name} {value}"[:40].replace("\n", " ") for name, value in odd.items())


def open_look(who: OpenLook, headers_s: float | None, answer: Answer) -> OpenLook:
    """`who` (names and start) with what its stream has said; `headers_s` and the answer's times count from the start.

    Comments that tell of no progress, and bytes of which no token came, do not count as movement: other servers send
    them while they hang.
    """
    step = answer.progress[-1] if answer.progress else None
    moves = [headers_s, answer.last_token_s, step.at_s if step else None]
    return dataclasses.replace(
        who,
        moved_s=_latest(who.started_s, moves),
        phase=_phase(headers_s, answer.prefill_end_s, answer.first_token_s),
        prefill_done=step.done if step else None,
        prefill_total=step.total if step else None,
    )


def ended_look(record: TurnRecord, ended_s: float, unusual: tuple[str, ...] = ()) -> EndedLook:
    """What a record tells; `ended_s` is its end on the watch's clock, near enough when it has just come in."""
    started_s = ended_s - record.end_s
    moves = [record.headers_s, record.first_progress_s, record.prefill_end_s, record.last_token_s]
    turn = OpenLook(
        record.agent,
        record.session,
        record.turn,
        record.kind,
        started_s,
        None if record.sent_s is None else started_s + record.sent_s,
        _latest(started_s, moves),
        _phase(record.headers_s, record.prefill_end_s, record.first_token_s),
        prefill_done=None if record.first_progress_s is None else record.computed_tokens,
        unusual=unusual,
    )
    return EndedLook(turn, record.outcome, ended_s)


def to_plain(looks: Sequence[OpenLook], now_s: float) -> list[dict[str, Any]]:
    """For a message to another machine, whose clock is another: times become ages."""
    return [_shifted(dataclasses.asdict(look), now_s) for look in looks]


def from_plain(plain: Sequence[Mapping[str, Any]], now_s: float) -> tuple[OpenLook, ...]:
    """What `to_plain` made, on this machine's clock; the time that the message took is not known, and left out."""
    return tuple(OpenLook(**{**_shifted(look, now_s), "unusual": tuple(look["unusual"])}) for look in plain)


def _shifted(look: Mapping[str, Any], now_s: float) -> dict[str, Any]:
    return {**look, **{name: now_s - look[name] for name in _TIMES if look[name] is not None}}


def _latest(started_s: float, moves: Sequence[float | None]) -> float | None:
    happened = [at_s for at_s in moves if at_s is not None]
    return started_s + max(happened) if happened else None


def _phase(headers_s: float | None, prefill_end_s: float | None, first_token_s: float | None) -> Phase:
    if prefill_end_s is not None or first_token_s is not None:
        return "decode"
    return "queue" if headers_s is None else "prefill"
