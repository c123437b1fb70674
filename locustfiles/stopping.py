"""What a stop from outside does, whoever asks for it: once drains with a countdown, a second time cuts."""

import math
from time import perf_counter

import gevent

from locust_agents.locustfiles import senders
from locust_agents.locustfiles.run_state import RunState
from locust_agents.quantities import counted

_LOOK_S = 0.1
# Where no line can be rewritten, so often the countdown is said.
_COUNT_S = 5.0


def ask(state: RunState) -> None:
    """A person, or whoever signals for one, wants the run to end. Returns at once."""
    state.stops += 1
    if state.started_at is None or state.stops > 1:
        cut(state)
    else:
        senders.drain(state)
        state.say(words(state))


def hold(state: RunState) -> None:
    """Called as Locust is about to stop its users, which would kill their turns: returns when none is open.

    Locust's own stop timeout is 0 s by default, and its headless master leaves after half a second.
    """
    if state.started_at is None or state.ended_at is not None or is_drained(state):
        state.load_ends()
        return
    ask(state)
    try:
        _count_down(state)
    except KeyboardInterrupt:  # Locust waits for us in the greenlet that Ctrl-C ends
        state.stops += 1
    if not senders.are_idle(state):
        cut(state)


def cut(state: RunState) -> None:
    """Open turns end now, each with its record."""
    state.is_cut = True
    if state.started_at is not None:
        senders.drain(state, cut=True)


def is_drained(state: RunState) -> bool:
    """Nothing is left to wait for."""
    return state.is_cut or state.error is not None or left_s(state) <= 0 or senders.are_idle(state)


def left_s(state: RunState) -> float:
    """Until open turns are cut; infinite before the load ended."""
    if state.drained_at is None or state.running is None:
        return math.inf
    return state.drained_at + state.running.drain_s - perf_counter()


def words(state: RunState) -> str:
    """The countdown, in a sentence."""
    number = len(senders.looks(state))
    turns = f"{counted(number, 'turn')} open"
    return f"stopping: {turns}, {max(0.0, left_s(state)):.0f} s left to end; stopped once more they are cut"


def _count_down(state: RunState) -> None:
    said_at = perf_counter()
    while not is_drained(state):
        gevent.sleep(_LOOK_S)
        if perf_counter() - said_at >= _COUNT_S:
            said_at = perf_counter()
            state.say(words(state))
