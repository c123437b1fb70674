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
from locust_agents.locustfiles import hangup, install, stopping
from locust_agents.locustfiles.classes import classes_of
from locust_agents.locustfiles.conductor import Conductor
from locust_agents.locustfiles.kept_server import KeptServer
from locust_agents.locustfiles.progress import ProgressLine
from locust_agents.locustfiles.shape import AgentShape
from locust_agents.scenarios.model import Scenario

_LOOK_S = 0.2


def run(scenario: Scenario, out: Path | None, shared_ok: bool = False, kept: KeptServer | None = None) -> Conductor:
    """One run, from the server's start to its end; whatever ends it, the server that we started is stopped.

    With `kept` the server is the one that is there, if one is, and is left there; and the first interrupt cuts, since
    the run will be made again.
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
            _run_to_end(environment, conductor, line, cuts_at_once=kept is not None)
        finally:
            if kept is not None:
                kept.take_back(conductor)
            environment.events.quit.fire(exit_code=conductor.exit_status())
    return conductor


def _run_to_end(environment: Environment, conductor: Conductor, line: ProgressLine, cuts_at_once: bool) -> None:
    runner = environment.runner
    assert runner is not None
    woken = gevent.event.Event()

    def ask() -> None:
        conductor.interrupted = True
        (stopping.cut if cuts_at_once else stopping.ask)(conductor)
        woken.set()

    handlers = [gevent.signal_handler(number, ask) for number in (signal.SIGINT, signal.SIGTERM)]
    handlers += hangup.heed()
    try:
        runner.start_shape()
        while runner.shape_greenlet is not None and not conductor.is_cut:
            woken.wait(_LOOK_S)
            woken.clear()
            line.show()
    finally:
        runner.quit()
        for handler in handlers:
            handler.cancel()
