"""Decides what is said of a run before it: how many turns, how many tokens to prefill, about how many minutes."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from locust_agents.forecast.prefill_curve import Curve, Speed, price_of_miss
from locust_agents.forecast.session_plan import Bounds, Load, Terms
from locust_agents.forecast.timetable import TimedTurn, Timetable, timetable
from locust_agents.quantities import count, counted

# Two prompts that are closer than this say little about the bend between them.
_APART = 1.5
# The first prompt that an unknown server is asked to read: one prefill step of mlx_lm.server, half a minute at worst.
_FIRST_MOST_TOKENS = 2048


@dataclass(frozen=True, slots=True)
class Forecast:
    """A run to come. Prefill in tokens and seconds: `cold` where nothing is cached, `cached` where everything is kept.

    `new_tokens` are what the agents add. Times are None where the server's speed is not known; then `at_most` so many
    turns fit into the duration. `is_cut`: more turns follow than were looked at. `worst_miss_s` is the price of the
    `largest_tokens` prompt read from its start.
    """

    turns: int
    tokens_cold: int
    tokens_cached: int
    new_tokens: int
    minutes: float | None
    agents: int
    at_most: bool
    is_cut: bool
    largest_tokens: int
    cold_s: float | None
    cached_s: float | None
    worst_miss_s: float | None
    faults: tuple[str, ...]


def forecast(loads: Sequence[Load], terms: Terms, bounds: Bounds, speed: Speed) -> Forecast:
    """The run played in advance; deterministic, and bounded to 10,000 turns."""
    table = timetable(loads, terms, bounds, speed)
    curve, turns = speed.prefill, table.turns
    largest = max((timed.turn.prompt_tokens for timed in turns), default=0)
    return Forecast(
        turns=len(turns),
        tokens_cold=sum(timed.turn.prompt_tokens for timed in turns),
        tokens_cached=sum(timed.turn.prompt_tokens - timed.cached_tokens for timed in turns),
        new_tokens=sum(timed.turn.said_tokens for timed in turns),
        minutes=None if curve is None else table.seconds / 60,
        agents=table.agents,
        at_most=curve is None and table.by_time,
        is_cut=table.is_cut,
        largest_tokens=largest,
        cold_s=None if curve is None else _prefill_s(curve, turns, is_cold=True),
        cached_s=None if curve is None else _prefill_s(curve, turns, is_cold=False),
        worst_miss_s=None if curve is None else price_of_miss(curve, largest, 0),
        faults=table.faults,
    )


def sizes_to_time(table: Timetable) -> tuple[int, ...]:
    """Three prompt sizes that a curve for these turns should go through: smallest first turn, median, largest.

    Where those are too near to each other, smaller ones take their place, so that the curve sees a bend; the first is
    small in any case. Empty where there are no turns.
    """
    prompts = sorted(timed.turn.prompt_tokens for timed in table.turns)
    if not prompts:
        return ()
    firsts = [timed.turn.prompt_tokens for timed in table.turns if timed.turn.kept_tokens is None]
    largest = prompts[-1]
    middle = min(prompts[len(prompts) // 2], round(largest / _APART))
    smallest = min(*firsts, round(middle / _APART), _FIRST_MOST_TOKENS)
    return tuple(max(1, size) for size in (smallest, middle, largest))


def lines(made: Forecast) -> list[str]:
    """What `check` and the first lines of `run` say, at most 80 columns each unless a behaviour's fault is longer."""
    said = [_of_turns(made)]
    if made.turns:
        cold, cached = _priced(made.tokens_cold, made.cold_s), _priced(made.tokens_cached, made.cached_s)
        said.append(f"to prefill: {cold} cold, {cached} with a kept cache")
    if made.worst_miss_s is not None and made.turns:
        said.append(
            f"a lost cache costs up to {_span(made.worst_miss_s)}:"
            f" the largest prompt, {count(made.largest_tokens)} tokens, read again"
        )
    return said + [f"not in the forecast: {fault}" for fault in made.faults]


def _of_turns(made: Forecast) -> str:
    who = counted(made.agents, "agent")
    if made.is_cut:
        return f"forecast: more than {made.turns:,} turns by {who}, too many to foresee an end"
    about = "at most" if made.at_most else "about"
    turns = f"{about} {made.turns:,} turn{'' if made.turns == 1 else 's'} by {who}"
    if made.minutes is None:
        return f"forecast: {turns} (no run has timed this server)"
    return f"forecast: {turns} in about {_span(made.minutes * 60)}"


def _priced(tokens: int, took_s: float | None) -> str:
    return f"{count(tokens)} tokens" + ("" if took_s is None else f" ({_span(took_s)})")


def _span(seconds: float) -> str:
    """Rounded to what a forecast is good for."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    for size, unit, unit_s in ((100, "s", 1), (5940, "min", 60)):
        if seconds < size:
            return f"{seconds / unit_s:.2g} {unit}"
    return f"{seconds / 3600:.1f} h"


def _prefill_s(curve: Curve, turns: Sequence[TimedTurn], is_cold: bool) -> float:
    known = ((timed, 0 if is_cold else timed.cached_tokens) for timed in turns)
    return fsum(curve.seconds(cached, timed.turn.prompt_tokens - cached) for timed, cached in known)
