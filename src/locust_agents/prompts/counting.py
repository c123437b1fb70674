"""Decides what the server's counts say of a history: what the cache holds of it, what comes next, what text costs."""

from collections.abc import Sequence

from locust_agents.answers.deltas import Usage
from locust_agents.misses import expected
from locust_agents.prompts.conversation import Preamble
from locust_agents.prompts.sizing import Sizer

Kept = tuple[int | None, tuple[int, int] | None]


class Count:
    """Keeps the last counts of one history. Sizes are the bytes of a request's head and of each of its messages."""

    def __init__(self, sizer: Sizer) -> None:
        self.continued_tokens: int | None = None
        self._sizer = sizer
        self._counted: tuple[int, int] | None = None
        self._is_clean = True
        self._turns = 0
        self._chars = self._messages = 0

    def begin(self) -> None:
        """A turn begins: nothing is said yet."""
        self._chars = self._messages = 0

    def said(self, chars: int) -> None:
        """A message of so many characters was added."""
        self._chars += chars
        self._messages += 1

    def heard(self, usage: Usage | None, sizes: Sequence[int], is_kept: bool) -> None:
        """The turn's last attempt had this usage; `is_kept`: the answer goes back word for word.

        A usage comes last: with one, the prefill has ended.
        """
        self._turns += 1
        if usage is None:
            return
        if usage.prompt_tokens:
            self._counted = (usage.prompt_tokens, sum(sizes))
        self.continued_tokens = expected.continued(usage.prompt_tokens, usage.completion_tokens, is_kept)

    def learn(self, usage: Usage | None, preamble: Preamble, is_longer: bool) -> None:
        """Takes what a turn cost into the sizes, before `heard`; not where more than its messages was new.

        `is_longer`: all that the request before sent was sent again, and the turn's messages behind it.
        """
        before = self.continued_tokens if self._turns else preamble.tokens
        if usage is None or not usage.prompt_tokens or not (is_longer and self._is_clean) or before is None:
            return
        if usage.prompt_tokens > before:
            self._sizer.learn(self._chars, self._messages, usage.prompt_tokens - before)

    def leave(self, is_clean: bool) -> None:
        """A turn left nothing behind that the next one's count would hold without its own doing, or it did."""
        self._is_clean = is_clean

    def estimate(self, sizes: Sequence[int], preamble: Preamble) -> int:
        """Prompt tokens of a request of these sizes, as far as is known."""
        return self._sizer.prompt_tokens(sizes, preamble.tokens, self._counted)

    def drop_answer(self) -> None:
        """The last answer is not sent back."""
        if self._counted is not None and self.continued_tokens is not None:
            self.continued_tokens = min(self.continued_tokens, self._counted[0])

    def forget(self) -> None:
        """The history is another one now: nothing is known of it."""
        self.continued_tokens = self._counted = None

    def keep(self) -> Kept:
        """What `put_back` brings back."""
        return self.continued_tokens, self._counted

    def put_back(self, kept: Kept) -> None:
        """The turns since `keep` are taken back."""
        self.continued_tokens, self._counted = kept
