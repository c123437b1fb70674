"""Times a few prompts on an idle server, before the load: the curve that forecasts and prices of misses use."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from locust_agents.forecast import last_curve
from locust_agents.forecast.prefill_curve import Curve, Point, Speed, described, through
from locust_agents.locustfiles import asking
from locust_agents.locustfiles.asking import Heard, Peer
from locust_agents.outcome import Outcome
from locust_agents.prompts import filler, preambles, request
from locust_agents.prompts.sizing import Calibration, Sizer
from locust_agents.quantities import count
from locust_agents.telling import Note, Say

BUDGET_S = 60.0
"""What all the timed prompts together may take, as far as the smaller ones foretell the larger."""

# A prompt that had to be made smaller than this many times the one before would say nothing new.
_LEAST_STEP = 1.2
# Below this a hiccup of the machine is a large part: a second try, of which the shorter counts, since noise only adds.
_SHORT_S = 1.0
# Long enough for the time between two tokens to be even, short enough to be over soon on the slowest server.
_DECODED_TOKENS = 16
_SHORT_TOKENS = 64


_FAILURES = (
    Outcome.HTTP_ERROR,
    Outcome.ERROR_IN_STREAM,
    Outcome.BAD_PROTOCOL,
    Outcome.EMPTY_STREAM,
    Outcome.TRUNCATED,
)


@dataclass(frozen=True, slots=True)
class Timing:
    """Who is timed, in prompts of sizes that the calibration makes exact, and who is told of it."""

    peer: Peer
    calibration: Calibration
    note: Note
    say: Say = lambda _: None
    within_s: float = BUDGET_S


def budget_s(duration_s: float | None) -> float:
    """A tenth of the run, five seconds at least; a minute where the run has no duration."""
    return BUDGET_S if duration_s is None else min(BUDGET_S, max(5.0, duration_s / 10))


def speed(timing: Timing, sizes_tokens: Sequence[int]) -> Speed:
    """Prefill and decode of this server, noted so that a later `check` finds them (`last_curve`)."""
    prefill = measure(timing, sizes_tokens)
    if prefill is None:
        return Speed()
    decode_tok_s = decode_speed(timing)
    timing.note(last_curve.EVENT, last_curve.fields_of(prefill, decode_tok_s))
    timing.say(described(prefill))
    return Speed(prefill, decode_tok_s)


def measure(timing: Timing, sizes_tokens: Sequence[int]) -> Curve | None:
    """The curve through prompts of these sizes, smallest first; None where the server answered none of them.

    Each is answered with one token. Its prefill counts from the answer's headers to the first token of any kind:
    mlx_lm.server sends the headers when it has taken the request out of its queue and made tokens of it, so that the
    queue is left out; and what the last prefill step and the first token cost is what an agent waits for. (From the
    request to the first token would bring in the queue; to the last prefill comment would leave out servers that send
    none.) A server that sends its headers at once is idle here, and has no queue either.

    Each prompt opens with marks of its own that no agent, run or other prompt has, so that none is found in the cache
    or heats it; what it leaves there is older than all that agents leave, and is dropped first.
    """
    points: list[Point] = []
    spent_s, began_s = 0.0, perf_counter()
    for wanted in sorted(set(sizes_tokens)):
        size = wanted
        if points:
            size = min(size, int(through(points).tokens_within(max(0.0, timing.within_s - spent_s))))
            if size < points[-1][0] * _LEAST_STEP:
                continue
        timing.say(f"timing a prompt of {count(size)} tokens")
        point = _prefill(timing, size)
        if point is not None:
            points.append(point)
        spent_s = perf_counter() - began_s
    return through(points) if points else None


def decode_speed(timing: Timing) -> float | None:
    """Tokens/s of one short answer to one short prompt, alone; None where two came in one piece, or not at all."""
    first = _decoded_tok_s(_heard(timing, "one answer", _SHORT_TOKENS, _DECODED_TOKENS))
    return first or _decoded_tok_s(_heard(timing, "one answer", _SHORT_TOKENS, _DECODED_TOKENS))


def _decoded_tok_s(heard: Heard) -> float | None:
    first_s, last_s, usage = heard.answer.first_token_s, heard.answer.last_byte_s, heard.answer.usage
    if first_s is None or last_s is None or last_s <= first_s or usage is None:
        return None
    if usage.completion_tokens is None or usage.completion_tokens < 2:
        return None
    # the first token is there at the first moment; the one that ends an answer is counted, and comes with the last byte
    return (usage.completion_tokens - 1) / (last_s - first_s)


def _prefill(timing: Timing, tokens: int) -> Point | None:
    """The tokens that were computed and the seconds that took; the shorter of two where it is short."""
    found = _timed(timing, tokens)
    if found is None or found[1] >= _SHORT_S:
        return found
    again = _timed(timing, tokens)
    return found if again is None else min(found, again, key=lambda point: point[1])


def _timed(timing: Timing, tokens: int) -> Point | None:
    heard = _heard(timing, "one prompt", tokens, 1)
    # a token may have no text of its own (half a character): then the end is when it came
    first_s, headers_s = heard.answer.first_token_s, heard.headers_s
    end_s = heard.answer.last_byte_s if first_s is None else first_s
    has_failed = heard.is_broken_off or heard.outcome in _FAILURES
    if has_failed or end_s is None or headers_s is None or end_s <= headers_s:
        return None
    return heard.computed_tokens or tokens, end_s - headers_s


def _heard(timing: Timing, what: str, tokens: int, answer_tokens: int) -> Heard:
    """What came of one prompt of this size, noted."""
    rng = random.SystemRandom()  # a nonce that came back would be found in the cache
    opening = f"# timing {preambles.nonce(rng)}\n"
    chars = Sizer(timing.calibration).chars(tokens, len(opening))
    text = opening + filler.text(chars, random.Random(opening))
    heard = asking.ask(timing.peer, request.question("curve", timing.peer.model, text, answer_tokens))
    stamps = {"headers_s": heard.headers_s, "first_token_s": heard.answer.first_token_s}
    computed = {"wanted_tokens": tokens, "computed_tokens": heard.computed_tokens}
    timing.note("timing", {"what": what, **computed, **stamps, "outcome": heard.outcome, "error": heard.error})
    return heard
