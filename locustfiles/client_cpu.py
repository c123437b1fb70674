"""How much of one core this process uses: an event loop has no more than that."""

from time import perf_counter, process_time


class ClientCpu:
    """Counts from now on, until it is stopped."""

    def __init__(self) -> None:
        self._began, self._used = perf_counter(), process_time()
        self._total: tuple[float, float] | None = None

    @property
    def share(self) -> tuple[float, float]:
        """The share of a core, and over how many seconds."""
        return self._total or self._now()

    def stop(self) -> None:
        """What comes from now on, such as the run's summary, is no load."""
        self._total = self.share

    def _now(self) -> tuple[float, float]:
        lasted_s = perf_counter() - self._began
        return ((process_time() - self._used) / lasted_s if lasted_s > 0 else 0.0), lasted_s
