"""Asks the server, in requests of one token, what text of ours costs in its tokens."""

import math
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

from locust_agents import filler, messages, preambles
from locust_agents.conversation import Preamble, closing, preamble
from locust_agents.errors import ClusterError
from locust_agents.locustfiles.transport import Exchange, Target, perform
from locust_agents.outcome import Ending, Outcome, classify
from locust_agents.patience import Patience, Timeouts
from locust_agents.profile import Profile
from locust_agents.sizing import Calibration

Note = Callable[[str, Mapping[str, Any]], None]
Greet = Callable[[float, str | None], None]
"""Told, once: the seconds that the first turn of one token queued, and the model as which the server answered."""

# Two texts, whose difference leaves the template out.
_SAMPLE_CHARS = (600, 5000)
# What stands behind a preamble in the shortest request, beside the template's start of an answer: the user's one token,
# and the end of the message, which is two tokens in every template that was seen.
_TAIL_TOKENS = 3
# The first guess may be a tenth off (JSON has more tokens than code); the second or third is right.
_MOST_ROUNDS = 4
_NEAR_TOKENS, _NEAR_SHARE = 6, 0.01
PATIENCE = Patience(Timeouts(connect_s=10.0, headers_s=600.0, first_token_s=600.0, silence_s=120.0), True)


def measure(
    target: Target,
    model: str,
    profiles: Iterable[tuple[Profile, float]],
    nonce: str,
    note: Note,
    headers: Mapping[str, str] | None = None,
    greet: Greet | None = None,
) -> Calibration:
    """The calibration of a run for its (profile, scale) pairs. Raises ClusterError when the server does not answer.

    Its own texts begin with another nonce than the run's, so that they put nothing into the cache that agents find.
    """
    ask = _Asker(target, model, note, headers or {}, greet)
    calibration = _slope(ask, model, Calibration(nonce))
    for profile, scale in profiles:
        calibration = _sized(ask, model, profile, scale, calibration)
    return calibration


class _Asker:
    """Sends a request of one token, and notes what it cost."""

    def __init__(self, target: Target, model: str, note: Note, headers: Mapping[str, str], greet: Greet | None) -> None:
        self._greet = greet
        self._headers = headers
        self._target = target
        self._model = model
        self._note = note

    def tokens(self, what: str, start: Preamble, text: str) -> int | None:
        """The prompt tokens that the server counts, None where it reports none."""
        exchange = Exchange(perf_counter())
        opening = start.head if start.head.endswith(b"[") else start.head + b","
        body = opening + messages.user(text) + closing(1)
        perform(exchange, self._target, self._headers, body, PATIENCE, lambda _: None)
        outcome, error = classify(exchange.ending, exchange.http_status, exchange.answer)
        self._introduce(exchange)
        usage = exchange.answer.usage
        tokens = None if usage is None else usage.prompt_tokens or None
        self._note("calibration", {"what": what, "bytes": len(body), "prompt_tokens": tokens, "outcome": outcome})
        if exchange.ending != Ending() or outcome in (Outcome.HTTP_ERROR, Outcome.ERROR_IN_STREAM):
            raise ClusterError(
                f"the server did not answer a request of one token ({outcome}: {error}): look at its log, and see that"
                f" {self._target.base.geturl()} is an mlx_lm.server or another with /v1/chat/completions"
            )
        return tokens

    def _introduce(self, exchange: Exchange) -> None:
        greet, self._greet = self._greet, None
        if greet is not None and exchange.headers_s is not None:
            greet(exchange.headers_s - (exchange.sent_s or 0.0), exchange.reader.model)


def _slope(ask: _Asker, model: str, calibration: Calibration) -> Calibration:
    bare = preamble("calibration", model, None, (), {})
    texts = [filler.sample(chars) for chars in _SAMPLE_CHARS]
    counts = [ask.tokens(f"{len(text)} characters of code", bare, text) for text in texts]
    if counts[0] is None or counts[1] is None or counts[1] <= counts[0]:
        return calibration
    per_char = (counts[1] - counts[0]) / (len(texts[1]) - len(texts[0]))
    return replace(_around_messages(ask, bare, calibration), tokens_per_char=per_char, measured=True)


def _around_messages(ask: _Asker, bare: Preamble, calibration: Calibration) -> Calibration:
    """What the template adds to each message: two more, of a token each, say it."""
    longer = replace(bare, head=bare.head + messages.user("x") + b"," + messages.assistant("x"))
    one, three = ask.tokens("one message", bare, "x"), ask.tokens("three messages", longer, "x")
    if one is None or three is None:
        return calibration
    around = max(0.0, (three - one - 2) / 2)
    return replace(calibration, message_tokens=around, turn_tokens=max(0.0, one - 1 - around))


def _sized(ask: _Asker, model: str, profile: Profile, scale: float, calibration: Calibration) -> Calibration:
    """The guessed preamble, then ones whose filler makes up the difference, until the size is right."""
    key, wanted = preambles.key(profile, scale), round(preambles.wanted_tokens(profile) * scale)
    if not wanted:
        return calibration
    asked = replace(profile, stream=True, include_usage=True)  # the texts are the same, and each answer says its size
    system_chars, tool_chars = preambles.guess(profile, scale, calibration)
    tokens = 0
    for number in range(1, _MOST_ROUNDS + 1):
        nonce = preambles.nonce(random.Random(f"calibration {number} {calibration.nonce}"))
        trial = preambles.build(asked, model, system_chars, tool_chars, nonce, None)
        counted = ask.tokens(f"{key}, round {number}", trial, "x")
        if counted is None:
            return calibration
        tokens = counted - _TAIL_TOKENS - math.ceil(calibration.turn_tokens)
        if number == _MOST_ROUNDS or abs(wanted - tokens) <= max(_NEAR_TOKENS, _NEAR_SHARE * wanted):
            break
        missing = round((wanted - tokens) / calibration.tokens_per_char)
        if profile.tools and number % 2:
            tool_chars = max(1, tool_chars + missing)
        else:  # what the system text makes up does not change how many tools there are
            system_chars = max(1, system_chars + missing)
    return replace(
        calibration,
        preamble_tokens={**calibration.preamble_tokens, key: tokens},
        system_chars={**calibration.system_chars, key: system_chars},
        tool_chars={**calibration.tool_chars, key: tool_chars},
    )
