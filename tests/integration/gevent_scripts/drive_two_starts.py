"""Two Starts of one environment, as in the web UI. Argument: the server."""

import locust  # noqa: F401, I001 (first: it patches the standard library)

import json
import sys
from pathlib import Path

import gevent
from locust.env import Environment
from locust.event import Events

from locust_agents.locustfiles import calibration, install
from locust_agents.locustfiles.classes import classes_of
from locust_agents.locustfiles.conductor import Conductor
from locust_agents.locustfiles.shape import AgentShape
from locust_agents.plugins import registry
from locust_agents.scenarios import loader
from locust_agents.prompts.sizing import Calibration


def main(url: str) -> None:
    """Prints one JSON object: what was said in each run, and the error, None without one."""
    # a replay server does not count anew for a second run
    calibration.measure = lambda *_: Calibration("", measured=True)
    keys = {
        "name": "twice",
        "server": {"attach": url},
        "turns": 1,
        "scale": 0.01,
        "gaps": {"scale": 0},
        "swarm": {"fixer": {"behaviour": "fix_failing_test"}},
    }
    scenario = loader.parse(json.dumps(keys), "twice", registry.parameters(), registry.profiles())
    environment = Environment(
        user_classes=list(classes_of(scenario).values()),
        events=Events(),
        shape_class=AgentShape(),  # type: ignore[no-untyped-call]
    )
    environment.create_local_runner()
    conductor = install.join(environment, scenario)
    assert isinstance(conductor, Conductor)
    runs = [_run(environment, conductor, Path(name)) for name in ("one", "two")]
    environment.events.quit.fire(exit_code=0)
    print(json.dumps({"said": runs, "error": None if conductor.error is None else str(conductor.error)}))


def _run(environment: Environment, conductor: Conductor, out: Path) -> list[str]:
    said: list[str] = []
    conductor.out, conductor.say = out, said.append
    runner = environment.runner
    assert runner is not None
    runner.start_shape()
    while runner.shape_greenlet is not None:
        gevent.sleep(0.05)
    runner.stop()
    return said


if __name__ == "__main__":
    main(sys.argv[1])
