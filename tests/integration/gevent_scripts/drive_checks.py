"""Two agents whose server answers checks right, swapped, looped, or not at all; their records are printed as JSON."""

import locust  # noqa: F401, I001 (first: it patches the standard library)

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

import gevent
from locust.env import Environment
from locust.event import Events

from locust_agents.right import canary
from locust_agents.right.answer_check import Checks
from locust_agents.right.canary import TASK, Crowd
from locust_agents.cluster.replay import ReplayServer, Script, chat_stream
from locust_agents.cluster.tiny.recipe import WITHOUT_CALL
from locust_agents.prompts.dialogue import Style
from locust_agents.locustfiles import identity
from locust_agents.locustfiles.asking import Peer
from locust_agents.locustfiles.driver import Driver
from locust_agents.locustfiles.swarm import Swarm
from locust_agents.locustfiles.transport import resolve
from locust_agents.locustfiles.session_values import Manner
from locust_agents.plan import RunPlan, from_text, to_text
from locust_agents.plugins import registry
from locust_agents.plugins.api import Agent, Session
from locust_agents.profile import Profile
from locust_agents.records import TurnRecord
from locust_agents.scenarios import loader
from locust_agents.scenarios.model import Scenario
from locust_agents.prompts.sizing import Calibration

PROFILE = Profile("quick", "P", "here", 50, 60, ("read",), 64)
NAMES = ("fixers/0.0", "fixers/0.1")
CROWD = Crowd({"fixers": 2})
EVERY, TURNS = 2, 5
STEPS = ("step 2", "step 4")
OK = chat_stream(["so ", "it ", "is"], 0.02, 0.01, usage=(400, 100, 3))
WORDS = Checks(EVERY, words=True)


def word(name: str, place: str) -> str:
    return canary.word(CROWD, name, f"{name}#0", place)


def said(text: str) -> Script:
    return chat_stream([text], 0.01, 0.001, usage=(500, 400, 12))


def own(name: str, step: str) -> Script:
    right = said(f"{word(name, TASK)} {word(name, step)}")
    return dataclasses.replace(right, when=(word(name, TASK), f"{step}? Answer"))


RIGHT = [own(name, step) for name in NAMES for step in STEPS]
SWAPPED = [
    dataclasses.replace(own(name, step), when=own(other, step).when)
    for name, other in (NAMES, NAMES[::-1])
    for step in STEPS
]
LOOPED = [dataclasses.replace(said("amber " * 12), when=script.when) for script in RIGHT]
THOUGHT = [
    dataclasses.replace(chat_stream([], 0.01, 0.001, reasoning=[thought], finish="length"), when=own(name, step).when)
    for name, thought in zip(NAMES, (f"so {word(NAMES[0], TASK)} and {word(NAMES[0], 'step 2')}", "hm"), strict=True)
    for step in STEPS
]
REFUSED = [Script(((0.0, b'{"error": "no"}'),), 404, when=script.when) for script in RIGHT]


def scenario(**keys: object) -> Scenario:
    entries = {"fixers": {"behaviour": "fix_failing_test", "agents": 2}}
    text = json.dumps({"server": {"attach": "http://localhost:1"}, "swarm": entries, "duration": "60s", **keys})
    return loader.parse(text, "here", registry.parameters(), registry.profiles())


def talk(agent: Agent) -> Session:
    """Some turns."""
    for _ in range(TURNS):
        yield agent.user("Go on.", tokens=30)


def drive(swarm: Swarm, name: str) -> None:
    agent = Agent(name, f"{name}#0", f"1 {name} 0")
    style = Style(PROFILE, swarm.preamble(PROFILE, 1.0))
    Driver(swarm, Manner("fixers", "talk", style, PROFILE.timeouts), lambda: False).run(talk(agent))


def run(scripts: Sequence[Script], checks: Checks | None) -> dict[str, Any]:
    """Both agents at once, with a plan that has been sent to a worker."""
    kept: list[TurnRecord] = []
    with ReplayServer([OK, *scripts]) as server:
        plan = from_text(to_text(RunPlan("run", "", server.url, Calibration("n"), checks=checks)))
        swarm = Swarm(plan, scenario(), Environment(events=Events()), kept.append)
        gevent.joinall([gevent.spawn(drive, swarm, name) for name in NAMES], raise_error=True)
        swarm.close()
        is_idle = not swarm._under_way
    asked = [json.loads(request.body) for request in server.requests() if request.method == "POST"]
    return {"records": [dataclasses.asdict(record) for record in kept], "asked": asked, "is_idle": is_idle}


def before(scripts: Sequence[Script], **keys: object) -> dict[str, Any]:
    """What is decided before the load, and what is said of it."""
    told: list[str] = []
    with ReplayServer(scripts) as server:
        peer = Peer(resolve(server.url), "m")
        found = identity.checks(scenario(**keys), peer, "n", lambda *_: None, told.append)
    asked = len([request for request in server.requests() if request.method == "POST"])
    return {"checks": None if found is None else dataclasses.asdict(found), "told": told, "asked": asked}


def main() -> None:
    """All of them."""
    once = said("one, two")
    alone = Checks(EVERY, alone="one, two")
    runs = {
        "right": gevent.spawn(run, RIGHT, WORDS),
        "swapped": gevent.spawn(run, SWAPPED, WORDS),
        "looped": gevent.spawn(run, LOOPED, WORDS),
        "refused": gevent.spawn(run, REFUSED, WORDS),
        "thought": gevent.spawn(run, THOUGHT, WORDS),
        "unchecked": gevent.spawn(run, RIGHT, None),
        "same": gevent.spawn(run, [dataclasses.replace(once, when=("thirty",))], alone),
        "different": gevent.spawn(run, [dataclasses.replace(said("one, too"), when=("thirty",))], alone),
    }
    befores = {
        "nothing": before([once]),
        "words": before([once], canary={"every": 5}),
        "identity": before([once], identity=True),
        "both": before([once], canary={"every": 5}, identity=True),
        "tiny": before([said(WITHOUT_CALL)], canary={"every": 5}),
        "unlike itself": before([once, said("one, too")], identity=True),
        "unlike itself, words": before([once, said("one, too")], canary={}),
        "refused": before([Script((), 500)], identity=True),
    }
    print(json.dumps({"runs": {name: made.get() for name, made in runs.items()}, "befores": befores}))


if __name__ == "__main__":
    main()
