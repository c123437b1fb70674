"""What the Agents tab is told of the client's own part: in one process, and as a worker dies; prints it as JSON."""

import locust  # noqa: F401 (first: it patches the standard library)

# isort: split
import json
import math
from argparse import Namespace
from collections.abc import Iterator
from time import perf_counter
from typing import Any

from locust.env import Environment
from locust.event import Events
from locust.runners import STATE_MISSING, STATE_RUNNING, MasterRunner, WorkerNode

from locust_agents import records
from locust_agents.cluster.watch import turns
from locust_agents.cluster.watch.look import OpenLook
from locust_agents.locustfiles import breach, relay, self_honesty
from locust_agents.locustfiles.conductor import Conductor
from locust_agents.locustfiles.web.feed import Feed
from locust_agents.records import TurnRecord
from locust_agents.scenarios import with_plugins

BEGAN = 1000.0
SCENARIO = """
name: x
server: {attach: "http://127.0.0.1:9"}
duration: 60s
stop_on_breach: true
arrival: {rate: 6/m}
swarm: {a: {behaviour: giant_prompt, agents: 3}}
limits: {ttft.max: 30s}
"""


class Untouched(list[TurnRecord]):
    """Nobody goes through all of it; what has come since may be cut off."""

    def __iter__(self) -> Iterator[TurnRecord]:
        raise AssertionError("all records were gone through")


def turn(number: int, **told: Any) -> TurnRecord:
    who = {"run": "r", "entry": "a", "agent": "a/0.0", "session": f"s{number}", "turn": 0, "attempt": 1}
    what = {"kind": "first", "wall_time": BEGAN + number, "end_s": 2.0, "sent_s": 0.1, "first_token_s": 0.5}
    sound = {"outcome": "ok", "loop_lag_s": 0.004, "late_s": 9.0, "itl_hist": {"500": 40}}
    return records.from_line(json.dumps({**who, **what, **sound, **told}))


def part(environment: Environment) -> Conductor:
    """Of a run that goes on; a clock makes its sessions due, so that its agents are late by the server's doing."""
    made = Conductor(environment)
    made.running = with_plugins.parse(SCENARIO, "here")
    made.began, made.started_at = BEGAN, perf_counter()
    made.records = Untouched()
    return made


def told(feed: Feed) -> dict[str, Any]:
    found = feed.told()
    return {"client": dict(found["client"]), "doubts": found["doubts"], "turns": found["turns"]}


def alone() -> list[Any]:
    """Sound, then with a loop that lags, then as the end says it."""
    environment = Environment(events=Events())
    environment.create_local_runner()
    state = part(environment)
    feed = Feed(state)
    said: list[Any] = [told(feed)]
    state.records.extend(turn(number) for number in range(9))
    said += [told(feed), breach.look(state)]
    state.records.append(turn(9, loop_lag_s=0.75, kind="later", late_s=0.002))
    state.missing = (1, 3)
    said += [told(feed), breach.look(state)]
    state.records.append(turn(10, first_token_s=40.0))
    state.records = list(state.records[:])
    said.append(breach.look(state))
    state.until = BEGAN + 60.0
    state.trust = self_honesty.trust(state)
    said.append(told(feed))
    return said


def sentences() -> list[list[str]]:
    """What the tab is told was said: of a run that is prepared, once its load goes on, and at the next one's start."""
    state, passed_on = Conductor(Environment(events=Events())), list[str]()
    state.say = passed_on.append
    feed = Feed(state)
    for line in ("the server starts, 0 s", "the server starts, 1 s", "measuring"):
        state.say(line)
    said = [_said(feed)]
    state.running, state.started_at = with_plugins.parse(SCENARIO, "here"), perf_counter()
    state.say("1 of 3 agents is missing")
    said.append(_said(feed))
    state.reset()
    return [*said, _said(feed), passed_on]


def _said(feed: Feed) -> list[str]:
    return [one["what"] for one in feed.told()["said"]]


def with_workers() -> list[Any]:
    """Two workers, each with a turn open; one goes, and is given up."""
    environment = Environment(events=Events())
    runner = environment.create_master_runner("127.0.0.1", 0)
    state = part(environment)
    state.receiver = relay.Receiver(runner, lambda line: state.records.append(records.from_line(line)))
    state.receiver.start("r")
    runner.send_message = lambda *_, **__: None  # type: ignore[method-assign]  # nobody is there to hear it
    for worker, name in enumerate(("one", "two")):
        runner.clients[name] = WorkerNode(name, state=STATE_RUNNING)
        assert runner.get_worker_index(name) == worker
        state.receiver.on_message(environment, _message(name, worker))
    feed, said = Feed(state), []
    for patience_s in (math.inf, math.inf, 0.0):
        relay._DEAD_S = patience_s
        feed.look()
        said.append(told(feed))
        runner.clients["two"].state = STATE_MISSING
    assert isinstance(runner, MasterRunner)
    return said


def _message(name: str, worker: int) -> Namespace:
    """It has begun three turns; two have their records here."""
    lines = [records.to_line(turn(2 * worker + number, late_s=0.0)) for number in range(2)]
    is_open = turns.to_plain([OpenLook(f"a/{worker}.0", "s", 1, "first", perf_counter())], perf_counter())
    data = {"run": "r", "first": 0, "lines": lines, "idle": False, "faults": [], "slots": 1, "opened": 3}
    return Namespace(data={**data, "cpu": [0.25 + worker / 10, 20.0], "open": is_open}, node_id=name)


if __name__ == "__main__":
    print(json.dumps({"alone": alone(), "workers": with_workers(), "sentences": sentences()}))
