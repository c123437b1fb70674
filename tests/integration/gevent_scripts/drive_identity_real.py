"""Three agents on two real ranks of the tiny model, asked alone and in the crowd; their records are printed as JSON."""

import locust  # noqa: F401, I001 (first: it patches the standard library)

import dataclasses
import json
import tempfile
from pathlib import Path
from typing import Any

import gevent
from locust.env import Environment
from locust.event import Events

from locust_agents.locustfiles import backend, calibration, identity
from locust_agents.locustfiles.asking import Peer
from locust_agents.locustfiles.driver import Driver
from locust_agents.locustfiles.swarm import Swarm
from locust_agents.locustfiles.transport import resolve
from locust_agents.locustfiles.session_values import Manner
from locust_agents.prompts.dialogue import Style
from locust_agents.plan import MODEL, RunPlan
from locust_agents.plugins import registry
from locust_agents.plugins.api import Agent, Session
from locust_agents.records import TurnRecord
from locust_agents.scenarios import loader
from locust_agents.scenarios.model import Scenario

SCALE = 0.02
TEXT = """
name: identity
server: {launch: {model: tiny, ranks: 2}}
duration: 60s
canary: {every: 3}
swarm: {fixers: {behaviour: fix_failing_test, agents: 3}}
"""


def talk(agent: Agent) -> Session:
    """Six turns, each behind the tools' results."""
    reply = yield agent.user("Go on.", tokens=2000)
    for _ in range(5):
        reply = yield agent.tool_results(reply, tokens=1000)


def drive(swarm: Swarm, name: str) -> None:
    profile = registry.profile("opencode")
    style = Style(profile, swarm.preamble(profile, SCALE), SCALE)
    Driver(swarm, Manner("fixers", "talk", style, profile.timeouts), lambda: False).run(
        talk(Agent(name, f"{name}#0", f"1 {name} 0"))
    )


def load(url: str, scenario: Scenario, told: list[str]) -> list[TurnRecord]:
    kept: list[TurnRecord] = []
    peer = Peer(resolve(url), MODEL)
    measured = calibration.measure(peer, [(registry.profile("opencode"), SCALE)], "123 456", lambda *_: None)
    checks = identity.checks(scenario, peer, "123 456", lambda *_: None, told.append)
    plan = RunPlan("run", "", url, measured, checks=checks)
    swarm = Swarm(plan, scenario, Environment(events=Events()), kept.append)
    gevent.joinall([gevent.spawn(drive, swarm, f"fixers/0.{number}") for number in range(3)], raise_error=True)
    swarm.close()
    return kept


def main() -> None:
    """One run."""
    scenario = loader.parse(TEXT, "here", registry.parameters(), registry.profiles())
    told: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        server = backend.start(scenario, Path(folder), lambda _: None, lambda *_: None)
        try:
            kept = load(server.url, scenario, told)
        finally:
            left = server.stop()
    found: dict[str, Any] = {"told": told, "left": left, "records": [dataclasses.asdict(record) for record in kept]}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
