"""Decides how many tokens the parts of a planned prompt have, and from where on its text is another than before."""

from collections.abc import Iterable, Sequence

from locust_agents.forecast.session_plan import Terms
from locust_agents.plugins.api import Document
from locust_agents.profile import Profile

# An edit changes a line anywhere in a file: half of it stays, on average.
_KEPT_OF_EDITED = 0.5

_Message = tuple[float, bool]
"""Tokens, and whether the user says it."""


class Prompt:
    """What all requests of a profile begin with, files, messages, and a reminder behind the user's last one.

    `touched` is the least place, in tokens from the start, from which on something sent before has changed.
    """

    def __init__(self, profile: Profile, terms: Terms) -> None:
        self.head = terms.preamble_tokens(profile)
        self.said = 0.0
        self.touched: float | None = None
        self._profile = profile
        self._scale = terms.scale
        self._documents: dict[str, Document] = {}
        self._messages: list[_Message] = []
        self._last_user: int | None = None

    @property
    def tokens(self) -> float:
        """The whole of it."""
        reminder = 0.0 if self._last_user is None else self._profile.reminder_tokens * self._scale
        return self._before_messages + self.said + reminder

    @property
    def messages(self) -> int:
        """How many there are."""
        return len(self._messages)

    @property
    def behind_last_user(self) -> float:
        """The place of a reminder: where the user's last message ends."""
        return self._before_messages + sum(size for size, _ in self._messages[: (self._last_user or 0) + 1])

    def show(self, document: Document) -> float:
        """Puts a file where it was, or behind the others; returns the tokens that are new."""
        before = self._documents.get(document.name)
        if before == document:
            return 0.0
        names = list(self._documents)
        at_tokens = self.head + self._size(names if before is None else names[: names.index(document.name)])
        is_edited = before is not None and before.tokens == document.tokens
        size = document.tokens * self._scale
        self.touch(at_tokens + (size * _KEPT_OF_EDITED if is_edited else 0.0))
        self._documents[document.name] = document
        return size

    def add(self, tokens: float, is_user: bool) -> float:
        """Adds a message, with what the product puts around one of the user's; returns its tokens."""
        if is_user:
            is_first = self._last_user is None
            around = self._profile.each_user_tokens + (self._profile.first_user_tokens if is_first else 0)
            tokens += around * self._scale
            if self._profile.reminder_tokens and not is_first:
                self.touch(self.behind_last_user)
            self._last_user = len(self._messages)
        self._messages.append((tokens, is_user))
        self.said += tokens
        return tokens

    def drop(self, messages: int) -> None:
        """Takes out what came after so many messages; none of it is the user's."""
        del self._messages[messages:]
        self.said = sum(tokens for tokens, _ in self._messages)

    def shorten(self, keep_tokens: float, summary_tokens: float) -> None:
        """Leaves a summary, which the user is made to say, and the last of what came before."""
        kept = _last(self._messages, keep_tokens * self._scale)
        self._messages, self.said, self._last_user = [], 0.0, None
        self.add(summary_tokens * self._scale, True)
        self.said += sum(tokens for tokens, _ in kept)
        self._messages += kept
        users = (place for place, (_, is_user) in enumerate(self._messages) if is_user)
        self._last_user = max(users)

    def touch(self, at_tokens: float) -> None:
        """The text changes there."""
        self.touched = at_tokens if self.touched is None else min(self.touched, at_tokens)

    @property
    def _before_messages(self) -> float:
        return self.head + self._size(self._documents)

    def _size(self, names: Iterable[str]) -> float:
        return sum(self._documents[name].tokens for name in names) * self._scale


def _last(messages: Sequence[_Message], tokens: float) -> Sequence[_Message]:
    """The last of them that are no more than `tokens`, from a user message on."""
    left, kept = tokens, 0
    for place, (size, is_user) in enumerate(reversed(messages), start=1):
        left -= size
        if left < 0:
            break
        kept = place if is_user else kept
    return messages[len(messages) - kept :]
