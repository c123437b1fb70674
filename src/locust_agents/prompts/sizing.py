"""From tokens to characters and back, in the server's own count, without a tokenizer in this process."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

# Where a server reports no usage: what code takes with the tokenizers of current models (o200k: 4.4-5.1 chars a token).
FALLBACK_TOKENS_PER_CHAR = 0.25
# A text of this size says more about the slope than about what the template adds.
_LONG_CHARS = 1500
# Whatever a server counts, a character costs something: sizes are divided by this.
_LEAST_TOKENS_PER_CHAR = 0.01
# A line end is two bytes in JSON, and a line of code has some thirty characters.
_CHARS_PER_BYTE = 0.97
# One turn moves the slope by this share of what it missed: quirks of single texts average out.
_TRUST = 0.2


@dataclass(frozen=True, slots=True)
class Calibration:
    """What the server's `usage` said before the run; it travels to workers so that all build the same bytes.

    `message_tokens` is what the template adds around one message, `turn_tokens` once for each turn (the start of the
    answer). `preamble_tokens` and `tool_chars` are for each
    profile: the count of its shared start, and the characters of filler in its tools that gave that count.
    `measured` is False where the server reported no usage and sizes are a guess.
    """

    nonce: str
    tokens_per_char: float = FALLBACK_TOKENS_PER_CHAR
    message_tokens: float = 5.0
    turn_tokens: float = 4.0
    preamble_tokens: Mapping[str, int] = field(default_factory=dict)
    system_chars: Mapping[str, int] = field(default_factory=dict)
    tool_chars: Mapping[str, int] = field(default_factory=dict)
    measured: bool = False


class Sizer:
    """Says how many characters make so many tokens, and learns from every turn that comes back."""

    def __init__(self, calibration: Calibration) -> None:
        self.tokens_per_char = calibration.tokens_per_char
        self.message_tokens = calibration.message_tokens
        self.turn_tokens = calibration.turn_tokens

    def chars(self, tokens: float, said_chars: int = 0, messages: int = 1) -> float:
        """Characters of filler that bring one of a turn's `messages`, `said_chars` of it said, to `tokens`.

        What the template adds is counted in, so that the prompt grows by what was asked for.
        """
        around = self.message_tokens + self.turn_tokens / messages
        return max(0.0, (tokens - around) / self.tokens_per_char - said_chars)

    def plain_chars(self, tokens: float) -> float:
        """Characters of so many tokens of text, with nothing around it."""
        return max(0.0, tokens / self.tokens_per_char)

    def tokens(self, sent_bytes: int) -> float:
        """The tokens of so many bytes of messages, as an estimate; what the template adds is about what JSON takes."""
        return sent_bytes * _CHARS_PER_BYTE * self.tokens_per_char

    def prompt_tokens(self, sizes: Sequence[int], start: int | None, counted: tuple[int, int] | None) -> int:
        """The tokens of a request, as an estimate: `sizes` are the bytes of its head and of each message.

        `start` are the tokens of its head where they are known, `counted` the (tokens, bytes) of an earlier request
        that the server counted.
        """
        if counted is not None:
            return round(counted[0] + self.tokens(sum(sizes) - counted[1]))
        begun = self.tokens(sizes[0]) if start is None else start
        return round(begun + self.tokens(sum(sizes) - sizes[0]) + self.turn_tokens)

    def learn(self, chars: int, messages: int, tokens: int) -> None:
        """A turn's `messages` new messages with `chars` characters turned out to be `tokens` tokens.

        Only long ones teach: a short text misses by a few tokens for reasons of its own, and what the template adds was
        measured before the run.
        """
        missed = tokens - (chars * self.tokens_per_char + messages * self.message_tokens + self.turn_tokens)
        if messages and chars >= _LONG_CHARS * messages:
            self.tokens_per_char = max(_LEAST_TOKENS_PER_CHAR, self.tokens_per_char + _TRUST * missed / chars)
