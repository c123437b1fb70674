"""Times a few prompts on an idle server, before the load: the curve that forecasts and prices of misses use."""

import random
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter

from locust_agents import filler, last_curve, messages, preambles
from locust_agents.conversation import closing, preamble
from locust_agents.locustfiles.calibration import PATIENCE, Note
from locust_agents.locustfiles.transport import Exchange, Target, perform
from locust_agents.outcome import Ending, Outcome, classify
from locust_agents.prefill_curve import Curve, Point, Speed, described, through
from locust_agents.quantities import count
from locust_agents.sizing import Calibration, Sizer

Say = Callable[[str], None]

BUDGET_S = 60.0
"""What all the timed prompts together may take, as far as the smaller ones foretell the larger."""

# A prompt that had to be made smaller than this many times the one before would say nothing new.
_LEAST_STEP = 1.2
# Below this a hiccup of the machine is a large part: a second try, of which the shorter counts, since noise only adds.
_SHORT_S = 1.0
# Long enough for the time between two tokens to be even, short enough to be over soon on the slowest server.
_DECODED_TOKENS = 16
_SHORT_TOKENS = 64


def budget_s(duration_s: float | None) -> float:
    """A tenth of the run, five seconds at least; a minute where the run has no duration."""
    return BUDGET_S if duration_s is None else min(BUDGET_S, max(5.0, duration_s / 10))


def speed(
    target: Target,
    model: str,
    sizes_tokens: Sequence[int],
    calibration: Calibration,
    note: Note,
    headers: Mapping[str, str] | None = None,
    say: Say = lambda _: None,
    within_s: float = BUDGET_S,
) -> Speed:
    """Prefill and decode of this server, noted so that a later `check` finds them (`last_curve`)."""
    prefill = measure(target, model, sizes_tokens, calibration, note, headers, say, within_s)
    if prefill is None:
        return Speed()
    decode_tok_s = decode_speed(target, model, calibration, note, headers)
    note(last_curve.EVENT, last_curve.fields_of(prefill, decode_tok_s))
    say(described(prefill))
    return Speed(prefill, decode_tok_s)


def measure(
    target: Target,
    model: str,
    sizes_tokens: Sequence[int],
    calibration: Calibration,
    note: Note,
    headers: Mapping[str, str] | None = None,
    say: Say = lambda _: None,
    within_s: float = BUDGET_S,
) -> Curve | None:
    """The curve through prompts of these sizes, smallest first; None where the server answered none of them.

    Each is answered with one token. Its prefill counts from the answer's headers to the first token of any kind:
    mlx_lm.server sends the headers when it has taken the request out of its queue and made tokens of it, so that the
    queue is left out; and what the last prefill step and the first token cost is what an agent waits for. (From the
    request to the first token would bring in the queue; to the last prefill comment would leave out servers that send
    none.) A server that sends its headers at once is idle here, and has no queue either.

    Each prompt opens with marks of its own that no agent, run or other prompt has, so that none is found in the cache
    or heats it; what it leaves there is older than all that agents leave, and is dropped first.
    """
    ask = _Asker(target, model, calibration, note, headers)
    points: list[Point] = []
    spent_s, began_s = 0.0, perf_counter()
    for wanted in sorted(set(sizes_tokens)):
        size = wanted
        if points:
            size = min(size, int(through(points).tokens_within(max(0.0, within_s - spent_s))))
            if size < points[-1][0] * _LEAST_STEP:
                continue
        say(f"timing a prompt of {count(size)} tokens")
        point = ask.prefill(size)
        if point is not None:
            points.append(point)
        spent_s = perf_counter() - began_s
    return through(points) if points else None


def decode_speed(
    target: Target, model: str, calibration: Calibration, note: Note, headers: Mapping[str, str] | None = None
) -> float | None:
    """Tokens/s of one short answer to one short prompt, alone; None where two came in one piece, or not at all."""
    ask = _Asker(target, model, calibration, note, headers)
    first = _decoded_tok_s(ask.exchange("one answer", _SHORT_TOKENS, _DECODED_TOKENS))
    return first or _decoded_tok_s(ask.exchange("one answer", _SHORT_TOKENS, _DECODED_TOKENS))


def _decoded_tok_s(exchange: Exchange) -> float | None:
    answer = exchange.answer
    first_s, last_s, usage = answer.first_token_s, answer.last_byte_s, answer.usage
    if first_s is None or last_s is None or last_s <= first_s or usage is None:
        return None
    if usage.completion_tokens is None or usage.completion_tokens < 2:
        return None
    # the first token is there at the first moment; the one that ends an answer is counted, and comes with the last byte
    return (usage.completion_tokens - 1) / (last_s - first_s)


class _Asker:
    """Sends one prompt of a wanted size, and notes what it took."""

    def __init__(
        self, target: Target, model: str, calibration: Calibration, note: Note, headers: Mapping[str, str] | None
    ) -> None:
        self._target = target
        self._headers = headers or {}
        self._bare = preamble("curve", model, None, (), {})
        self._sizer = Sizer(calibration)
        self._note = note
        self._random = random.SystemRandom()  # a nonce that came back would be found in the cache

    def prefill(self, tokens: int) -> Point | None:
        """The tokens that were computed and the seconds that took; the shorter of two where it is short."""
        found = self._timed(tokens)
        if found is None or found[1] >= _SHORT_S:
            return found
        again = self._timed(tokens)
        return found if again is None else min(found, again, key=lambda point: point[1])

    def _timed(self, tokens: int) -> Point | None:
        exchange = self.exchange("one prompt", tokens, 1)
        answer = exchange.answer
        # a token may have no text of its own (half a character): then the end is when it came
        end_s = answer.last_byte_s if answer.first_token_s is None else answer.first_token_s
        if _has_failed(exchange) or end_s is None or exchange.headers_s is None or end_s <= exchange.headers_s:
            return None
        return _computed(exchange) or tokens, end_s - exchange.headers_s

    def exchange(self, what: str, tokens: int, answer_tokens: int) -> Exchange:
        """One request, over when it returns; network errors are in its ending, never raised."""
        opening = f"# timing {preambles.nonce(self._random)}\n"
        text = opening + filler.text(self._sizer.chars(tokens, len(opening)), random.Random(opening))
        body = self._bare.head + messages.user(text) + closing(answer_tokens)
        exchange = Exchange(perf_counter())
        perform(exchange, self._target, self._headers, body, PATIENCE, lambda _: None)
        outcome, error = classify(exchange.ending, exchange.http_status, exchange.answer)
        stamps = {"headers_s": exchange.headers_s, "first_token_s": exchange.answer.first_token_s}
        computed = {"wanted_tokens": tokens, "computed_tokens": _computed(exchange)}
        self._note("timing", {"what": what, **computed, **stamps, "outcome": outcome, "error": error})
        return exchange


def _computed(exchange: Exchange) -> int | None:
    answer = exchange.answer
    if answer.progress:
        return answer.progress[-1].total
    if answer.usage is None or not answer.usage.prompt_tokens:
        return None
    return answer.usage.prompt_tokens - (answer.usage.cached_tokens or 0)


def _has_failed(exchange: Exchange) -> bool:
    outcome, _ = classify(exchange.ending, exchange.http_status, exchange.answer)
    return exchange.ending != Ending() or outcome in (
        Outcome.HTTP_ERROR,
        Outcome.ERROR_IN_STREAM,
        Outcome.BAD_PROTOCOL,
        Outcome.EMPTY_STREAM,
        Outcome.TRUNCATED,
    )
