"""Many small runs side by side in one process, each the real headless run against its own path of a replay server.

`import locust` patches a process, so no test imports this: scripts beside it do, and print what came of their runs.
"""

import locust  # noqa: F401, I001 (first: it patches the standard library)

import dataclasses
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import gevent

from locust_agents import run_folder
from locust_agents.prompts import preambles
from locust_agents.prompts import roles
from locust_agents.cluster.replay import Received, ReplayServer, Script
from locust_agents.locustfiles import calibration, forecasting, headless, install
from locust_agents.locustfiles.conductor import Conductor
from locust_agents.plugins import registry
from locust_agents.plugins.api import Agent, Behaviour, Reply, Session
from locust_agents.profile import Profile
from locust_agents.scenarios import loader
from locust_agents.prompts.sizing import Calibration

CHAT = "/v1/chat/completions"
PREAMBLE_TOKENS = 110
# How long a request that was sent may take to be read by a server that is slow.
_READ_S = 60.0


@dataclass(frozen=True)
class Case:
    """One run: its entries with the behaviour of each, the answers in order, the profile, keys of the scenario.

    `meddle` is called all the time while the run goes on, until it says that it has done its part.
    """

    name: str
    entries: Mapping[str, Behaviour]
    answers: Sequence[Script]
    profile: Profile
    keys: Mapping[str, object] = field(default_factory=dict)
    agents: int = 1
    server: ReplayServer | None = None
    path: str = CHAT
    meddle: Callable[[Conductor], bool] | None = None


def until(agent: Agent, outcome: str, text: str, tries: int) -> Session:
    """Asks again until a turn ends so: what a busy machine may spoil now and then."""
    for _ in range(tries):
        reply: Reply = yield agent.user(text)
        if reply.outcome == outcome:
            return


def run_all(cases: Sequence[Case], seen: Mapping[str, Any]) -> None:
    """Runs them all at once and prints one JSON object: what came of each, and `seen`."""
    # its requests would use up the first answers
    calibration.measure = _measure  # type: ignore[assignment]
    # so would its, and behaviours that keep what they see would see the rehearsal too
    forecasting.foretell = lambda *_: None
    roles.used = _one_role
    meddling = {case.name: case.meddle for case in cases if case.meddle is not None}
    install.join = _joining(meddling)  # type: ignore[assignment]
    registry.behaviours = lambda: {made.name: made for case in cases for made in case.entries.values()}
    registry.profiles = lambda: {case.profile.name: case.profile for case in cases}
    answers = [replace(script, path=f"/{case.name}{case.path}") for case in cases for script in case.answers]
    with ReplayServer(answers, stamp=True) as server, tempfile.TemporaryDirectory() as folder:
        runs = {case.name: gevent.spawn(_run, case, case.server or server, Path(folder) / case.name) for case in cases}
        results = {name: run.get() for name, run in runs.items()}
    kept = {name: value.get() if isinstance(value, gevent.Greenlet) else value for name, value in seen.items()}
    print(json.dumps({"runs": results, "seen": kept}))


def _joining(meddling: Mapping[str, Callable[[Conductor], bool]]) -> Callable[..., object]:
    join = install.join

    def joined(environment: Any, scenario: Any) -> object:
        conductor = join(environment, scenario)
        if scenario.name in meddling:
            gevent.spawn(_meddle, conductor, meddling[scenario.name])
        return conductor

    return joined


def _meddle(conductor: Conductor, part: Callable[[Conductor], bool]) -> None:
    while conductor.swarm is None or not part(conductor):
        gevent.sleep(0.02)


def _one_role(behaviour: Behaviour, profile: Profile, parameters: Mapping[str, Any]) -> list[Profile]:
    del behaviour, parameters  # which are not to be rehearsed here
    return [profile]


def _measure(_peer: object, profiles: Sequence[tuple[Profile, float]], nonce: str, *_: object) -> Calibration:
    counts = {preambles.key(profile, scale): PREAMBLE_TOKENS for profile, scale in profiles}
    return Calibration(nonce, preamble_tokens=counts, measured=True)


def _run(case: Case, server: ReplayServer, out: Path) -> dict[str, Any]:
    url = server.url if case.server is not None else f"{server.url}/{case.name}"
    swarm = {
        name: {"behaviour": made.name, "profile": case.profile.name, "agents": case.agents}
        for name, made in case.entries.items()
    }
    keys = {
        "name": case.name,
        "server": {"attach": url},
        "start": {"apart": "0s"},
        "swarm": swarm,
        **({"sessions": 1} | dict(case.keys)),
    }
    scenario = loader.parse(json.dumps(keys), case.name, registry.parameters(), registry.profiles())
    conductor = headless.run(scenario, out)
    records = [dataclasses.asdict(record) for record in run_folder.turns(out)]
    path = "" if case.server is not None else f"/{case.name}"
    sent = sum(record["connect_s"] is not None for record in records)
    heard = _heard(server, path + case.path, sent)
    swarm_part = conductor.swarm
    return {
        "status": conductor.exit_status(),
        "faults": conductor.plugin_faults,
        "records": records,
        "until": conductor.until,
        "summary": json.loads((out / "summary.json").read_text()),
        "requests": [
            {"at_s": request.at_s, "body": request.body.decode(), "headers": dict(request.headers)} for request in heard
        ],
        "one_preamble": swarm_part is not None
        and swarm_part.preamble(case.profile, scenario.scale) is swarm_part.preamble(case.profile, scenario.scale),
    }


def _heard(server: ReplayServer, path: str, number: int) -> list[Received]:
    """What the server was asked on a path, when it has read what was sent."""
    with gevent.Timeout(_READ_S, False):
        while sum(request.path == path for request in server.requests()) < number:
            gevent.sleep(0.05)
    return [request for request in server.requests() if request.path == path]
