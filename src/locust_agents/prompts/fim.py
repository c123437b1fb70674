"""A file being typed: the prompts of a completion model, which fills in what stands at the cursor."""

import itertools
import random

from locust_agents.answers.deltas import Usage
from locust_agents.plugins.api import Hole
from locust_agents.prompts import filler
from locust_agents.prompts.sizing import Sizer

# The markers of Qwen2.5-Coder (its public model card); a tokenizer without them reads them as text.
_PREFIX, _SUFFIX, _MIDDLE = "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"
# What is typed between two requests: a debounce of 350 ms holds one to five keys, more where a line was taken over.
_TYPED_CHARS = (1, 12)
# A window that has grown by more than this has lost its first lines: editors cut what is sent to a size.
_MOST_GROWTH = 1.25
_LEAST_GROWTH = 1 / _MOST_GROWTH


class TypedFile:
    """The file under one session's cursor. Prefixes grow while the window allows; then it opens elsewhere.

    The nonce opens it, so that nothing of an earlier run is found in a cache. How much is typed is drawn from `keys`,
    what it is from `seed`.
    """

    def __init__(self, nonce: str, seed: str, keys: str = "") -> None:
        self._first_line = f"# run {nonce}\n" if nonce else ""
        self._rng = random.Random(f"{seed} file")
        self._keys = random.Random(f"{keys or seed} keys")
        self._before = ""
        self._left = ""
        self._after = ""

    def prompt(self, prefix_chars: float, suffix_chars: float) -> str:
        """The next request's prompt; about so much stands before and behind the cursor."""
        grown = len(self._before) + _TYPED_CHARS[1]
        if not self._before or not _LEAST_GROWTH * prefix_chars <= grown <= _MOST_GROWTH * prefix_chars + 1:
            self._open(prefix_chars, suffix_chars)
        else:
            self._type(self._keys.randint(*_TYPED_CHARS))
        return f"{_PREFIX}{self._before}{_SUFFIX}{self._after}{_MIDDLE}"

    def _open(self, prefix_chars: float, suffix_chars: float) -> None:
        self._before = self._first_line + filler.text(prefix_chars - len(self._first_line), self._rng)
        self._after = filler.text(suffix_chars, self._rng)
        self._left = ""

    def _type(self, chars: int) -> None:
        if len(self._left) < chars:
            self._left += filler.text(400, self._rng)
        self._before += self._left[:chars]
        self._left = self._left[chars:]


class Typing:
    """The completions of one session: their prompts, and what the cache should hold of the next one."""

    def __init__(self, nonce: str, seed: str, scale: float, sizer: Sizer, keys: str = "") -> None:
        self.prompt = ""
        self._file = TypedFile(nonce, seed, keys)
        self._scale = scale
        self._sizer = sizer
        self._counted: tuple[str, int] | None = None

    def move(self, hole: Hole) -> None:
        """Goes to the next place to complete."""
        before, after = (
            self._sizer.plain_chars(tokens * self._scale) for tokens in (hole.prefix_tokens, hole.suffix_tokens)
        )
        self.prompt = self._file.prompt(before, after)

    @property
    def continued_tokens(self) -> int | None:
        """Prompt tokens that the last counted completion has in common with this one, to the last line that is whole.

        None where nothing was counted yet.
        """
        if self._counted is None:
            return None
        prompt, tokens = self._counted
        return tokens * _shared_chars(prompt, self.prompt) // len(prompt)

    def heard(self, usage: Usage | None) -> None:
        """The server counted this prompt, or it did not."""
        if usage is not None and usage.prompt_tokens:
            self._counted = self.prompt, usage.prompt_tokens


def _shared_chars(one: str, other: str) -> int:
    """The length of the start that two prompts share, in whole lines: what is typed on may change the last token."""
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return one.rfind("\n", 0, sum(1 for _ in same)) + 1
