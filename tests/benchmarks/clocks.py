"""Two clocks read together: what passed, and what this thread itself used of it while others had the CPU too."""

from dataclasses import dataclass
from time import perf_counter, thread_time


@dataclass(frozen=True, slots=True)
class Moment:
    """Seconds of perf_counter and of this thread's CPU time; a difference of two is one as well."""

    wall_s: float
    cpu_s: float

    def since(self, earlier: "Moment") -> "Moment":
        """What passed."""
        return Moment(self.wall_s - earlier.wall_s, self.cpu_s - earlier.cpu_s)


def now() -> Moment:
    """Both clocks at this moment."""
    return Moment(perf_counter(), thread_time())
