"""Speaks to whoever sends the turns of a run: the swarm of this process, or the workers of this master."""

from collections.abc import Mapping, Sequence
from typing import Any

import gevent
from locust.runners import STATE_RUNNING, MasterRunner

from locust_agents.cluster.watch.look import OpenLook
from locust_agents.locustfiles import relay
from locust_agents.locustfiles.run_state import RunState

# How long the master waits at a stop for what workers still hold; those that are dead, Locust has given up before.
_LAST_RECORDS_S = 10.0


def drain(state: RunState, cut: bool = False) -> None:
    """No turn starts any more; those that are open go on, or are ended now with `cut`."""
    state.load_ends()
    if state.swarm is not None:
        state.swarm.drain(cut)
    else:
        _send(state, relay.DRAIN, {"cut": cut})


def give_up(state: RunState, why: str) -> None:
    """The server is gone: turns that are open or to come wait for another start of it, or for the end."""
    if state.swarm is not None:
        state.swarm.give_up(why)
    else:
        _send(state, relay.HOLD, {"why": why})


def go_on(state: RunState, epoch: int) -> None:
    """Another start of the server is up."""
    if state.swarm is not None:
        state.swarm.go_on(epoch)
    else:
        _send(state, relay.HOLD, {"epoch": epoch})


def looks(state: RunState) -> Sequence[OpenLook]:
    """The turns that are open now."""
    if state.swarm is not None:
        return state.swarm.looks()
    return [] if state.receiver is None else state.receiver.looks()


def are_idle(state: RunState) -> bool:
    """Nobody has a turn open, or another to start. Slots that are still to come have not said what they want."""
    runner = state.environment.runner
    is_draining, users = state.drained_at is not None, 0 if runner is None else runner.user_count
    if state.swarm is not None:
        is_spawning = runner is not None and runner.state != STATE_RUNNING
        return state.swarm.is_idle and not is_spawning and (is_draining or len(state.swarm.slots) >= users)
    if state.receiver is None or not isinstance(runner, MasterRunner):
        return False
    is_spawned = runner.spawning_completed and state.receiver.slots() >= users
    return state.receiver.all_idle() and (is_draining or is_spawned)


def numbers(state: RunState) -> Mapping[str, Sequence[int]]:
    """Which agents of each entry there are."""
    if state.swarm is not None:
        return state.swarm.seats.numbers()
    return {} if state.usher is None else state.usher.seats.numbers()


def collect(state: RunState) -> None:
    """Users have been stopped: ends what is open, and waits a little for what workers still hold."""
    if state.swarm is not None:
        state.swarm.close()
    elif state.receiver is not None and state.started_at is not None:
        drain(state, cut=True)
        with gevent.Timeout(_LAST_RECORDS_S, False):
            while not state.receiver.all_idle():
                gevent.sleep(0.05)


def _send(state: RunState, message: str, words: Mapping[str, Any]) -> None:
    if state.receiver is not None and state.environment.runner is not None:
        state.environment.runner.send_message(message, dict(words))
