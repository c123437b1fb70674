"""Decides which agent begins the next session: in a closed loop each its own, on a clock one of those that are free."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from locust_agents import arrival
from locust_agents.forecast.session_plan import Load, SessionPlan, Waits
from locust_agents.forecast.stage_windows import Window


@dataclass(eq=False, slots=True)
class Slot:
    """One agent in one session; `line` is None in a closed loop, `windows` where it may start a turn at any time.

    `ends` are the turns that are over, `missing` counts what each turn still waits for, by its `followers`.
    """

    load: Load
    number: int
    line: "Line | None"
    windows: tuple[Window, ...] | None
    done: int = 0
    plan: SessionPlan = field(default_factory=lambda: SessionPlan((), {}))
    ends: dict[int, float] = field(default_factory=dict)
    missing: list[int] = field(default_factory=list)
    followers: dict[int, list[int]] = field(default_factory=dict)

    def ready_s(self, waits: Waits) -> float:
        """When all of that is over, pauses included."""
        return max(self.ends[number] + wait_s for number, wait_s in waits.items())


@dataclass(eq=False, slots=True)
class Line:
    """The agents of an entry that are free for the sessions of its clock; `called` will look when the next is due."""

    due: Iterator[float]
    next_s: float
    free: deque[Slot] = field(default_factory=deque)
    called: Slot | None = None

    def take(self, at_s: float) -> bool:
        """Whether a session is due; the longest due is taken then."""
        is_due = self.next_s <= at_s
        if is_due:
            self.next_s = next(self.due)
        return is_due


def line_of(load: Load, seed: int) -> Line | None:
    """Where sessions start on a clock, with the very seconds of the run."""
    if load.arrival is None:
        return None
    times = arrival.due_times(load.arrival, arrival.seed_of(seed, load.drawn_as))
    due = (load.after_s + due_s for due_s in times)
    return Line(due, next(due))
