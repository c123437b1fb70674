"""The whole product as benchmarks run it: a CodingAgent class under Locust as a library, with records and events."""

import dataclasses
import logging
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import gevent
from locust.env import Environment
from locust.event import Events

from locust_agents.locustfiles import install
from locust_agents.locustfiles.conductor import Conductor
from locust_agents.locustfiles.swarm import Swarm
from locust_agents.locustfiles.user import CodingAgent
from locust_agents.plugins import registry
from locust_agents.plugins.api import Agent, Behaviour, Session, behaviour
from tests.benchmarks import payload

_LOOK_S = 0.05


@behaviour
def one_turn(agent: Agent) -> Session:
    """Asks once."""
    yield agent.user("What does this do?", tokens=50)


@contextmanager
def running(
    url: str,
    agents: int,
    acts: Behaviour = one_turn,
    sessions: int | None = None,
    swarm_class: type[Swarm] = Swarm,
) -> Iterator[Swarm]:
    """Agents of the opencode profile that send to `payload.PATH` until the block ends; open turns are cut then."""
    logging.getLogger("locust").setLevel(logging.ERROR)
    # a conversation that its client shortens is not the one that is to be measured
    profile = dataclasses.replace(registry.profile("opencode"), compaction=None)
    attributes: dict[str, Any] = {
        "abstract": False,
        "host": url,
        "behaviour": acts,
        "profile": profile,
        "sessions": sessions,
    }
    environment = Environment(user_classes=[type("Asker", (CodingAgent,), attributes)], events=Events())
    runner = environment.create_local_runner()
    conductor = install.join(environment, None)
    assert isinstance(conductor, Conductor)
    environment.events.test_start.add_listener(lambda **_: _aim(conductor, swarm_class))
    with tempfile.TemporaryDirectory() as folder:
        conductor.out = Path(folder)
        try:
            runner.start(agents, spawn_rate=agents)
            gevent.joinall([runner.spawning_greenlet])
            assert conductor.swarm is not None, conductor.error
            yield conductor.swarm
        finally:
            runner.quit()
            environment.events.quit.fire(exit_code=0)


def wait_until(is_so: Callable[[], bool], limit_s: float) -> None:
    """Returns when it is so, or when the time is up."""
    end = perf_counter() + limit_s
    while not is_so() and perf_counter() < end:
        gevent.sleep(_LOOK_S)


def _aim(conductor: Conductor, swarm_class: type[Swarm]) -> None:
    """The run has begun and is calibrated; its agents ask below a path of their own."""
    begun = conductor.swarm
    assert begun is not None, conductor.error
    begun.close()
    plan = dataclasses.replace(begun.plan, base_url=begun.plan.base_url + payload.PATH)
    conductor.swarm = swarm_class(plan, begun.scenario, conductor.environment, conductor.take)
