"""What rank 0's log tells of the prompt cache: how full it was, and how many entries it can hold at most."""

from collections.abc import Mapping
from typing import ClassVar

from locust_agents.cluster.options.cache_entries import PromptCache

# The log is looked at once a second, and only the last state of each look is told: a full cache may look one short.
_UNSEEN = 1


class CacheLog:
    """Of one start of the server."""

    LATE_S: ClassVar[float] = 2.0
    """After so long a line has been read."""

    def __init__(self) -> None:
        self._peak: int | None = None
        self._last: int | None = None
        self.beside = 0
        """The most entries that were no whole turns: prompts of turns under way, and starts."""

    def heard(self, sequences: int, by_type: Mapping[str, tuple[int, float]]) -> None:
        """One state, as a request was taken."""
        self._last = sequences
        self._peak = max(sequences, self._peak or 0)
        others = sum(int(count) for name, (count, _) in by_type.items() if name != "assistant")
        self.beside = max(self.beside, others)

    def capacity(self, cache: PromptCache, histories: int) -> int | None:
        """Entries that it can hold: the option's; or what it held when more histories than that had been stored."""
        seen = self._last if cache.has_byte_limit else self._peak
        if seen is None or histories <= (self._peak or 0) + _UNSEEN:
            return cache.entries
        if cache.entries is None:
            return seen
        return min(seen, cache.entries) if cache.has_byte_limit else cache.entries

    def was_full(self, capacity: int | None, is_read: bool) -> bool | None:
        """Whether it ever held that many; None where the log does not tell, or its last lines may not be read yet."""
        if self._peak is None or capacity is None:
            return None
        if self._peak >= capacity - _UNSEEN:
            return True
        return False if is_read else None
