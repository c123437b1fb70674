"""What all agents of one process share during one run: the plan, the clock, who may start, and who is waiting."""

import dataclasses
import gc
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import gevent
from locust.env import Environment

from locust_agents import plan as plans
from locust_agents import preambles
from locust_agents.cluster import watch_turns
from locust_agents.cluster.watch_look import OpenLook
from locust_agents.conversation import Preamble
from locust_agents.expected import Prefixes
from locust_agents.locustfiles.events import ensure_hooks
from locust_agents.locustfiles.loop_lag import LoopLag
from locust_agents.locustfiles.transport import Exchange, Target, resolve
from locust_agents.outcome import Outcome
from locust_agents.plan import RunPlan
from locust_agents.profile import Profile
from locust_agents.records import TurnRecord
from locust_agents.scenarios.model import Scenario
from locust_agents.sizing import Sizer

Sink = Callable[[TurnRecord], None]


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """A turn that is under way; `exchange` changes as its bytes come."""

    agent: str
    entry: str
    kind: str
    turn: int
    exchange: Exchange
    greenlet: gevent.Greenlet
    session: str = ""
    unusual: tuple[str, ...] = ()

    def look(self) -> OpenLook:
        """As the watch sees it."""
        exchange = self.exchange
        sent_s = None if exchange.sent_s is None else exchange.started + exchange.sent_s
        who = OpenLook(self.agent, self.session, self.turn, self.kind, exchange.started, sent_s, unusual=self.unusual)
        return watch_turns.open_look(who, exchange.headers_s, exchange.answer)


class Swarm:
    """One process's part of a run. Agents ask it before they start a turn and tell it when one has ended."""

    def __init__(self, plan: RunPlan, scenario: Scenario, environment: Environment, sink: Sink, worker: int = 0):
        self.plan = plan
        self.scenario = scenario
        self.environment = environment
        self.worker = worker
        self.started = perf_counter()
        self.target: Target = resolve(plan.base_url)
        self.sizer = Sizer(plan.calibration)
        self.prefixes = Prefixes()
        self.lag = LoopLag()
        self.open: dict[int, OpenTurn] = {}
        self.is_draining = False
        self.is_held = False
        self._sink = sink
        self._turns_left = plans.share(scenario.turns, plan.workers, worker)
        self._agents: Counter[str] = Counter()
        self._under_way = 0
        self._starting: Counter[float] = Counter()
        self._slots = 0
        self.finished_slots = 0
        self._preambles: dict[str, Preamble] = {}
        self.hooks = ensure_hooks(environment.events)
        # All that was imported stays for good; looking through it again would stop every stream for some 50 ms.
        gc.collect()
        gc.freeze()

    def elapsed_s(self) -> float:
        """Seconds since the load began."""
        return perf_counter() - self.started

    def enrol(self, entry: str, after_s: float) -> tuple[int, int]:
        """A new slot: its number within the entry, and its place among all that come in `after_s` into the run.

        Both are counted over all workers.
        """
        number = self._agents[entry] * self.plan.workers + self.worker
        place = self._starting[after_s] * self.plan.workers + self.worker
        self._agents[entry] += 1
        self._starting[after_s] += 1
        self._slots += 1
        return number, place

    def take_turn(self) -> bool:
        """Whether one more turn may start now; it counts as taken."""
        if self.is_draining or self.is_held or self._turns_left == 0:
            return False
        if self._turns_left is not None:
            self._turns_left -= 1
        self._under_way += 1
        return True

    def turn_over(self) -> None:
        """A turn that was taken has had its last attempt."""
        self._under_way -= 1

    def opened(self, turn: OpenTurn) -> None:
        """An attempt is on its way."""
        self.open[id(turn.exchange)] = turn

    def ended(self, exchange: Exchange, record: TurnRecord) -> None:
        """An attempt has ended: its one record goes to the run's folder and to whoever listens."""
        self.open.pop(id(exchange), None)
        self._sink(record)
        self.hooks.turn.fire(record=record)

    def preamble(self, profile: Profile, scale: float) -> Preamble:
        """The start that all agents of a profile share: one object, so that their memory is shared too."""
        key = preambles.key(profile, scale)
        if key not in self._preambles:
            self._preambles[key] = preambles.calibrated(profile, self.plan.model, scale, self.plan.calibration)
        return self._preambles[key]

    def drain(self, cut: bool = False) -> None:
        """No turn starts any more; with `cut` those that are open end here, each with its record."""
        self.is_draining = True
        for turn in list(self.open.values()) if cut else ():
            turn.greenlet.kill(block=False)

    @property
    def agents(self) -> int:
        """Slots of this process."""
        return self._slots

    def looks(self) -> list[OpenLook]:
        """The turns that are open, as the watch sees them."""
        return [turn.look() for turn in self.open.values()]

    def give_up(self, why: str) -> None:
        """The server hangs or is gone: every open turn ends now, as one that waited in vain; none starts."""
        self.is_held = True
        for turn in list(self.open.values()):
            has_token = turn.exchange.answer.first_token_s is not None
            outcome = Outcome.STALLED if has_token else Outcome.FIRST_TOKEN_TIMEOUT
            turn.exchange.give_up(outcome, why)

    def go_on(self, epoch: int) -> None:
        """Another start of the server is up; its cache is empty."""
        self.plan = dataclasses.replace(self.plan, epoch=epoch)
        self.prefixes = Prefixes()
        self.is_held = False

    def slot_finished(self) -> None:
        """A slot has nothing more to do in this run."""
        self.finished_slots += 1

    @property
    def is_idle(self) -> bool:
        """No turn is open or about to be asked again, and none will be: draining, out of turns, or all slots done."""
        if self._under_way:
            return False
        return self.is_draining or self._turns_left == 0 or 0 < self._slots <= self.finished_slots

    def close(self) -> None:
        """Ends what runs beside the agents."""
        self.lag.stop()
