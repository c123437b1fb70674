"""Decides when each planned turn of a run would start and end, on a server that reads one prompt after another."""

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from locust_agents import session_seed
from locust_agents.forecast import stage_windows
from locust_agents.forecast.dry_run import MOST_TURNS, dry_run
from locust_agents.forecast.prefill_curve import Speed
from locust_agents.forecast.session_plan import START, Bounds, Load, PlannedTurn, Terms
from locust_agents.forecast.timetable_slots import Slot, line_of
from locust_agents.plugins.api import Agent
from locust_agents.prompts import preambles

# What a slot rests after a session without a turn; it keeps such sessions from following each other for ever.
_EMPTY_SESSION_S = 1.0


@dataclass(frozen=True, slots=True)
class TimedTurn:
    """A turn, what the server's cache holds of its prompt when it keeps everything, and when the turn is open."""

    entry: str
    turn: PlannedTurn
    cached_tokens: int
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Timetable:
    """The turns in the order in which they start. `by_time` where the duration ends the run, not its turns or sessions.

    `is_cut` where the run goes on after the last turn here; `faults` has a line for each behaviour that raised.
    """

    turns: tuple[TimedTurn, ...]
    seconds: float
    agents: int
    by_time: bool
    is_cut: bool
    faults: tuple[str, ...]


def timetable(
    loads: Sequence[Load], terms: Terms, bounds: Bounds, speed: Speed, most_turns: int = MOST_TURNS
) -> Timetable:
    """Plays the run with a clock of its own; the same for the same arguments.

    Prompts queue for the whole server, answers do not: decoding is as fast with many as with one. Who waits longer than
    a client would is not given up. A stage that cuts a turn ends its time; the session goes on as if it was answered.
    """
    play = _Play(loads, terms, bounds, speed, most_turns)
    play.run()
    return play.table()


