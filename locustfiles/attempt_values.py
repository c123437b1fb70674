"""What an attempt at a turn is made of, and what came of it, as values."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from locust_agents.locustfiles.transport import Exchange
from locust_agents.outcome import Outcome
from locust_agents.patience import Patience
from locust_agents.right.answer_check import Judge


@dataclass(frozen=True, slots=True)
class Identity:
    """The "who" of a record, as far as it is the same for every turn of a session."""

    entry: str
    agent: str
    behaviour: str
    profile: str
    session: str
    parent: str | None
    kind: str
    replies: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request to make. `late_s` is its start minus the intended one, `unusual` fields that others do not send.

    `no_call` tells of tool results that there was no call for; None where the turn has none. With a `judge` it asks
    whether answers are right.
    """

    identity: Identity
    number: int
    late_s: float | None
    body: bytes
    headers: Mapping[str, str]
    patience: Patience
    unusual: tuple[str, ...] = ()
    is_streamed: bool = True
    no_call: bool | None = None
    judge: Judge | None = None

    def number_of(self, number: int, late_s: float) -> "Attempt":
        """The same request, sent once more."""
        return dataclasses.replace(self, number=number, late_s=late_s)


@dataclass(frozen=True, slots=True)
class Result:
    """What became of it."""

    exchange: Exchange
    outcome: Outcome

    @property
    def first_token_s(self) -> float | None:
        """Seconds from the request's last byte to the first token."""
        first_s, sent_s = self.exchange.answer.first_token_s, self.exchange.sent_s
        return None if first_s is None or sent_s is None else first_s - sent_s


@dataclass(frozen=True, slots=True)
class Over:
    """An attempt that has ended: `wall_time` is its start (UNIX s), `end_s` its seconds, `error` why it was not ok."""

    exchange: Exchange
    wall_time: float
    end_s: float
    outcome: Outcome
    error: str | None
