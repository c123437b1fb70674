"""One for each environment: follows Locust through its runs, takes their records, says when a run is over."""

import logging
import math
from time import perf_counter
from typing import Any

import gevent
from gevent.lock import RLock
from locust.env import Environment
from locust.runners import MasterRunner, Runner

from locust_agents import plan, records
from locust_agents.errors import ClusterError, LocustAgentsError
from locust_agents.locustfiles import breach, ending, faults, missing, opening, senders, stopping, trouble
from locust_agents.locustfiles.events import ensure_hooks
from locust_agents.locustfiles.run_state import RunState
from locust_agents.locustfiles.swarm import Swarm
from locust_agents.plan import RunPlan
from locust_agents.plugins.api import Behaviour
from locust_agents.records import TurnRecord

_log = logging.getLogger(__name__)


class Conductor(RunState):
    """The local or master process's part of all runs of an environment; the server is kept between them."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self._beginning, self._ending = RLock(), RLock()
        self._hooks = ensure_hooks(environment.events)

    def begin(self) -> None:
        """Everything before the first turn. An error is kept, and ends the run at the shape's next look."""
        self.reset()
        try:
            self._launch(opening.prepare(self))
            self.load_begins()
            if self.duration_s() < math.inf:
                gevent.spawn(self._end_in_time, self.started_at)
            if self.environment.shape_class is None and self.environment.runner is not None:
                gevent.spawn(self._watch, self.environment.runner)
        except (LocustAgentsError, OSError) as error:
            self.fail(error)
        except Exception as error:  # noqa: BLE001 (Locust would log it, and go on without a run)
            _log.exception("a fault in locust-agents")
            self.fail(ClusterError(f"a fault in locust-agents, please report it: {error!r}"))

    def swarm_for_users(self) -> Swarm | None:
        """The run that a user joins; None where it did not begin.

        A locustfile that does not install us (classes written by hand) begins its run with its first user.
        """
        with self._beginning:
            if self.started_at is None and self.error is None:
                self.begin()
                self.environment.events.test_stopping.add_listener(lambda **_: self.hold())
                self.environment.events.test_stop.add_listener(lambda **_: self.end())
                self.environment.events.quit.add_listener(lambda **_: self.quit())
        return self.swarm

    def plugin_failed(self, behaviour: Behaviour, error: BaseException) -> None:
        """A behaviour raised; the run goes on without that agent, and ends with status 2."""
        self.plugin_faults.append(faults.describe(behaviour, error))

    def take(self, record: TurnRecord) -> TurnRecord:
        """A turn of this process ended; the record as it is kept."""
        record = record if self.blamer is None else self.blamer.take(record)
        self._keep(record)
        if self.folder is not None:
            self.folder.turn(record)
        return record

    def take_line(self, line: str) -> None:
        """A turn of a worker ended."""
        record = self.take(records.from_line(line))
        self._hooks.turn.fire(record=record)

    def is_over(self) -> bool:
        """Asked by the shape once a second: watches the server and the limits, sees when all is done."""
        if self.error is not None:
            return True
        if self.started_at is None or self.running is None:
            return False
        missing.look(self)
        if self.lookout is not None and (found := self.lookout.look()) is not None:
            return trouble.ends_the_run(self, found)
        if self.drained_at is None and (said := breach.look(self)) is not None:
            self.say(said)
            self.drain()
        return stopping.is_drained(self)

    def drain(self, cut: bool = False) -> None:
        """No turn starts any more; those that are open go on, or are ended now with `cut`."""
        senders.drain(self, cut)

    def hold(self) -> None:
        """Locust is about to stop its users: turns that are open get their time first."""
        stopping.hold(self)

    def end(self) -> None:
        """Users have been stopped: the summary is written. Who stops at the same time waits for it here."""
        with self._ending:
            if self.ended_at is None:
                ending.sum_up(self)
                self.ended_at = perf_counter()
        self.environment.process_exit_code = self.exit_status()

    def quit(self) -> None:
        """The process ends, and with it the server, if it is ours."""
        ending.stop(self)

    def exit_status(self) -> int:
        """As the contract has it, for what is known now."""
        return ending.exit_status(self)

    def as_json(self) -> dict[str, Any]:
        """What summary.json holds."""
        return ending.as_json(self)

    def _launch(self, made: RunPlan) -> None:
        """Hands the plan to whoever sends the turns."""
        options, is_master = self.environment.parsed_options, isinstance(self.environment.runner, MasterRunner)
        if is_master and self.receiver is not None and options is not None:
            self.receiver.start(made.run)
            if self.usher is not None:
                self.usher.start(made.run, None if self.running is None else self.running.turns)
            options.agents_plan = plan.to_text(made)
        elif self.running is not None:
            self.swarm = Swarm(made, self.running, self.environment, self.take)

    def _end_in_time(self, started_at: float | None) -> None:
        """Of the run that began then, to the moment: the shape looks once a second, and a stage may be that short."""
        while self.started_at == started_at and self.drained_at is None and self.ended_at is None:
            if (left_s := self.duration_s() - self.elapsed_s()) <= 0:
                self.drain()
            else:
                gevent.sleep(left_s)  # may wake too early after work that held up the loop

    def _keep(self, record: TurnRecord) -> None:
        self.records.append(record)
        if self.listening is not None:
            self.listening.take(record)
        if self.lookout is not None:
            self.lookout.ended(record)

    def _watch(self, runner: Runner) -> None:
        """Does what the shape does where there is none: hand-written classes, or the picker's "Default" shape."""
        while not self.is_over():
            gevent.sleep(1.0)
        if getattr(self.environment.parsed_options, "headless", False):
            runner.quit()
        else:
            runner.stop()


def of(environment: Environment) -> Conductor:
    """The environment's conductor, made at the first call."""
    found = getattr(environment, "locust_agents", None)
    if found is None:
        found = Conductor(environment)
        give(environment, found)
    return found


def give(environment: Environment, part: Any) -> None:
    """Makes `part` (a Conductor, or a worker's part) what `of` finds."""
    environment.locust_agents = part  # type: ignore[attr-defined]
