"""What a run said while it was prepared and since: kept for who comes later, a wait that counts its seconds once."""

import re
from collections import deque
from typing import Any

MOST = 40


def words(text: str) -> str:
    """What two sentences of one wait have in common: all but the figures, and a log's line behind the seconds."""
    return re.sub(r"[0-9.]+", "0", re.sub(r"(, [0-9.]+ s): .*", r"\1", text))


class Sentences:
    """Of one run, the last of them, each with when it was last said in seconds of the Unix epoch."""

    def __init__(self) -> None:
        self._said: deque[tuple[float, str]] = deque(maxlen=MOST)

    def hear(self, text: str, at_s: float) -> None:
        """One that differs from the last in its figures alone takes its place."""
        if self._said and words(self._said[-1][1]) == words(text):
            self._said.pop()
        self._said.append((at_s, text))

    def told(self, longest: int) -> list[dict[str, Any]]:
        """In the order in which they were said, each cut to `longest` characters."""
        return [{"at": at_s, "what": text[:longest]} for at_s, text in self._said]
