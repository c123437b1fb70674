"""What is known of a turn whose prompt was not found as far as it could have been, and when that is a miss at all."""

from collections.abc import Sequence
from dataclasses import dataclass

from locust_agents.misses.changed import Change
from locust_agents.misses.expected import Twin

SEAM_TOKENS = 16
"""By so many tokens two true counts may differ, at the seam between what was sent before and what is new.

mlx_lm.server never takes a prompt's last token from its cache, and cuts up to 11 tokens of an opened thought off its
end before it is stored (server.py, _tokenize); the end of an answer and the line end behind it may be one token or two.
"""

CALIBRATED_SHARE = 0.02
"""By so much of itself the size of a shared start, which is from calibration, may be off."""

# Prompts of different starts have this much in common at most: the template's first words.
_NOTHING_TOKENS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Counts in tokens; None is not known. "Before" is the session's last turn whose usage came.

    Of the turn: `prompt`, `cached`, `expected`, `start` (what it shares with other sessions of its profile), `change`
    (of its bytes, against before), `left_tokens` (prefilled since then by an attempt that was left, `was_answering` if
    only in its answer), `twin` (a session that was computing the same start). Of the cache: `prompts` of all earlier
    turns of the session, `newer` entries that are behind the session's last one, `turns_since` that were stored since,
    `beside` them entries of turns under way, `was_full` as rank 0's log says.
    """

    prompt: int | None
    cached: int | None
    expected: int | None
    start: int | None = None
    epoch: int = 1
    epoch_before: int | None = None
    prompt_before: int | None = None
    change: Change | None = None
    is_compacted: bool = False
    left_tokens: int = 0
    was_answering: bool = False
    twin: Twin | None = None
    prompts: Sequence[int] = ()
    is_trimmable: bool | None = None
    entries: int | None = None
    newer: int | None = None
    turns_since: int = 0
    beside: int = 0
    was_full: bool | None = None
    remark: str | None = None

    @property
    def found(self) -> int:
        """Tokens that came from the cache."""
        return self.cached or 0

    @property
    def missing(self) -> int:
        """Tokens that were expected in the cache and not found."""
        return (self.expected or 0) - self.found

    @property
    def is_miss(self) -> bool:
        """More is missing than two counts of the same thing may differ by."""
        return self.cached is not None and self.missing > self.tolerance

    @property
    def tolerance(self) -> float:
        """Of what is expected: a count of the server's, or a calibrated start."""
        expected = self.expected or 0
        is_calibrated = self.prompt_before is None or (self.start is not None and expected <= self.start)
        return max(SEAM_TOKENS, CALIBRATED_SHARE * expected if is_calibrated else 0)

    @property
    def is_cold(self) -> bool:
        """Nothing at all was found."""
        return self.cached is not None and self.cached <= _NOTHING_TOKENS

    @property
    def most_of_start(self) -> float | None:
        """Tokens that a session may find of what others left: its start, and the template's first words behind it."""
        return None if self.start is None else self.start * (1 + CALIBRATED_SHARE) + _NOTHING_TOKENS
