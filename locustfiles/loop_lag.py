"""How late this process's event loop runs: what the client itself adds to every time it measures."""

from collections import deque
from time import perf_counter

import gevent

_TICK_S = 0.05
# Five minutes of ticks: longer than a turn is usually open.
_KEPT = 6000


class LoopLag:
    """A ticker that notes how late it woke; `worst_since` answers for one turn."""

    def __init__(self) -> None:
        self._ticks: deque[tuple[float, float]] = deque(maxlen=_KEPT)
        self._ticker = gevent.spawn(self._tick)

    def worst_since(self, started: float) -> float | None:
        """The largest lag in seconds at any tick since the perf_counter value; None for a turn between two ticks."""
        worst: float | None = None
        for at, lag_s in reversed(self._ticks):
            if at < started:
                break
            worst = lag_s if worst is None else max(worst, lag_s)
        return worst

    def stop(self) -> None:
        """Ends the ticker."""
        self._ticker.kill(block=False)

    def _tick(self) -> None:
        while True:
            wanted = perf_counter() + _TICK_S
            gevent.sleep(_TICK_S)
            now = perf_counter()
            self._ticks.append((now, max(0.0, now - wanted)))