class _Play:
    """What happens next is on a heap: (second, order, slot, number of a turn, or START for the next session)."""

    def __init__(self, loads: Sequence[Load], terms: Terms, bounds: Bounds, speed: Speed, most_turns: int) -> None:
        self._terms = terms
        self._bounds = bounds
        self._speed = speed
        self._duration_s = _duration_s(bounds)
        self._most_turns = most_turns if bounds.turns is None else min(most_turns, bounds.turns)
        self._events: list[tuple[float, int, Slot, int]] = []
        self._serial = 0
        self._turns: list[TimedTurn] = []
        self._server_free_s = 0.0
        self._shared_s: dict[str, float] = {}
        self._faults: dict[str, None] = {}
        self._by_time = False
        self._is_cut = False
        self._last_s = 0.0
        self._agents = 0
        self._enrol(loads)

    def run(self) -> None:
        """Until nobody has anything to do, or a bound is met."""
        while self._events and len(self._turns) < self._most_turns:
            at_s, _, slot, number = heapq.heappop(self._events)
            if at_s >= self._duration_s:
                self._by_time = True
                return
            if number == START:
                self._start(slot, at_s)
            else:
                self._turn(slot, number, at_s)

    def table(self) -> Timetable:
        """What came of it."""
        ended_s = max(self._last_s, self._duration_s) if self._by_time else self._last_s
        is_full = len(self._turns) >= self._most_turns and self._most_turns != self._bounds.turns
        return Timetable(
            turns=tuple(self._turns),
            seconds=min(ended_s, self._duration_s + self._bounds.drain_s),
            agents=self._agents,
            by_time=self._by_time,
            is_cut=is_full or self._is_cut,
            faults=tuple(self._faults),
        )

    def _enrol(self, loads: Sequence[Load]) -> None:
        """Slots that may start at the same second come one by one, as the agents of a run do."""
        starting: Counter[float] = Counter()
        plan, apart_s = self._bounds.stages, self._bounds.apart_s
        for load in loads:
            line = line_of(load, self._terms.seed)
            for number in range(load.agents):
                windows = None if plan is None else stage_windows.windows(plan, load.entry, number)
                place = starting[load.after_s] if plan is None else 0  # else the stages let them in one by one
                self._put(load.after_s + place * apart_s, Slot(load, number, line, windows), START)
                starting[load.after_s] += 1
                self._agents += 1

    def _put(self, at_s: float, slot: Slot, number: int) -> None:
        self._serial += 1
        heapq.heappush(self._events, (at_s, self._serial, slot, number))

    def _start(self, slot: Slot, at_s: float) -> None:
        """The next session, at once in a closed loop; else with the next that is due while the agent is let in."""
        line = slot.line
        if line is None:
            self._begin(slot, at_s)
            return
        if line.called is slot:
            line.called = None
        if not self._is_parked(slot, START, at_s):
            if line.take(at_s):
                self._begin(slot, at_s)
            else:
                line.free.append(slot)
        if line.called is None and line.free:
            line.called = line.free.popleft()
            self._put(max(at_s, line.next_s), line.called, START)

    def _is_parked(self, slot: Slot, number: int, at_s: float) -> bool:
        """Whether the stages do not let the agent start now; it is put off until they do, or for ever."""
        opens_s = at_s if slot.windows is None else stage_windows.opens_s(slot.windows, at_s)
        if opens_s == at_s:
            return False
        if opens_s is None:
            self._by_time = True
        else:
            self._put(opens_s, slot, number)
        return True

    def _begin(self, slot: Slot, at_s: float) -> None:
        left = self._most_turns - len(self._turns)
        plan = dry_run(slot.load, self._agent(slot), slot.load.of(self._terms), self._duration_s - at_s, left)
        if plan.fault is not None:
            self._faults[plan.fault] = None
        slot.plan, slot.ends = plan, {START: at_s}
        slot.missing = [len(turn.waits) for turn in plan.turns]
        slot.followers = {}
        for number, turn in enumerate(plan.turns):
            for earlier in turn.waits:
                slot.followers.setdefault(earlier, []).append(number)
        self._ended(slot, START)

    def _agent(self, slot: Slot) -> Agent:
        """The very agent of the run, so that what it draws is what it will draw."""
        profile, name = slot.load.profile, f"{slot.load.entry}/0.{slot.number}"
        return Agent(
            name,
            f"{name}#{slot.done}",
            session_seed.of(self._terms.seed, slot.load.drawn_as, slot.number, slot.done),
            preamble_tokens=float(preambles.wanted_tokens(profile)),
            profile=profile,
        )

    def _turn(self, slot: Slot, number: int, at_s: float) -> None:
        if self._is_parked(slot, number, at_s):
            return
        turn = slot.plan.turns[number]
        cached = turn.kept_tokens
        if cached is None:
            cached = turn.shared_tokens if self._shared_s.get(turn.shared, inf) < at_s else 0
        cached = min(cached, turn.prompt_tokens - 1)
        self._server_free_s = read_s = max(at_s, self._server_free_s) + self._prefill_s(turn, cached)
        self._shared_s.setdefault(turn.shared, read_s)
        end_s = read_s + turn.answer_tokens / (self._speed.decode_tok_s or inf)
        if turn.leaves_after_s is not None:
            end_s = min(end_s, at_s + turn.leaves_after_s)
        if self._bounds.stages is not None:
            end_s = min(end_s, stage_windows.cut_s(self._bounds.stages, slot.load.entry, slot.number, at_s))
        self._turns.append(TimedTurn(slot.load.entry, turn, cached, at_s, end_s))
        slot.ends[number] = end_s
        self._last_s = max(self._last_s, end_s)
        self._ended(slot, number)

    def _prefill_s(self, turn: PlannedTurn, cached: int) -> float:
        curve = self._speed.prefill
        return 0.0 if curve is None else curve.seconds(cached, turn.prompt_tokens - cached)

    def _ended(self, slot: Slot, number: int) -> None:
        """Starts what waited for this turn alone, or ends the session."""
        for follower in slot.followers.get(number, ()):
            slot.missing[follower] -= 1
            if slot.missing[follower] == 0:
                self._put(slot.ready_s(slot.plan.turns[follower].waits), slot, follower)
        if len(slot.ends) > len(slot.plan.turns):  # the start is one of them
            self._session_over(slot)

    def _session_over(self, slot: Slot) -> None:
        plan = slot.plan
        slot.done += 1
        if plan.fault is not None:
            return
        if plan.is_cut and len(self._turns) < self._most_turns:
            self._by_time = self._by_time or self._duration_s < inf
            self._is_cut = self._is_cut or self._duration_s == inf
        if plan.is_cut:
            return
        over_s = slot.ready_s(plan.ends) + (0.0 if plan.turns else _EMPTY_SESSION_S)
        if slot.done == self._bounds.sessions:
            self._last_s = max(self._last_s, over_s)  # a slot rests to the end of its session
        else:
            self._put(over_s, slot, START)


def _duration_s(bounds: Bounds) -> float:
    """Until no turn starts any more."""
    if bounds.duration_s is not None:
        return bounds.duration_s
    return inf if bounds.stages is None else bounds.stages.ends_s[-1]
