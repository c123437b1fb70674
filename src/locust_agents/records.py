"""TurnRecord: one turn, whole, as it stands in a line of turns.jsonl. Summaries are computed from these alone."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from locust_agents.outcome import Outcome

SCHEMA = 1
CANARY = "canary"
"""The kind of turns that ask whether answers are right. They are load, and no agent waits for them: only failures,
`right` and `same` count them."""


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """Times are seconds from the turn's start on one monotonic clock; what did not happen is None, never 0."""

    # who
    schema: int
    run: str
    entry: str
    agent: str
    behaviour: str
    profile: str
    session: str
    turn: int
    parent: str | None
    kind: str
    attempt: int
    epoch: int
    worker: int
    replies: str
    # when
    wall_time: float
    late_s: float | None
    connect_s: float | None
    sent_s: float | None
    headers_s: float | None
    first_progress_s: float | None
    prefill_end_s: float | None
    first_token_s: float | None
    first_channel: str | None
    first_answer_s: float | None
    last_token_s: float | None
    end_s: float
    stall_s: float | None
    tool_silence_s: float | None
    itl_hist: Mapping[int, int]
    loop_lag_s: float | None
    # how much
    chunks: int
    prompt_tokens: int | None
    cached_tokens: int | None
    expected_tokens: int | None
    computed_tokens: int | None
    completion_tokens: int | None
    request_bytes: int
    response_bytes: int
    miss: str | None
    miss_detail: str | None
    miss_tokens: int | None
    wasted_prefill_tokens: int | None
    capped_tokens: int | None
    prefill_tokens_s: float | None
    prefill_is_bound: bool
    # how it ended
    outcome: Outcome
    finish_reason: str | None
    http_status: int | None
    error: str | None
    tool_calls: tuple[int, int]
    tool_call_kinds: Mapping[str, int]
    no_call: bool | None
    reasoning_chunks: int | None
    streamed: bool | None
    # what a canary turn told: of code words, and of the identity prompt
    canary: str | None = None
    canary_detail: str | None = None
    same: bool | None = None

    @property
    def is_failure(self) -> bool:
        """A failed turn; cut, abandoned and capped ones are not."""
        return self.outcome.is_failure

    @property
    def queue_s(self) -> float | None:
        """Seconds from the request's last byte to the answer's headers; None without a stream, where they end it."""
        if self.headers_s is None or self.sent_s is None or self.streamed is False:
            return None
        return self.headers_s - self.sent_s

    @property
    def ttft_s(self) -> float | None:
        """Seconds from the request's last byte to the first token of any kind."""
        return None if self.first_token_s is None or self.sent_s is None else self.first_token_s - self.sent_s


def to_line(record: TurnRecord) -> str:
    """One line of JSON, without its end of line."""
    values = {name: getattr(record, name) for name in _NAMES}
    return json.dumps({name: _rounded(value) for name, value in values.items()}, separators=(",", ":"))


def from_line(line: str | bytes) -> TurnRecord:
    """The record of a line; fields of a later schema are left out, absent ones are None. Raises ValueError."""
    values = json.loads(line)
    if not isinstance(values, dict):
        raise ValueError(f"a line that is no record: {line[:80]!r}")
    known: dict[str, Any] = {name: values.get(name) for name in _NAMES}
    known["outcome"] = Outcome(known["outcome"])
    known["itl_hist"] = {int(key): count for key, count in (known["itl_hist"] or {}).items()}
    known["tool_calls"] = tuple(known["tool_calls"] or (0, 0))
    known["tool_call_kinds"] = known["tool_call_kinds"] or {}
    known["prefill_is_bound"] = bool(known["prefill_is_bound"])
    return TurnRecord(**known)


_NAMES = tuple(field.name for field in dataclasses.fields(TurnRecord))


def _rounded(value: Any) -> Any:
    # A microsecond is below what any clock here resolves between processes.
    return round(value, 6) if isinstance(value, float) else value
