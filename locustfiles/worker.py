"""A worker's part: builds the classes that the master's plan names, and sends every record to the master."""

import logging
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import gevent
from locust.env import Environment
from locust.runners import WorkerRunner

from locust_agents import plan
from locust_agents.cluster.watch.look import OpenLook
from locust_agents.errors import LocustAgentsError
from locust_agents.locustfiles import faults, relay, seating
from locust_agents.locustfiles.classes import classes_of
from locust_agents.locustfiles.events import ensure_hooks
from locust_agents.locustfiles.swarm import Swarm
from locust_agents.plugins.api import Behaviour
from locust_agents.scenarios import with_plugins
from locust_agents.seats import Wish

_log = logging.getLogger(__name__)

_LOOK_S = 0.05
# How long a worker that ends waits for the master to have its last records.
_LAST_RECORDS_S = 2.0


class Worker:
    """What a worker's environment has in the place of a conductor."""

    def __init__(self, environment: Environment, runner: WorkerRunner) -> None:
        self.environment = environment
        self.swarm: Swarm | None = None
        self._runner = runner
        self._sender: relay.Sender | None = None
        self._asker: seating.Asker | None = None
        self._is_over = False
        ensure_hooks(environment.events)
        runner.register_message(relay.RECEIVED, self.on_received)
        runner.register_message(relay.DRAIN, self.on_drain)
        runner.register_message(relay.HOLD, self.on_hold)
        runner.register_message(relay.OVER, self.on_over)
        runner.register_message(seating.ANSWER, self.on_seated)

    def begin(self) -> None:
        """The master has sent its plan with its options; without one there is nothing to do."""
        text = getattr(self.environment.parsed_options, "agents_plan", "")
        for at_work in (self._sender, self._asker):
            if at_work is not None:
                at_work.stop()
        self.swarm, self._is_over = None, False
        if text:
            try:
                self._begin(plan.from_text(text))
            except (LocustAgentsError, OSError) as error:
                _log.error("this worker cannot take part: %s", error)

    def _begin(self, made: plan.RunPlan) -> None:
        scenario = with_plugins.of_plan(made.scenario)
        if scenario.swarm:  # else the classes are written by hand, and this worker has them in its own locustfile
            self.environment.user_classes = list(classes_of(scenario).values())
        self._sender = relay.Sender(self._runner, made.run, self._is_idle, self._looks, self._told, self.go)
        self._asker = seating.Asker(self._runner, made.run, self._asked)
        worker = max(0, self._runner.worker_index)
        self.swarm = Swarm(made, scenario, self.environment, self._sender, worker, self._asker)

    def swarm_for_users(self) -> Swarm | None:
        """The run that a user joins; None where it did not begin."""
        return self.swarm

    def plugin_failed(self, behaviour: Behaviour, error: BaseException) -> None:
        """A behaviour raised: the master learns of it and ends with status 2."""
        if self._sender is not None:
            self._sender.faults.append(faults.describe(behaviour, error))

    def hold(self) -> None:
        """This process is told to end, before it tells the master: its open turns get their time, and all is sent."""
        swarm, sender = self.swarm, self._sender
        if swarm is None or sender is None or self._is_over:
            return
        swarm.drain()
        until = perf_counter() + swarm.scenario.drain_s
        try:
            while not swarm.is_idle and perf_counter() < until:
                gevent.sleep(_LOOK_S)
        except KeyboardInterrupt:  # twice
            until = 0.0
        if not swarm.is_idle:
            swarm.drain(cut=True)
        with gevent.Timeout(_LAST_RECORDS_S, False):
            while not (swarm.is_idle and sender.has_all):
                gevent.sleep(_LOOK_S)

    def go(self) -> None:
        """The master is gone, or this is none of its: nobody wants this load any more."""
        _log.error("the master of this run is gone: this worker ends")
        self._is_over = True
        if self.swarm is not None:
            self.swarm.drain(cut=True)
        gevent.spawn(self._runner.quit)

    def end(self) -> None:
        """Users have been stopped. What is not acknowledged goes out once more; the sender goes on until it is."""
        self._is_over = True
        if self.swarm is not None:
            self.swarm.is_draining = True
            self.swarm.close()
        if self._asker is not None:
            self._asker.stop()
        if self._sender is not None:
            self._sender.send()

    def quit(self) -> None:
        """The process ends."""

    def on_received(self, environment: Environment, msg: Any, **_: Any) -> None:
        """The master has written our lines up to a number."""
        del environment
        if self._sender is not None and self.swarm is not None and msg.data["run"] == self.swarm.plan.run:
            self._sender.received(msg.data["upto"])

    def on_drain(self, environment: Environment, msg: Any, **_: Any) -> None:
        """The master says that no turn may start any more."""
        del environment
        if self.swarm is not None:
            self.swarm.drain(msg.data["cut"])

    def on_hold(self, environment: Environment, msg: Any, **_: Any) -> None:
        """The server is gone, or another start of it is up."""
        del environment
        if self.swarm is not None and "why" in msg.data:
            self.swarm.give_up(msg.data["why"])
        elif self.swarm is not None:
            self.swarm.go_on(msg.data["epoch"])

    def on_over(self, environment: Environment, msg: Any, **_: Any) -> None:
        """Another master than ours has our messages."""
        del environment, msg
        if not self._is_over:
            self.go()

    def on_seated(self, environment: Environment, msg: Any, **_: Any) -> None:
        """The master says who our slots are, and how many turns they may start."""
        del environment
        said, swarm = msg.data, self.swarm
        if swarm is not None and said["run"] == swarm.plan.run:
            swarm.seated(seating.seats_of(said), said["turns"], said["left"] > 0, said["elapsed_s"])

    def _asked(self) -> tuple[Mapping[int, Wish], int, bool]:
        swarm = self.swarm
        return ({}, 0, True) if swarm is None else (swarm.slots.wishes, swarm.turns_started, swarm.is_asking)

    def _told(self) -> Mapping[str, Any]:
        swarm = self.swarm
        if swarm is None:
            return {"slots": 0, "opened": 0, "cpu": (0.0, 0.0)}
        return {"slots": len(swarm.slots), "opened": swarm.opened_ever, "cpu": swarm.cpu.share}

    def _looks(self) -> list[OpenLook]:
        return [] if self.swarm is None else self.swarm.looks()

    def _is_idle(self) -> bool:
        return self.swarm is not None and self.swarm.is_idle
