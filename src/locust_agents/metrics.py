"""What is measured of a set of records, by the name that limits and tables use."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from locust_agents import figures
from locust_agents.answers import itl
from locust_agents.figures import Wait
from locust_agents.outcome import Outcome
from locust_agents.records import TurnRecord
from locust_agents.right.answer_check import RIGHT

_APART = (Outcome.CUT, Outcome.ABANDONED, Outcome.CAPPED)


def waits(records: Iterable[TurnRecord], metric: str) -> list[Wait]:
    """The values of a metric, one a turn. Waits count every turn sent; the rest only turns that ended well."""
    return [wait for record in records if (wait := _OF[metric](record)) is not None]


def gaps(records: Iterable[TurnRecord]) -> dict[int, int]:
    """All gaps between tokens of turns that ended well, as one histogram."""
    return itl.merge([record.itl_hist for record in records if record.outcome is Outcome.OK])


def reused(record: TurnRecord) -> tuple[int, int] | None:
    """Cached tokens, as far as they were expected, and expected ones; None where none were, or no usage tells."""
    if record.cached_tokens is None or not record.expected_tokens:
        return None
    return min(record.cached_tokens, record.expected_tokens), record.expected_tokens


def reuse(records: Iterable[TurnRecord]) -> float | None:
    """Cached over expected tokens; None where no turn could have found anything, or no usage was reported.

    What one turn found beyond its expectation makes up for no other's miss.
    """
    known = [found for record in records if (found := reused(record)) is not None]
    return sum(cached for cached, _ in known) / sum(expected for _, expected in known) if known else None


def reuse_of_all(records: Iterable[TurnRecord]) -> tuple[float, float] | None:
    """The shares of all prompt tokens that were cached and that could have been; None where no usage tells.

    What was found beyond its expectation could have been: the second is never the smaller.
    """
    known = [
        (record.cached_tokens, max(record.cached_tokens, record.expected_tokens), record.prompt_tokens)
        for record in records
        if record.cached_tokens is not None and record.expected_tokens is not None and record.prompt_tokens
    ]
    cached, possible, prompts = (sum(sizes) for sizes in zip(*known, strict=True)) if known else (0, 0, 0)
    return (cached / prompts, possible / prompts) if prompts else None


def no_call(records: Iterable[TurnRecord]) -> float | None:
    """Of the turns that a tool call was expected of, the share without one; None where none was."""
    known = [record.no_call for record in records if record.no_call is not None]
    return sum(known) / len(known) if known else None


def thinking(records: Iterable[TurnRecord]) -> float | None:
    """The share of reasoning in the tokens of ok turns; None where no turn says how much it reasoned.

    A delta of reasoning is taken for one token. A tool call is one delta and many tokens: they count as tokens.
    """
    known = [
        (record.reasoning_chunks, max(record.completion_tokens or 0, record.chunks))
        for record in records
        if record.outcome is Outcome.OK and record.reasoning_chunks is not None
    ]
    written = sum(tokens for _, tokens in known)
    return sum(chunks for chunks, _ in known) / written if written else None


def failures(records: Sequence[TurnRecord]) -> float | None:
    """Failed turns as a share of those that we did not end ourselves; None where there are none of these."""
    counted = [record for record in records if record.outcome not in _APART]
    return sum(record.is_failure for record in counted) / len(counted) if counted else None


def right(records: Iterable[TurnRecord]) -> float | None:
    """Of the code words asked back, the share of answers that were right; None where none was judged."""
    known = [record.canary == RIGHT for record in records if record.canary is not None]
    return sum(known) / len(known) if known else None


def same(records: Iterable[TurnRecord]) -> float | None:
    """Of the answers to the identity prompt in the crowd, the share that were as alone; None where there was none."""
    known = [record.same for record in records if record.same is not None]
    return sum(known) / len(known) if known else None


def prefill_all(records: Iterable[TurnRecord]) -> float | None:
    """Tokens/s of ok turns' prefills whose speed is known, each weighted by its seconds; None where none is known."""
    known = [
        (record.prefill_tokens_s, record.prefill_end_s - record.first_progress_s)
        for record in records
        if record.outcome is Outcome.OK
        and not record.prefill_is_bound
        and record.prefill_tokens_s is not None
        and record.prefill_end_s is not None
        and record.first_progress_s is not None
    ]
    seconds = sum(seconds for _, seconds in known)
    return sum(speed * seconds for speed, seconds in known) / seconds if seconds > 0 else None


