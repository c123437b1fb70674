"""Asks the server, in requests of one token, what text of ours costs in its tokens."""

import math
import random
from collections.abc import Callable, Iterable
from dataclasses import replace

from locust_agents.errors import ClusterError
from locust_agents.locustfiles import asking
from locust_agents.locustfiles.asking import Heard, Peer
from locust_agents.outcome import Outcome
from locust_agents.profile import Profile
from locust_agents.prompts import filler, messages, preambles, request
from locust_agents.prompts.conversation import Preamble, preamble
from locust_agents.prompts.sizing import Calibration
from locust_agents.telling import Note

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
_REFUSALS = (Outcome.HTTP_ERROR, Outcome.ERROR_IN_STREAM)


def measure(
    peer: Peer, profiles: Iterable[tuple[Profile, float]], nonce: str, note: Note, greet: Greet | None = None
) -> Calibration:
    """The calibration of a run for its (profile, scale) pairs. Raises ClusterError when the server does not answer.

    Its own texts begin with another nonce than the run's, so that they put nothing into the cache that agents find.
    """
    ask = _Asker(peer, note, greet)
    calibration = _slope(ask, Calibration(nonce))
    for profile, scale in profiles:
        calibration = _sized(ask, profile, scale, calibration)
    return calibration


class _Asker:
    """Sends a request of one token, and notes what it cost."""

    def __init__(self, peer: Peer, note: Note, greet: Greet | None) -> None:
        self.peer = peer
        self._note = note
        self._greet = greet

    def tokens(self, what: str, start: Preamble, text: str) -> int | None:
        """The prompt tokens that the server counts, None where it reports none."""
        asked = request.chat(start, (start.head, messages.user(text)), ("max_tokens", 1))
        heard = asking.ask(self.peer, asked)
        self._introduce(heard)
        cost = {"bytes": len(asked.body()), "prompt_tokens": heard.prompt_tokens}
        self._note("calibration", {"what": what, **cost, "outcome": heard.outcome})
        if heard.is_broken_off or heard.outcome in _REFUSALS:
            raise ClusterError(
                f"the server did not answer a request of one token ({heard.outcome}: {heard.error}): look at its log,"
                f" and see that {self.peer.target.base.geturl()} is an mlx_lm.server or another with"
                " /v1/chat/completions"
            )
        return heard.prompt_tokens

    def _introduce(self, heard: Heard) -> None:
        greet, self._greet = self._greet, None
        if greet is not None and heard.queue_s is not None:
            greet(heard.queue_s, heard.model)


def _slope(ask: _Asker, calibration: Calibration) -> Calibration:
    bare = preamble("calibration", ask.peer.model, None, (), {})
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


def _sized(ask: _Asker, profile: Profile, scale: float, calibration: Calibration) -> Calibration:
    """The guessed preamble, then ones whose filler makes up the difference, until the size is right."""
    key, wanted = preambles.key(profile, scale), round(preambles.wanted_tokens(profile) * scale)
    if not wanted:
        return calibration
    asked = replace(profile, stream=True, include_usage=True)  # the texts are the same, and each answer says its size
    system_chars, tool_chars = preambles.guess(profile, scale, calibration)
    tokens = 0
    for number in range(1, _MOST_ROUNDS + 1):
        nonce = preambles.nonce(random.Random(f"calibration {number} {calibration.nonce}"))
        trial = preambles.build(asked, ask.peer.model, system_chars, tool_chars, nonce, None)
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
