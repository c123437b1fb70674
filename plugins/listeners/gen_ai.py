"""What the GenAI conventions of OpenTelemetry call a turn's figures, and under which attributes they are counted.

A chunk is not a token: it is one event of the stream that holds an answer, and a server may put several tokens in one.
Source: open-telemetry/semantic-conventions-genai, docs/gen-ai/gen-ai-metrics.md (status: development).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from locust_agents.answers import itl
from locust_agents.plugins.api import Outcome, TurnRecord

# The convention's bounds end at 81.92 s; an agent of a slow cluster waits longer, so they go on.
_SECONDS = tuple(0.01 * 2**power for power in range(17))
_TOKENS = tuple(4**power for power in range(14))


@dataclass(frozen=True, slots=True)
class Instrument:
    """A histogram: `unit` as UCUM has it, `bounds` of its buckets in that unit."""

    name: str
    unit: str
    what: str
    bounds: tuple[float, ...]


DURATION = Instrument("gen_ai.client.operation.duration", "s", "A turn from its start to its end", _SECONDS)
FIRST = Instrument(
    "gen_ai.client.operation.time_to_first_chunk", "s", "From the request's last byte to the first token", _SECONDS
)
EACH = Instrument(
    "gen_ai.client.operation.time_per_output_chunk", "s", "The gap before each chunk; a chunk is not a token", _SECONDS
)
USAGE = Instrument("gen_ai.client.token.usage", "{token}", "Tokens of a turn, as the server counted them", _TOKENS)
INSTRUMENTS = (DURATION, FIRST, EACH, USAGE)
ATTRIBUTES = (
    "gen_ai.operation.name",
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "gen_ai.token.type",
    "error.type",
    "locust_agents.entry",
    "locust_agents.kind",
)

Point = tuple[Instrument, float, int, Mapping[str, str]]


def points(record: TurnRecord, provider: str, model: str) -> Iterator[Point]:
    """What a turn adds: instrument, value, how many times, attributes. One that was never sent on purpose adds nothing.

    The gaps of chunks are in buckets 2 % wide already. Without a stream there are neither first chunks nor gaps.
    """
    if record.outcome is Outcome.CAPPED:
        return
    who = _attributes(record, provider, model)
    error = {} if record.outcome is Outcome.OK else {"error.type": str(record.outcome)}
    yield DURATION, record.end_s, 1, {**who, **error}
    if record.streamed is not False and record.ttft_s is not None:
        yield FIRST, record.ttft_s, 1, who
        for bucket, times in record.itl_hist.items():
            yield EACH, itl.gap_s(bucket), times, who
    for kind, tokens in (("input", record.prompt_tokens), ("output", record.completion_tokens)):
        if tokens is not None:
            yield USAGE, tokens, 1, {**who, "gen_ai.token.type": kind}


def _attributes(record: TurnRecord, provider: str, model: str) -> dict[str, str]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
        "locust_agents.entry": record.entry,
        "locust_agents.kind": record.kind,
    }
