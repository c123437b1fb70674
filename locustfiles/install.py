"""Connects a run to Locust's events. Called by a locustfile; importing this does nothing."""

import logging
import os
import signal
import sys
from pathlib import Path

import gevent
from locust.argument_parser import LocustArgumentParser
from locust.env import Environment
from locust.event import Events
from locust.runners import MasterRunner, WorkerRunner

from locust_agents.locustfiles import conductor, hangup, relay, report, scenario_option, seating, stock_report
from locust_agents.locustfiles.conductor import Conductor
from locust_agents.locustfiles.events import ensure_hooks
from locust_agents.locustfiles.web import form, tab, where
from locust_agents.locustfiles.worker import Worker
from locust_agents.scenarios.model import Scenario

_log = logging.getLogger(__name__)


def install(events: Events, scenario: Scenario | None = None) -> None:
    """Adds our options and listeners. Without a scenario, the hand-written classes' host is attached to."""
    ensure_hooks(events)
    events.init_command_line_parser.add_listener(lambda parser, **_: _add_options(parser, scenario))
    events.init.add_listener(lambda environment, **_: _join_and_report(environment, scenario))


def join(environment: Environment, scenario: Scenario | None) -> Conductor | Worker:
    """Gives an environment its conductor, or its worker's part, and lets it follow the runner."""
    runner = environment.runner
    part: Conductor | Worker
    if isinstance(runner, WorkerRunner):
        part = Worker(environment, runner)
        conductor.give(environment, part)
        # Told in the reverse order of their coming: before the runner's own, which takes leave of the master.
        environment.events.quitting.add_listener(lambda **_: part.hold())
    else:
        part = conductor.of(environment)
        part.scenario = scenario
        if isinstance(runner, MasterRunner):
            part.receiver = relay.Receiver(runner, part.take_line)
            runner.register_message(relay.RECORDS, part.receiver.on_message)
            part.usher = seating.Usher(runner, part.elapsed_s)
            runner.register_message(seating.ASK, part.usher.on_message)
        environment.events.test_stopping.add_listener(lambda **_: part.hold())
    environment.events.test_start.add_listener(lambda **_: part.begin())
    environment.events.test_stop.add_listener(lambda **_: part.end())
    environment.events.quit.add_listener(lambda **_: part.quit())
    return part


def _join_and_report(environment: Environment, scenario: Scenario | None) -> None:
    part = join(environment, scenario)
    gevent.signal_handler(signal.SIGINT, _interrupt)
    if isinstance(part, Conductor):
        stock_report.install(environment, part)
        _heed_sigterm(environment)
        hangup.heed()
        if out := os.environ.get(scenario_option.OUT):
            part.out = Path(out)
        environment.events.quit.add_listener(lambda **_: report.show(part))
        _show_in_page(environment, part)
        if scenario is not None and (unused := form.unused(scenario, environment.parsed_options)):
            _log.warning(unused)
        if scenario_option.START in os.environ and environment.runner is not None:
            gevent.spawn(environment.runner.start_shape)


def _show_in_page(environment: Environment, part: Conductor) -> None:
    """Our tab, and for `run --web` where to find it."""
    web_ui, options = environment.web_ui, environment.parsed_options
    if web_ui is None:
        return
    tab.install(environment, part, web_ui)
    if scenario_option.START in os.environ:
        base, scheme = getattr(options, "web_base_path", None) or "", "https" if web_ui.tls_cert else "http"
        print(*where.lines(web_ui.host, web_ui.port, base, os.environ, scheme), sep="\n", file=sys.stderr)


def _interrupt() -> None:
    """In the main greenlet. Python raises it in the one that runs: that which hears the workers would hear no more."""
    gevent.get_hub().handle_system_error(KeyboardInterrupt, KeyboardInterrupt())


def _heed_sigterm(environment: Environment) -> None:
    """Locust heeds it only after a headless run with a shape, and is killed by it until then: it is Ctrl-C as well."""

    def interrupt() -> None:
        if conductor.of(environment).ended_at is None:
            _interrupt()

    if getattr(environment.parsed_options, "headless", False) and environment.shape_class is not None:
        gevent.signal_handler(signal.SIGTERM, interrupt)


def _add_options(parser: LocustArgumentParser, scenario: Scenario | None) -> None:
    """Asked again at each load of the page, so it must not mind being called twice."""
    parser.add_argument(
        "--scenario",
        env_var="LOCUST_AGENTS_SCENARIO",
        default="quickstart",
        include_in_web_ui=False,
        help="A scenario file, or the name of one that ships",
    )
    parser.add_argument(
        "--plugin",
        action="append",
        default=[],
        include_in_web_ui=False,
        help="A Python file with plugins; may be given again, and LOCUST_AGENTS_PLUGINS holds several",
    )
    parser.add_argument(
        "--shared-ok",
        action="store_true",
        include_in_web_ui=False,
        help="Load an attached server although others use it",
    )
    form.add_options(parser, scenario)
    parser.add_argument("--agents-plan", default="", include_in_web_ui=False, help="Sent to workers by the master")
