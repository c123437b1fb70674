"""How many prompt tokens of a turn the server could have found in its cache, and so what reuse is out of."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Prefixes:
    """Which shared starts had been computed when. Times are seconds on the process's own clock."""

    _ready_s: dict[str, float] = field(default_factory=dict)

    def prefilled(self, preamble: str, at_s: float) -> None:
        """A prompt that begins with this preamble was computed to its end at `at_s`."""
        self._ready_s[preamble] = min(at_s, self._ready_s.get(preamble, at_s))

    def was_ready(self, preamble: str, taken_s: float) -> bool:
        """Whether its prefill had ended before a turn was taken by the server at `taken_s`."""
        return self._ready_s.get(preamble, float("inf")) <= taken_s


def shared_start(preamble_tokens: int | None, was_ready: bool) -> int | None:
    """Expected tokens of a session's first turn: its preamble, when somebody had computed it; None where unknown."""
    if not was_ready:
        return 0
    return preamble_tokens


def continued(prompt_tokens: int | None, completion_tokens: int | None, answer_was_kept: bool) -> int | None:
    """Expected tokens of the next turn of a session whose turn had this usage, None where the server gave none.

    `answer_was_kept` is True when the answer ended properly and was sent back word for word (live replies).
    """
    if prompt_tokens is None or not answer_was_kept:
        return prompt_tokens
    return prompt_tokens + (completion_tokens or 0)
