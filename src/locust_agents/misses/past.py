"""What of a session's past the next turn's miss is judged by, kept by the process that sends its turns."""

from collections.abc import Sequence
from dataclasses import dataclass

from locust_agents.misses import causes, changed
from locust_agents.misses.causes import Evidence, Miss
from locust_agents.misses.expected import Twin


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempted:
    """An attempt that has ended. `parts` are its head and messages, `start` the tokens that its profile's turns share.

    `prompt` and `cached` are the usage's, None where none came. `done_tokens` are those of its last prefill comment.
    `head_before` is the head of the profile's request before it, whichever session sent that.
    """

    kind: str
    epoch: int
    parts: Sequence[bytes]
    prompt: int | None
    cached: int | None
    expected: int | None
    start: int | None = None
    twin: Twin | None = None
    head_before: bytes | None = None
    done_tokens: int | None = None
    has_token: bool = False
    block_bytes: int = 0


class Past:
    """Of one session: the last attempt whose usage came, and those that were left since."""

    def __init__(self) -> None:
        self._last: Attempted | None = None
        self._left: Attempted | None = None

    def judge(self, attempt: Attempted) -> Miss | None:
        """Why its prompt was not found, as far as this process can tell; from then on it is the past."""
        found = causes.own(self._evidence(attempt))
        if attempt.prompt is not None:
            self._last, self._left = attempt, None
        elif attempt.done_tokens and attempt.done_tokens > self._left_tokens:
            self._left = attempt
        return found

    @property
    def _left_tokens(self) -> int:
        return 0 if self._left is None else self._left.done_tokens or 0

    def _evidence(self, attempt: Attempted) -> Evidence:
        last = self._last
        return Evidence(
            prompt=attempt.prompt,
            cached=attempt.cached,
            expected=attempt.expected,
            start=attempt.start,
            epoch=attempt.epoch,
            epoch_before=None if last is None else last.epoch,
            prompt_before=None if last is None else last.prompt,
            change=self._change(attempt),
            is_compacted="compaction" in (attempt.kind, None if last is None else last.kind),
            left_tokens=self._left_tokens,
            was_answering=self._left is not None and self._left.has_token,
            twin=attempt.twin,
        )

    def _change(self, attempt: Attempted) -> changed.Change | None:
        """Against the turn before; of a first turn the head alone, against another session's."""
        if self._last is not None:
            return changed.change(self._last.parts, attempt.parts, attempt.block_bytes)
        return None if attempt.head_before is None else changed.change([attempt.head_before], attempt.parts)
