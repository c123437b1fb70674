"""Before the first turn of a run: its folder, its server and who that is, the calibration, and the plan."""

from dataclasses import asdict, dataclass
from random import SystemRandom
from time import perf_counter

import gevent

from locust_agents import run_folder
from locust_agents.cluster import attach_headers, manners, this_machine
from locust_agents.cluster.manners import Greeting
from locust_agents.errors import ScenarioError
from locust_agents.locustfiles import backend, blaming, calibration, forecasting, identity, senders
from locust_agents.locustfiles.asking import Peer
from locust_agents.locustfiles.backend import Backend
from locust_agents.locustfiles.handwritten import profiles_of, scenario_of
from locust_agents.locustfiles.listening import Listening
from locust_agents.locustfiles.lookout import Lookout
from locust_agents.locustfiles.loop_lag import LoopLag
from locust_agents.locustfiles.run_state import RunState
from locust_agents.locustfiles.transport import resolve
from locust_agents.locustfiles.web import form
from locust_agents.plan import MODEL, RunPlan
from locust_agents.prompts import preambles
from locust_agents.prompts.sizing import Calibration
from locust_agents.run_folder import RunFolder
from locust_agents.scenarios import loader
from locust_agents.scenarios.model import Scenario


@dataclass(frozen=True, slots=True)
class _Met:
    """A server as we speak to it; who it is where it is not ours."""

    url: str
    peer: Peer
    software: str | None = None
    is_mlx: bool = True


def prepare(state: RunState) -> RunPlan:
    """All that comes before the first agent's turn; raises what the run cannot begin with."""
    state.running = scenario = _scenario(state)
    state.listening = Listening(scenario, state.plugin_faults.append)  # before a server is started for nothing
    state.folder = folder = run_folder.create(state.out, scenario.name)
    state.out = None  # started again on the page, the next run needs a folder of its own
    state.path = folder.path
    folder.write("scenario.yaml", loader.dump(scenario))
    folder.note("machine", asdict(this_machine.facts()))
    server = _server(state, scenario, folder)
    state.environment.host = server.url  # what the page shows
    state.benchmark = server.benchmark
    made = _plan(state, _met(scenario, server), scenario, folder)
    state.blamer = blamer = blaming.blamer_of(scenario, made.calibration)
    state.lookout = Lookout(
        scenario, made, server, blamer.listening(folder.note), state.say, lambda: senders.looks(state)
    )
    return made


def _scenario(state: RunState) -> Scenario:
    """What was given, with what was chosen on the start form since."""
    if state.scenario is None:
        return scenario_of(state.environment)
    return form.chosen(state.scenario, state.environment.parsed_options)


def _server(state: RunState, scenario: Scenario, folder: RunFolder) -> Backend:
    """The one that is up already, or a new one."""
    is_another = state.served is not None and state.served != scenario.server
    if state.server is not None and (is_another or state.server.failure() is not None):
        state.server.stop()  # it died in the run before this one, or the start form names another
        state.server = None
    if state.server is None:
        state.timed = None
        state.server = backend.start(scenario, folder.path, state.say, folder.note)
        state.served = scenario.server
    return state.server


def _met(scenario: Scenario, server: Backend) -> _Met:
    """One GET where the server is not ours, before its first load: who it is."""
    attach = scenario.server.attach
    if attach is None:
        return _Met(server.url, Peer(resolve(server.url), server.model or MODEL))
    headers = attach_headers.headers(attach)
    software, is_mlx = manners.software(server.url, attach.model, headers)
    return _Met(server.url, Peer(resolve(server.url), attach.model or MODEL, headers), software, is_mlx)


def _plan(state: RunState, met: _Met, scenario: Scenario, folder: RunFolder) -> RunPlan:
    peer = met.peer
    measured = _measured(state, met, scenario, folder)
    forecasting.foretell(state, peer, measured)
    return RunPlan(
        folder.path.name,
        loader.dump(scenario),
        met.url,
        measured,
        model=peer.model,
        epoch=1 if state.server is None else state.server.epoch,
        headers=peer.headers,
        checks=identity.checks(scenario, peer, measured.nonce, folder.note, state.say),
    )


def _measured(state: RunState, met: _Met, scenario: Scenario, folder: RunFolder) -> Calibration:
    nonce = "" if scenario.cache == "warm" else preambles.nonce(SystemRandom())
    profiles = profiles_of(state.environment.user_classes)
    state.say("measuring what our text costs in the server's tokens")
    state.is_shared = False
    began_at, lag = perf_counter(), LoopLag()

    def greet(queue_s: float, model: str | None) -> None:
        gevent.sleep(0)  # whoever woke late says so first
        late_s = lag.worst_since(began_at) or 0.0  # our own, for which no other client is to blame
        _greet(state, met, max(0.0, queue_s - late_s), model)

    try:
        measured = calibration.measure(met.peer, profiles, nonce, folder.note, greet)
    finally:
        lag.stop()
    if not measured.measured:
        state.say("the server's token counts say nothing of our text: sizes are a guess of 4 characters a token")
    return measured


def _greet(state: RunState, met: _Met, queue_s: float, model: str | None) -> None:
    """The first turn of one token came back, and nothing else has been sent yet: are others using a server not ours?"""
    if met.software is None:
        return
    greeting = Greeting(met.software, met.is_mlx, model, queue_s)
    state.is_shared = greeting.is_busy
    state.say(manners.line(met.url, greeting))
    is_ok = state.shared_ok or bool(getattr(state.environment.parsed_options, "shared_ok", False))
    if (objection := manners.objection(greeting, is_ok)) is not None:
        raise ScenarioError(objection)
