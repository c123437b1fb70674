"""Runs a scenario with Locust as a library: own runner, own progress line, one way out for every way to end."""

import logging
import signal
import sys
from pathlib import Path

import gevent
import gevent.event
from locust.env import Environment
from locust.event import Events

from locust_agents.locustfiles import conductor as conductors
from locust_agents.locustfiles import install
from locust_agents.locustfiles.classes import classes_of
from locust_agents.locustfiles.conductor import Conductor
from locust_agents.locustfiles.kept_server import KeptServer
from locust_agents.locustfiles.progress import ProgressLine
from locust_agents.locustfiles.shape import AgentShape
from locust_agents.scenarios.model import Scenario

_LOOK_S = 0.2


def run(scenario: Scenario, out: Path | None, shared_ok: bool = False, kept: KeptServer | None = None) -> Conductor:
    """One run, from the server's start to its end; whatever ends it, the server that we started is stopped.

    With `kept` the server is the one that is there, if one is, and is left there.
    """
    logging.getLogger("locust").setLevel(logging.ERROR)
    logging.getLogger("locust_agents").addHandler(logging.NullHandler())  # the report says it, once
    environment = Environment(
        user_classes=list(classes_of(scenario).values()),
        events=Events(),
        shape_class=AgentShape(),  # type: ignore[no-untyped-call]
    )
    environment.create_local_runner()
    install.join(environment, scenario)
    conductor = conductors.of(environment)
    conductor.out, conductor.shared_ok = out, shared_ok
    if kept is not None:
        kept.lend(conductor)
    with ProgressLine(conductor, sys.stderr) as line:
        conductor.say = line.say
        try:
            _run_to_end(environment, conductor, line)
        finally:
            if kept is not None:
                kept.take_back(conductor)
            environment.events.quit.fire(exit_code=conductor.exit_status())
    return conductor


def _run_to_end(environment: Environment, conductor: Conductor, line: ProgressLine) -> None:
    runner = environment.runner
    assert runner is not None
    stopped = gevent.event.Event()
    handlers = [gevent.signal_handler(number, stopped.set) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        runner.start_shape()
        while runner.shape_greenlet is not None and not stopped.wait(_LOOK_S):
            line.show()
        conductor.interrupted = stopped.is_set()
    finally:
        runner.quit()
        for handler in handlers:
            handler.cancel()
