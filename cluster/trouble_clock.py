"""For how long trouble without its reason was looked at; a standstill of ours does not count."""

from dataclasses import dataclass

MOST_S = 1.0
"""What the time between two looks counts at most: what kept us from looking kept the launcher from writing too."""


@dataclass(frozen=True, slots=True)
class TroubleClock:
    """`at_s` is when trouble was seen last, None before that; times are those of the caller's monotonic clock."""

    seconds: float = 0.0
    at_s: float | None = None

    def seen(self, now_s: float) -> "TroubleClock":
        """Trouble is there now."""
        before_s = now_s if self.at_s is None else self.at_s
        return TroubleClock(self.seconds + min(now_s - before_s, MOST_S), now_s)
