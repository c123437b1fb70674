"""One for each environment: begins a run (server, calibration, plan), says when it is over, sums it up."""

import dataclasses
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import SystemRandom
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

import gevent
from gevent.lock import RLock
from locust.env import Environment
from locust.runners import STATE_RUNNING, MasterRunner, Runner

from locust_agents import plan, preambles, records, run_folder, summary, verdict
from locust_agents.cluster import attach_headers, manners, restart
from locust_agents.cluster.watch_look import OpenLook
from locust_agents.errors import ClusterError, LocustAgentsError, ScenarioError
from locust_agents.locustfiles import backend, calibration, faults, relay
from locust_agents.locustfiles.backend import Backend
from locust_agents.locustfiles.events import ensure_hooks
from locust_agents.locustfiles.handwritten import profiles_of, scenario_of
from locust_agents.locustfiles.lookout import Lookout
from locust_agents.locustfiles.swarm import Swarm
from locust_agents.locustfiles.transport import resolve
from locust_agents.plan import MODEL, RunPlan
from locust_agents.records import TurnRecord
from locust_agents.run_folder import RunFolder
from locust_agents.scenarios import loader
from locust_agents.scenarios.model import Scenario
from locust_agents.sizing import Calibration
from locust_agents.summary import Summary

_log = logging.getLogger(__name__)
# How long the master waits at a stop for what workers still hold.
_LAST_RECORDS_S = 3.0
# How long streams of a dead server get to end by themselves.
_LAST_BYTES_S = 0.5


