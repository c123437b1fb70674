"""Puts one request to a server before the load, beside all records, and says what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter

from locust_agents.answers.stream import Answer
from locust_agents.locustfiles.transport import Exchange, Target, perform
from locust_agents.outcome import Ending, Outcome, classify
from locust_agents.patience import Patience, Timeouts
from locust_agents.prompts.request import Request

# A server may be loading its model, or work for others.
_PATIENCE = Patience(Timeouts(connect_s=10.0, headers_s=600.0, first_token_s=600.0, silence_s=120.0), True)


@dataclass(frozen=True, slots=True)
class Peer:
    """A server as a run speaks to it: the one model name, and the headers that every request carries."""

    target: Target
    model: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of a request; seconds count from its start, None is "did not happen".

    `is_broken_off`: the transport ended it, not the server. `model` is the name as which the server answered.
    """

    outcome: Outcome
    error: str | None
    is_broken_off: bool
    sent_s: float | None
    headers_s: float | None
    model: str | None
    answer: Answer

    @property
    def queue_s(self) -> float | None:
        """From the request's last byte to the answer's headers."""
        return None if self.headers_s is None else self.headers_s - (self.sent_s or 0.0)

    @property
    def prompt_tokens(self) -> int | None:
        """As the server counts them, None where it does not."""
        return None if self.answer.usage is None else self.answer.usage.prompt_tokens or None

    @property
    def computed_tokens(self) -> int | None:
        """Those that no cache held; a server that counts prompts and says nothing of a cache has found none there."""
        if self.answer.progress:
            return self.answer.progress[-1].total
        usage, prompt = self.answer.usage, self.prompt_tokens
        return None if usage is None or prompt is None else prompt - (usage.cached_tokens or 0)


def ask(peer: Peer, asked: Request) -> Heard:
    """One request, over when it returns; what goes wrong is in the outcome, never raised."""
    exchange = Exchange(perf_counter())
    perform(exchange, peer.target, peer.headers, asked.body(), _PATIENCE, lambda _: None)
    outcome, error = classify(exchange.ending, exchange.http_status, exchange.answer)
    return Heard(
        outcome,
        error,
        is_broken_off=exchange.ending != Ending(),
        sent_s=exchange.sent_s,
        headers_s=exchange.headers_s,
        model=exchange.reader.model,
        answer=exchange.answer,
    )
