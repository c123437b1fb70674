"""Decides what the watch sees at one moment: the turns that are open or have ended, the log's growth, the probe."""

from dataclasses import dataclass
from typing import Literal

from locust_agents.cluster.policy import TurnResult
from locust_agents.outcome import Outcome

Phase = Literal["queue", "prefill", "decode"]


@dataclass(frozen=True, slots=True)
class OpenLook:
    """A turn; all times are seconds on one monotonic clock.

    `moved_s` is when its stream last told of work: headers, a prefill step, a token. `prefill_done` of `prefill_total`
    tokens are computed, both None before the first step has ended; of an ended turn only the total is known. `unusual`
    are request fields, with their values, that the run's other turns do not carry: `seed 7`.
    """

    agent: str
    session: str
    turn: int
    kind: str
    started_s: float
    sent_s: float | None = None
    moved_s: float | None = None
    phase: Phase = "queue"
    prefill_done: int | None = None
    prefill_total: int | None = None
    unusual: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EndedLook:
    """A turn that has ended since the last look, as it was then."""

    turn: OpenLook
    outcome: Outcome
    ended_s: float


@dataclass(frozen=True, slots=True)
class ProbeState:
    """A request for a sign of life: none (`began_s` None), under way, or ended (`result`) in this very look."""

    began_s: float | None = None
    ended_s: float | None = None
    result: TurnResult | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """One look, about once a second. `log_bytes` grows with rank 0's log, None where no log is at hand."""

    now_s: float
    open_turns: tuple[OpenLook, ...] = ()
    ended: tuple[EndedLook, ...] = ()
    log_bytes: int | None = None
    probe: ProbeState = ProbeState()


@dataclass(frozen=True, slots=True)
class Rules:
    """How long a server may be silent before it is probed, and what is known of it.

    `silence_s` must be more than its longest prefill step: one of 8,192 tokens takes 96 s on an M3 Ultra with Mistral
    Medium 3.5 (Apple's figures). `patience_s`, with looks a second apart, names a hang within `silence_s` + 10 s.
    `ranks` None is not known; `unbatched` is the option that keeps all its requests out of batches (`--kv-bits 8`).
    """

    silence_s: float = 120.0
    patience_s: float = 7.0
    ranks: int | None = None
    unbatched: str | None = None
