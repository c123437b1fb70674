"""What all agents of one process share during one run: the plan, the clock, who may start, and who is waiting."""

import dataclasses
import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter

import gevent
from locust.env import Environment

from locust_agents import arrival, stages
from locust_agents.arrival import Clock
from locust_agents.cluster.watch import turns as watch_turns
from locust_agents.cluster.watch.look import OpenLook
from locust_agents.locustfiles.client_cpu import ClientCpu
from locust_agents.locustfiles.events import ensure_hooks
from locust_agents.locustfiles.loop_lag import LoopLag
from locust_agents.locustfiles.seating import Slots
from locust_agents.locustfiles.transport import Exchange, Target, resolve
from locust_agents.misses.expected import Prefixes
from locust_agents.outcome import Outcome
from locust_agents.plan import RunPlan
from locust_agents.profile import Profile
from locust_agents.prompts import preambles
from locust_agents.prompts.conversation import Preamble
from locust_agents.prompts.sizing import Sizer
from locust_agents.records import TurnRecord
from locust_agents.right.canary_asking import asking_of
from locust_agents.scenarios.model import Scenario
from locust_agents.seats import Seat, Seats
from locust_agents.stages import Plan

Sink = Callable[[TurnRecord], TurnRecord | None]
"""Keeps a record; the one that it gives back knows more."""
# The clock of a worker is set by the master's first answer, while others may wait on it already.
_LOOK_S = 0.2


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

    def __init__(
        self,
        plan: RunPlan,
        scenario: Scenario,
        environment: Environment,
        sink: Sink,
        worker: int = 0,
        ask: Callable[[], None] | None = None,
    ) -> None:
        self.plan = plan
        self.scenario = scenario
        self.environment = environment
        self.worker = worker
        self.started = perf_counter()
        self.target: Target = resolve(plan.base_url)
        self.sizer = Sizer(plan.calibration)
        self.prefixes = Prefixes()
        self.lag = LoopLag()
        self.cpu = ClientCpu()
        self.open: dict[int, OpenTurn] = {}
        self.opened_ever = 0
        self.is_draining = False
        self.is_held = False
        self.asking = asking_of(plan, scenario)
        self._sink = sink
        self.stages = Plan.of(scenario)
        self.slots = Slots()
        self.seats = Seats()
        self.turns_started = 0
        self._ask = ask or self._seat_all
        self._turns_granted = scenario.turns if ask is None or scenario.turns is None else 0
        self._more_turns = ask is not None and scenario.turns is not None
        self._has_clock = ask is None
        self._under_way = 0
        self._clocks: dict[str, Clock] = {}
        self._retiring = None if self.stages is None or not self.stages.cuts else gevent.spawn(self._retire_in_time)
        self._preambles: dict[str, Preamble] = {}
        self.hooks = ensure_hooks(environment.events)
        # All that was imported stays for good; looking through it again would stop every stream for some 50 ms.
        gc.collect()
        gc.freeze()

    def elapsed_s(self) -> float:
        """Seconds since the load began."""
        return perf_counter() - self.started

    def enrol(self, entry: str, after_s: float) -> int:
        """A new slot of an entry that starts `after_s` into the run; who it is, `slots.seat` knows, if not at once."""
        slot = self.slots.enrol(entry, after_s)
        self._ask()
        return slot

    def leave(self, slot: int) -> None:
        """A slot is no more."""
        self.slots.leave(slot)
        self._ask()

    def seated(
        self, seats: Mapping[int, Seat], turns: int | None = None, more: bool = False, elapsed_s: float | None = None
    ) -> None:
        """The master has answered: who the slots are, how many turns may start here in all, and the run's clock."""
        if elapsed_s is not None and not self._has_clock:
            self.started, self._has_clock = perf_counter() - elapsed_s, True
        if turns is not None:
            self._turns_granted, self._more_turns = turns, more
        self.slots.seated(seats)

    @property
    def is_asking(self) -> bool:
        """Something is open that the master must say."""
        return not self.slots.are_seated or (self._more_turns and self._turns_left == 0)

    def may_start(self, agent: str) -> bool:
        """Whether the plan has this agent now."""
        return self.stages is None or self.stages.may_start(*stages.numbered(agent), self.elapsed_s())

    def take_turn(self, agent: str = "") -> bool:
        """Whether one more turn of this agent may start now; it counts as taken."""
        if self.is_draining or self.is_held or not self.may_start(agent):
            return False
        left = self._turns_left
        if left is not None and left <= len(self.slots) and self._more_turns:
            self._ask()
        if left == 0:
            return False
        self.turns_started += 1
        self._under_way += 1
        return True

    def clock(self, entry: str) -> Clock | None:
        """What makes the sessions of an entry due, in seconds after it starts; None in a closed loop."""
        found = self.scenario.arrival_of(entry) if entry in self.scenario.swarm else None
        if found is None:
            return None
        if entry not in self._clocks:
            due = arrival.due_times(found, arrival.seed_of(self.scenario.seed, self.scenario.drawn_as(entry)))
            self._clocks[entry] = Clock(
                due, lambda due_s: self._agents_at(entry, due_s), lambda number: self.slots.has(entry, number)
            )
        return self._clocks[entry]

    def _agents_at(self, entry: str, due_s: float) -> int:
        """Whom the plan has, so many seconds after the entry starts; where that is nobody, those who will come wait."""
        found = self.scenario.swarm[entry]
        planned = 0 if self.stages is None else self.stages.wanted(entry, found.after_s + due_s)
        return planned or found.agents

    def take_check(self, agent: str) -> bool:
        """Whether this agent may be asked beside its turns now; it is under way then, and none of `turns:`."""
        if self.is_draining or self.is_held or not self.may_start(agent):
            return False
        self._under_way += 1
        return True

    def turn_over(self) -> None:
        """A turn that was taken has had its last attempt."""
        self._under_way -= 1

    def opened(self, turn: OpenTurn) -> None:
        """An attempt is on its way."""
        self.opened_ever += 1
        self.open[id(turn.exchange)] = turn

    def ended(self, exchange: Exchange, record: TurnRecord) -> TurnRecord:
        """An attempt has ended: its one record, as it is kept, goes to the run's folder and to whoever listens."""
        if self.open.pop(id(exchange), None) is None:
            self.opened_ever += 1  # it was never on its way, and has its record all the same
        record = self._sink(record) or record
        self.hooks.turn.fire(record=record)
        return record

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

    def must_end(self, agent: str) -> bool:
        """Whether the plan lets this agent not even finish its turn."""
        if self.stages is None or not self.stages.cuts:
            return False
        return self.stages.must_go(*stages.numbered(agent), self.elapsed_s())

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

    @property
    def is_idle(self) -> bool:
        """No turn is open or about to be asked again, and none will be: draining, out of turns, or all slots done."""
        if self._under_way:
            return False
        is_out = self._turns_left == 0 and not self._more_turns
        return self.is_draining or is_out or self.slots.are_finished

    def close(self) -> None:
        """Ends what runs beside the agents."""
        self.lag.stop()
        self.cpu.stop()
        if self._retiring is not None:
            self._retiring.kill(block=False)

    @property
    def _turns_left(self) -> int | None:
        return None if self._turns_granted is None else self._turns_granted - self.turns_started

    def _seat_all(self) -> None:
        """Where there is no master, all seats are here."""
        self.slots.seated(self.seats.tell("", self.slots.wishes))

    def _retire_in_time(self) -> None:
        """Ends the turns of agents that must go, as each stage ends; at the end of all it is the drain that does."""
        assert self.stages is not None
        for end_s in self.stages.ends_s[:-1]:
            while (left_s := end_s - self.elapsed_s()) > 0:
                gevent.sleep(min(left_s, _LOOK_S))
            for turn in list(self.open.values()):
                if self.must_end(turn.agent):
                    turn.exchange.give_up(Outcome.CUT, "the plan had this agent no more")
