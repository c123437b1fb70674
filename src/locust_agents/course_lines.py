"""What is said of a run's course above its figures: the window, what was open at its end, lateness, cold or not."""

from collections.abc import Sequence

from locust_agents.cold import ColdTurn
from locust_agents.lateness import Lateness
from locust_agents.quantities import count, counted, seconds
from locust_agents.summary import Summary
from locust_agents.window import Window


def parts(summary: Summary) -> list[str]:
    """Nothing of a run from its first turn to its last in a closed loop, of which none was open at the end."""
    return [
        *([] if summary.window is None else _window(summary.window)),
        *([] if summary.late is None else [_late(summary.late)]),
        *_cold(summary.came_cached, summary.after_restart),
    ]


def _window(window: Window) -> list[str]:
    found = []
    if window.warm_up_turns:
        span = f"{window.from_s:.0f}–{window.until_s:.0f} s"
        found.append(f"window {span}, {counted(window.warm_up_turns, 'turn')} of warm-up left out")
    if window.open_at_end:
        cut = f", {window.cut_at_end} of them cut" if window.cut_at_end else ""
        found.append(f"{counted(window.open_at_end, 'turn')} open at the end{cut}")
    return found


def _late(late: Lateness) -> str:
    """The p95 is left out where there is none; of no session at all there is nothing to say but that."""
    if not late.sessions:
        return "no session was due"
    p95 = "" if late.p95 is None else f"p95 {seconds(late.p95)}, "
    waiting = f", {late.waiting} of {late.sessions} never started" if late.waiting else ""
    return f"sessions late {p95}max {seconds(late.max)}{waiting}"


def _cold(cached: Sequence[ColdTurn], restarted: Sequence[ColdTurn]) -> list[str]:
    found = [f"first after restart: {turn.session} turn {turn.turn}" for turn in restarted]
    if cached:
        worst = max(cached, key=lambda turn: turn.cached_tokens or 0)
        had = f"{worst.session} had {count(worst.cached_tokens)} of {count(worst.prompt_tokens)} tokens"
        found.append(f"NOT COLD: {counted(len(cached), 'first turn')} came back cached ({had})")
    return found
