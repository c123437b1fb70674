"""What is done when a run's server died or hangs: open turns end, and it is started again or the run is over."""

import dataclasses
from urllib.parse import urlsplit

import gevent

from locust_agents.cluster import restart
from locust_agents.errors import ClusterError, LocustAgentsError
from locust_agents.locustfiles import backend, senders
from locust_agents.locustfiles.backend import Backend
from locust_agents.locustfiles.run_state import RunState
from locust_agents.run_folder import RunFolder
from locust_agents.scenarios.model import Scenario

# How long streams of a dead server get to end by themselves.
_LAST_BYTES_S = 0.5


def ends_the_run(state: RunState, trouble: ClusterError) -> bool:
    """Open turns end as what they are. True where the run is over; False where the server was started again."""
    began_s = state.elapsed_s()
    gevent.sleep(_LAST_BYTES_S)  # a dead server's connections say so themselves
    senders.give_up(state, str(trouble))
    try:
        why_not = _start_again(state, trouble, began_s)
    except LocustAgentsError as error:
        trouble, why_not = ClusterError(str(error), getattr(error, "log_tail", ())), f"after {trouble}"
    if why_not is None:
        return False
    state.fail(ClusterError(restart.with_refusal(str(trouble), why_not), trouble.log_tail))
    senders.drain(state)
    return True


def _start_again(state: RunState, trouble: ClusterError, began_s: float) -> str | None:
    """Starts the server again; or says why not, in no words where nobody asked for it."""
    scenario, server, folder = state.running, state.server, state.folder
    if scenario is None or server is None or folder is None or scenario.server.on_failure == "stop":
        return ""
    unsure = tuple(server.stop())
    if (why_not := restart.refusal(_failure(state, scenario, server, unsure))) is not None:
        return why_not
    state.say(f"{trouble}; starting it again")
    restart.shelve(folder.path, server.epoch)
    state.server = again = _on_the_same_port(state, scenario, server, folder)
    gap = restart.Gap(again.epoch, began_s, state.elapsed_s() - began_s, str(trouble))
    state.gaps.append(gap)
    folder.note("gap", dataclasses.asdict(gap))
    if state.lookout is not None:
        state.lookout.restarted(again)
    senders.go_on(state, again.epoch)
    return None


def _failure(state: RunState, scenario: Scenario, server: Backend, unsure: tuple[str, ...]) -> restart.Failure:
    answered = sum(record.epoch == server.epoch and record.first_token_s is not None for record in state.records)
    is_ours, is_over = scenario.server.attach is None, state.drained_at is not None
    return restart.Failure("restart", is_ours, len(state.gaps), answered, unsure, is_over)


def _on_the_same_port(state: RunState, scenario: Scenario, server: Backend, folder: RunFolder) -> Backend:
    keys = scenario.server.model_copy(update={"port": urlsplit(server.url).port})
    again = scenario.model_copy(update={"server": keys})
    return backend.start(again, folder.path, state.say, folder.note, server.epoch + 1)