class Conductor:
    """The local or master process's part of all runs of an environment; the server is kept between them."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.scenario: Scenario | None = None
        self.out: Path | None = None
        self.shared_ok = False
        self.say: Callable[[str], None] = _log.info
        self.error: LocustAgentsError | OSError | None = None
        self.plugin_faults: list[str] = []
        self.interrupted = False
        self.server: Backend | None = None
        self.folder: RunFolder | None = None
        self.path: Path | None = None
        self.swarm: Swarm | None = None
        self.records: list[TurnRecord] = []
        self.summary: Summary | None = None
        self.receiver: relay.Receiver | None = None
        self.lookout: Lookout | None = None
        self.gaps: list[restart.Gap] = []
        self.running: Scenario | None = None
        self._started: float | None = None
        self._drained: float | None = None
        self._beginning = RLock()
        self._headers: Mapping[str, str] = {}
        self._model = MODEL
        self._software, self._is_mlx = "", True
        self._hooks = ensure_hooks(environment.events)

    # beginning

    def begin(self) -> None:
        """Everything before the first turn. An error is kept, and ends the run at the shape's next look."""
        self.error = self.summary = self.swarm = self.lookout = None
        self._started = self._drained = None
        self.records, self.plugin_faults, self.gaps = [], [], []
        try:
            self._begin()
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
            if self._started is None and self.error is None:
                self.begin()
                self.environment.events.test_stop.add_listener(lambda **_: self.end())
                self.environment.events.quit.add_listener(lambda **_: self.quit())
        return self.swarm

    def slot_finished(self) -> None:
        """A slot has done its sessions."""
        if self.swarm is not None:
            self.swarm.slot_finished()

    @property
    def untrusted(self) -> str | None:
        """Why the figures cannot be trusted, None where nothing speaks against them."""
        return None if self.lookout is None else self.lookout.untrusted

    def plugin_failed(self, behaviour: str, error: Exception) -> None:
        """A behaviour raised; the run goes on without that agent, and ends with status 2."""
        self.plugin_faults.append(faults.describe(behaviour, error))

    def _begin(self) -> None:
        self.running = scenario = self.scenario or scenario_of(self.environment)
        self.folder = folder = run_folder.create(self.out, scenario.name)
        self.path = folder.path
        folder.write("scenario.yaml", loader.dump(scenario))
        if self.server is not None and self.server.failure() is not None:
            self.server.stop()  # it died in the run before this one
            self.server = None
        if self.server is None:
            self.server = backend.start(scenario, folder.path, self.say, folder.note)
        self.environment.host = self.server.url  # what the page shows
        self._introduce(scenario, self.server)
        made = self._plan(scenario, self.server, folder)
        self._launch(made, scenario)
        self.lookout = Lookout(scenario, made, self.server, folder.note, self.say, self._open_turns)
        self._started = perf_counter()

    def _watch(self, runner: Runner) -> None:
        """Does what the shape does where there is none: hand-written classes, or the picker's "Default" shape."""
        while not self.is_over():
            gevent.sleep(1.0)
        if getattr(self.environment.parsed_options, "headless", False):
            runner.quit()
        else:
            runner.stop()

    def _introduce(self, scenario: Scenario, server: Backend) -> None:
        """Before the first load of a server that is not ours: who it is, and whether others are using it."""
        attach = scenario.server.attach
        self._headers = {} if attach is None else attach_headers.headers(attach)
        self._model = MODEL if attach is None or attach.model is None else attach.model
        if attach is None:
            return
        self._software, self._is_mlx = manners.software(server.url, attach.model, self._headers)

    def _greet(self, queue_s: float, model: str | None) -> None:
        """The first turn of one token came back; nothing else has been sent yet."""
        if self.server is None or self.running is None or self.running.server.attach is None:
            return
        greeting = manners.Greeting(self._software, self._is_mlx, model, queue_s)
        self.say(manners.line(self.server.url, greeting))
        if (objection := manners.objection(greeting, self._is_shared_ok())) is not None:
            raise ScenarioError(objection)

    def _is_shared_ok(self) -> bool:
        return self.shared_ok or bool(getattr(self.environment.parsed_options, "shared_ok", False))

    def _open_turns(self) -> Sequence[OpenLook]:
        if self.swarm is not None:
            return self.swarm.looks()
        return [] if self.receiver is None else self.receiver.looks()

    def _plan(self, scenario: Scenario, server: Backend, folder: RunFolder) -> RunPlan:
        runner = self.environment.runner
        nonce = "" if scenario.cache == "warm" else preambles.nonce(SystemRandom())
        self.say("measuring what our text costs in the server's tokens")
        measured = self._measured(server, nonce, folder)
        workers = len(runner.clients) if isinstance(runner, MasterRunner) else 1
        return RunPlan(
            folder.path.name,
            loader.dump(scenario),
            server.url,
            measured,
            model=self._model,
            epoch=server.epoch,
            workers=workers,
            headers=self._headers,
        )

    def _measured(self, server: Backend, nonce: str, folder: RunFolder) -> Calibration:
        profiles = profiles_of(self.environment.user_classes)
        measured = calibration.measure(
            resolve(server.url), self._model, profiles, nonce, folder.note, self._headers, self._greet
        )
        if not measured.measured:
            self.say("the server reports no token counts: sizes are a guess of 4 characters a token")
        return measured

    def _launch(self, made: RunPlan, scenario: Scenario) -> None:
        runner = self.environment.runner
        options = self.environment.parsed_options
        if isinstance(runner, MasterRunner) and self.receiver is not None and options is not None:
            self.receiver.start(made.run)
            options.agents_plan = plan.to_text(made)
        else:
            self.swarm = Swarm(made, scenario, self.environment, self.take)

    # while it runs

    def take(self, record: TurnRecord) -> None:
        """A turn of this process ended."""
        self._keep(record)
        if self.folder is not None:
            self.folder.turn(record)

    def take_line(self, line: str) -> None:
        """A turn of a worker ended; its line is kept as the worker wrote it."""
        record = records.from_line(line)
        self._keep(record)
        if self.folder is not None:
            self.folder.turn_line(line)
        self._hooks.turn.fire(record=record)

    def _keep(self, record: TurnRecord) -> None:
        self.records.append(record)
        if self.lookout is not None:
            self.lookout.ended(record)

    def _in_trouble(self, trouble: ClusterError) -> bool:
        """Open turns end as what they are. True where the run is over; False where the server was started again."""
        began_s = self._elapsed_s()
        gevent.sleep(_LAST_BYTES_S)  # a dead server's connections say so themselves
        self._tell_agents({"why": str(trouble)})
        try:
            why_not = self._start_again(trouble, began_s)
        except ClusterError as error:
            trouble, why_not = error, f"after {trouble}"
        if why_not is None:
            return False
        self.fail(ClusterError(restart.with_refusal(str(trouble), why_not), trouble.log_tail))
        self.drain()
        return True

    def _start_again(self, trouble: ClusterError, began_s: float) -> str | None:
        """Starts the server again, on the same port; or says why not, in no words where nobody asked for it."""
        scenario, server, folder = self.running, self.server, self.folder
        if scenario is None or server is None or folder is None or scenario.server.on_failure == "stop":
            return ""
        unsure = tuple(server.stop())
        answered = sum(record.epoch == server.epoch and record.first_token_s is not None for record in self.records)
        is_ours, is_over = scenario.server.launch is not None, self._drained is not None
        failure = restart.Failure("restart", is_ours, len(self.gaps), answered, unsure, is_over)
        if (why_not := restart.refusal(failure)) is not None:
            return why_not
        self.say(f"{trouble}; starting it again")
        restart.shelve(folder.path, server.epoch)
        keys = scenario.server.model_copy(update={"port": urlsplit(server.url).port})
        again = scenario.model_copy(update={"server": keys})
        self.server = backend.start(again, folder.path, self.say, folder.note, server.epoch + 1)
        gap = restart.Gap(self.server.epoch, began_s, self._elapsed_s() - began_s, str(trouble))
        self.gaps.append(gap)
        folder.note("gap", dataclasses.asdict(gap))
        if self.lookout is not None:
            self.lookout.restarted(self.server)
        self._tell_agents({"epoch": self.server.epoch})
        return None

    def _tell_agents(self, words: Mapping[str, Any]) -> None:
        if self.swarm is None:
            if self.receiver is not None and self.environment.runner is not None:
                self.environment.runner.send_message(relay.HOLD, dict(words))
        elif "why" in words:
            self.swarm.give_up(words["why"])
        else:
            self.swarm.go_on(words["epoch"])

    def _elapsed_s(self) -> float:
        return perf_counter() - (self._started or 0.0)

    def is_over(self) -> bool:
        """Asked by the shape once a second: watches the server, starts the drain in time, sees when all is done."""
        if self.error is not None:
            return True
        if self._started is None or self.running is None:
            return False
        if self.lookout is not None and (trouble := self.lookout.look()) is not None:
            return self._in_trouble(trouble)
        if self._drained is None and self._elapsed_s() >= self.duration_s():
            self.drain()
        late = self._drained is not None and perf_counter() - self._drained >= self.running.drain_s
        return late or self._is_idle()

    def duration_s(self) -> float:
        """The scenario's duration, or Locust's own `-t` where that is given; infinite without either."""
        options = self.environment.parsed_options
        run_time = getattr(options, "run_time", None) if options is not None else None
        wanted = run_time or (self.running.duration_s if self.running is not None else None)
        return float(wanted) if wanted else float("inf")

    def drain(self, cut: bool = False) -> None:
        """No turn starts any more; those that are open go on, or are ended now with `cut`."""
        self._drained = self._drained or perf_counter()
        if self.swarm is not None:
            self.swarm.drain(cut)
        elif self.receiver is not None and self.environment.runner is not None:
            self.environment.runner.send_message(relay.DRAIN, {"cut": cut})

    def fail(self, error: LocustAgentsError | OSError) -> None:
        """Keeps the first error; it decides the exit status."""
        self.error = self.error or error
        if self.folder is not None:
            self.folder.note("error", {"what": str(error)})
        _log.error("%s", error)

    def _is_idle(self) -> bool:
        if self.swarm is not None:
            # Slots that are still to be spawned have not said what they want.
            is_spawning = self.environment.runner is not None and self.environment.runner.state != STATE_RUNNING
            return self.swarm.is_idle and not is_spawning
        return self.receiver is not None and self.receiver.all_idle()

    # ending

    def end(self) -> None:
        """Users have been stopped: collects what workers still hold, and writes the summary."""
        if self.receiver is not None and self.swarm is None and self._started is not None:
            self.drain(cut=True)
            with gevent.Timeout(_LAST_RECORDS_S, False):
                while not self.receiver.all_idle():
                    gevent.sleep(0.05)
        if self.swarm is not None:
            self.swarm.close()
        if self.lookout is not None:
            self.lookout.close()
        if self.folder is not None and self.running is not None:
            self.summary = summary.summarise(self.records, self.running.limits)
            self.folder.write("summary.json", json.dumps(self.as_json(), indent=1))
        self.environment.process_exit_code = self.exit_status()

    def quit(self) -> None:
        """Ends the server, if it is ours; says what could not be made sure of."""
        if self.server is not None:
            for sentence in self.server.stop():
                self.say(sentence)
            self.server = None
        if self.folder is not None:
            self.folder.close()
            self.folder = None

    def exit_status(self) -> int:
        """As the contract has it: 130, 3, 2, 4, 1, the first that holds."""
        of_error = getattr(self.error, "exit_status", 3) if self.error is not None else 0
        of_records = verdict.exit_status(self.records, self.summary.judgements if self.summary else ())
        of_workers = any(self.receiver.faults.values()) if self.receiver is not None else False
        of_plugin = 2 if self.plugin_faults or of_workers else 0
        earned = {
            4 if self.untrusted else 0,
            130 if self.interrupted else 0,
            of_error,
            of_plugin,
            of_records if not of_error else 0,
        }
        return next((status for status in (130, 3, 2, 4, 1) if status in earned), 0)

    def as_json(self) -> dict[str, Any]:
        """What summary.json holds: how the run ended, then the figures."""
        figures = {} if self.summary is None else dataclasses.asdict(self.summary)
        error = None if self.error is None else str(self.error)
        ended = {"exit_status": self.exit_status(), "error": error, "plugin_faults": self.plugin_faults}
        peaks = None if self.lookout is None else dataclasses.asdict(self.lookout.peaks())
        gaps = [dataclasses.asdict(gap) for gap in self.gaps]
        return ended | {"untrusted": self.untrusted, "gaps": gaps, "vitals": peaks} | figures


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