def decode_all(records: Iterable[TurnRecord]) -> float | None:
    """Tokens/s of all ok turns together, over the seconds in which at least one of them decoded."""
    ok = [record for record in records if record.outcome is Outcome.OK]
    known = [(record.wall_time, spell) for record in ok if (spell := _decoding(record)) is not None]
    seconds = figures.union_s((wall_time + start_s, wall_time + end_s) for wall_time, (start_s, end_s, _) in known)
    return sum(tokens for _, (_, _, tokens) in known) / seconds if seconds > 0 else None


def _since_sent(record: TurnRecord, at_s: float | None) -> Wait | None:
    if record.sent_s is None:
        return None
    if at_s is None:
        return Wait(record.end_s - record.sent_s, is_more=True)
    return Wait(at_s - record.sent_s)


def _queue(record: TurnRecord) -> Wait | None:
    """Headers that end a whole answer do not tell how long it queued: all of its prefill and decode came before."""
    return None if record.streamed is False else _since_sent(record, record.headers_s)


def _first_answer(record: TurnRecord) -> Wait | None:
    if record.first_answer_s is None and record.outcome is Outcome.NO_ANSWER:
        return None  # ended properly without one: there was nothing to wait for
    return _since_sent(record, record.first_answer_s)


def _plain(value: float | None) -> Wait | None:
    return None if value is None else Wait(value)


def _of_ok(field: Callable[[TurnRecord], float | None]) -> Callable[[TurnRecord], Wait | None]:
    return lambda record: _plain(field(record)) if record.outcome is Outcome.OK else None


def _decoding(record: TurnRecord) -> tuple[float, float, int] | None:
    """From when to when tokens were generated, and how many; None where it is not known.

    A tool call comes in one piece after all its tokens: an answer that begins with one began when its prefill ended.
    """
    end_s, tokens = record.last_token_s, record.completion_tokens
    is_silent = record.first_channel == "tool_call"
    start_s = record.prefill_end_s if is_silent else record.first_token_s
    if start_s is None or end_s is None or not tokens or end_s <= start_s:
        return None
    return start_s, end_s, tokens if is_silent else tokens - 1


def _decode(record: TurnRecord) -> float | None:
    spell = _decoding(record)
    return None if spell is None else spell[2] / (spell[1] - spell[0])


SHARES: Mapping[str, Callable[[Sequence[TurnRecord]], float | None]] = {
    "reuse": reuse,
    "failures": failures,
    "right": right,
    "same": same,
}
"""Metrics that are one figure of all the records."""

OF_CANARIES = ("failures", "right", "same")
"""Metrics that count canary turns too where no kind is asked for; the others are of what agents wait for."""

_OF: Mapping[str, Callable[[TurnRecord], Wait | None]] = {
    "ttft": lambda record: _since_sent(record, record.first_token_s),
    "first_answer": _first_answer,
    "queue": _queue,
    "connect": lambda record: _plain(record.connect_s),
    "prompt": lambda record: None if record.outcome is Outcome.CAPPED else _plain(record.prompt_tokens),
    "prefill": _of_ok(lambda record: None if record.prefill_is_bound else record.prefill_tokens_s),
    "stall": _of_ok(lambda record: record.stall_s),
    "turn": _of_ok(lambda record: record.end_s),
    "decode": _of_ok(_decode),
}
