"""Decides what one session would send: drives its behaviour with made-up answers, without a network or a clock."""

from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal

from locust_agents.forecast import dry_turns
from locust_agents.forecast.dry_history import History
from locust_agents.forecast.session_plan import START, Load, PlannedTurn, SessionPlan, Terms, Waits, joined
from locust_agents.plugins.api import Agent, Compact, Handle, Join, Pause, Reply, Session, Side, Spawn, Turn

MOST_TURNS = 10_000
# A behaviour that only pauses, or waits for children that only pause, has an end too.
_MOST_STEPS = 20 * MOST_TURNS

Kind = Literal["side", "sub"]


def dry_run(load: Load, agent: Agent, terms: Terms, until_s: float = inf, most_turns: int = MOST_TURNS) -> SessionPlan:
    """The plan of one session; the same for the same agent, terms and behaviour.

    Each answer is whole, with one tool call where the profile has tools; a turn that is to be left is left. What would
    begin after more than `until_s` of pauses is cut off, and so is what comes after `most_turns`.
    """
    rehearsal = _Rehearsal(load, terms, until_s, most_turns)
    try:
        threads = rehearsal.drive(load.behaviour(agent, **load.parameters))
    except (Exception, SystemExit) as error:  # noqa: BLE001 (a plugin may raise anything; a forecast must not end the run)
        words = f"{type(error).__name__}: {error}".split("\n")[0]
        fault = f"behaviour {load.behaviour.name!r} raised on made-up answers: {words}"
        return SessionPlan(tuple(rehearsal.turns), {START: 0.0}, fault=fault)
    is_cut = any(thread.state != "over" for thread in threads)
    return SessionPlan(tuple(rehearsal.turns), joined(thread.waits for thread in threads), is_cut)


@dataclass(eq=False, slots=True)
class _Thread:
    """A session and its place: main (kind None), beside another, or below it. `at_s` counts its pauses alone."""

    session: Session
    kind: Kind | None
    waits: Waits
    at_s: float = 0.0
    last: Reply | None = None
    result: Any = None
    awaited: "Sequence[_Thread]" = ()
    state: Literal["open", "over", "cut"] = "open"
    histories: dict[int, History] = field(default_factory=dict)


class _Rehearsal:
    """Takes a step of each open thread in turn, so that one without an end does not keep the others from theirs."""

    def __init__(self, load: Load, terms: Terms, until_s: float, most_turns: int) -> None:
        self.turns: list[PlannedTurn] = []
        self._load = load
        self._terms = terms
        self._until_s = until_s
        self._most_turns = most_turns
        self._children: list[_Thread] = []

    def drive(self, session: Session) -> list[_Thread]:
        """Runs the session and its children; returns the threads. Raises what they raise."""
        main = _Thread(session, None, {START: 0.0})
        queue = deque([main])
        steps = 0
        while queue and steps < _MOST_STEPS and len(self.turns) < self._most_turns:
            steps += 1
            thread = queue.popleft()
            begun = len(self._children)
            self._advance(thread)
            queue.extend(self._children[begun:])
            if thread.state == "open":
                queue.append(thread)
        for thread in queue:
            thread.session.close()
        return [main, *self._children]

    def _advance(self, thread: _Thread) -> None:
        states = {child.state for child in thread.awaited}
        if "cut" in states or thread.at_s > self._until_s:
            thread.state = "cut"
            thread.session.close()
        elif "open" not in states:
            if thread.awaited:
                _rejoin(thread)
            self._send(thread)

    def _send(self, thread: _Thread) -> None:
        try:
            step = thread.session.send(thread.result)
        except StopIteration:
            thread.state = "over"
            return
        thread.result = self._take(step, thread)

    def _take(self, step: object, thread: _Thread) -> Any:
        match step:
            case Turn():
                return self._turn(step, thread)
            case Pause():
                return self._pause(step, thread)
            case Side():
                return self._start([step.session], "side", thread)[0]
            case Spawn():
                handles = self._start(step.sessions, "sub", thread)
                return self._await(handles, thread) if step.wait else handles
            case Join():
                return self._await(step.handles, thread)
            case Compact():
                return self._compact(step, thread)
        raise TypeError(f"it yielded {step!r}, which is no step")

    def _pause(self, step: Pause, thread: _Thread) -> None:
        gap_s = step.seconds if step.always else self._terms.gap_s(step.seconds)
        thread.at_s += gap_s
        thread.waits = {number: wait_s + gap_s for number, wait_s in thread.waits.items()}

    def _start(self, sessions: Sequence[Session], kind: Kind, parent: _Thread) -> list[Handle]:
        first = len(self._children)
        for session in sessions:
            if not isinstance(session, Generator):
                raise TypeError(f"it started {session!r}, which is no session")
            self._children.append(_Thread(session, kind, parent.waits, parent.at_s))
        return [Handle(number) for number in range(first, len(self._children))]

    def _await(self, handles: Sequence[Handle], thread: _Thread) -> list[Reply | None]:
        thread.awaited = [self._children[handle.number] for handle in handles]
        return []  # what comes of nobody; else `_rejoin` has the replies

    def _turn(self, turn: Turn, thread: _Thread) -> Reply:
        history = self._history(turn.agent, thread)
        if turn.hole is not None:
            made = dry_turns.filled(history, turn, turn.hole, thread.kind or "first", thread.waits)
            return self._planned(made, thread)
        if not turn.is_again and (rule := history.due) is not None:
            self._planned(dry_turns.summarised(history, rule.keep_tokens, rule.summary_tokens, thread.waits), thread)
        kind = thread.kind or ("later" if history.turns else "first")
        return self._planned(dry_turns.spoken(history, turn, kind, thread.waits), thread)

    def _compact(self, step: Compact, thread: _Thread) -> Reply:
        history = self._history(step.agent, thread)
        return self._planned(dry_turns.summarised(history, step.keep_tokens, step.summary_tokens, thread.waits), thread)

    def _planned(self, made: dry_turns.Made, thread: _Thread) -> Reply:
        """Notes a turn; what comes next in its thread waits for it."""
        turn, thread.last = made
        self.turns.append(turn)
        thread.waits = {len(self.turns) - 1: 0.0}
        return thread.last

    def _history(self, agent: Agent, thread: _Thread) -> History:
        found = thread.histories.get(id(agent))
        if found is None:
            found = thread.histories[id(agent)] = History(agent, self._load, self._terms)
        return found


def _rejoin(thread: _Thread) -> None:
    """The children that a thread waited for have ended."""
    children, thread.awaited = thread.awaited, ()
    thread.result = [child.last for child in children]
    thread.waits = joined([thread.waits, *(child.waits for child in children)])
    thread.at_s = max(thread.at_s, *(child.at_s for child in children))
