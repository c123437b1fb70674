"""Runs a behaviour: does what it yields, sends back what came of it, keeps its children as greenlets of the slot."""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import gevent
from gevent import Greenlet, GreenletExit

from locust_agents.cluster import watch_turns
from locust_agents.dialogue import Dialogue, Style
from locust_agents.errors import PluginError
from locust_agents.locustfiles import attempt
from locust_agents.locustfiles.attempt import Attempt, Identity, Result
from locust_agents.locustfiles.swarm import Swarm
from locust_agents.outcome import Outcome
from locust_agents.patience import Leave, Patience, Timeouts
from locust_agents.plugins.api import Agent, Compact, Handle, Join, Pause, Reply, Say, Session, Side, Spawn, Turn

# What a client retries: the connection failed, so the server may never have seen the request.
_RETRIED = (Outcome.REFUSED, Outcome.RESET, Outcome.CONNECT_TIMEOUT)
# A parked slot looks this often whether it is to leave.
_PARKED_S = 0.2

SUMMARY_REQUEST = "Summarise this work: the goal, what was found, what was changed, what is left."


@dataclass(frozen=True, slots=True)
class Manner:
    """How one entry's agents act: what a scenario, or a hand-written class, sets."""

    entry: str
    behaviour: str
    style: Style
    timeouts: Timeouts
    gap_scale: float = 1.0
    gap_cap_s: float | None = None

    def gap_s(self, seconds: float) -> float:
        """A pause as this run makes it."""
        scaled = seconds * self.gap_scale
        return scaled if self.gap_cap_s is None else min(scaled, self.gap_cap_s)


class Leaves(Exception):
    """The slot was asked to go, and no turn is open: the session ends here."""


@dataclass(slots=True)
class _Thread:
    """A session and its place: main, beside another, or below it."""

    kind: str | None
    intended: float
    last: Reply | None = None
    dialogues: dict[int, Dialogue] = field(default_factory=dict)


class Driver:
    """Drives the sessions of one slot. `must_leave` is asked before each step, so that a stop is not overslept."""

    def __init__(self, swarm: Swarm, manner: Manner, must_leave: Callable[[], bool]) -> None:
        self._swarm = swarm
        self._manner = manner
        self._must_leave = must_leave
        self._children: list[Greenlet] = []
        self._fault: Exception | None = None

    def run(self, session: Session) -> Reply | None:
        """Runs one session to its end, and waits for its children. Raises Leaves, PluginError, and what it raised.

        Where it does not end by itself, its children end with it.
        """
        try:
            reply = self._drive(session, _Thread(None, perf_counter()))
            gevent.joinall(self._children)
            if self._fault is not None:
                raise self._fault
            return reply
        finally:
            gevent.killall(self._children, block=False)
            self._children = []

    def _drive(self, session: Session, thread: _Thread) -> Reply | None:
        result: Any = None
        while True:
            try:
                step = session.send(result)
            except StopIteration:
                return thread.last
            if self._fault is not None:
                raise self._fault
            if self._must_leave():
                raise Leaves
            result = self._take(step, thread)

    def _take(self, step: object, thread: _Thread) -> Any:
        match step:
            case Turn():
                thread.last = self._turn(step, thread, thread.kind)
                return thread.last
            case Pause():
                return self._pause(step.seconds, thread)
            case Side():
                return self._start([step.session], "side")[0]
            case Spawn():
                handles = self._start(step.sessions, "sub")
                return self._join(handles, thread) if step.wait else handles
            case Join():
                return self._join(step.handles, thread)
            case Compact():
                return self._compact(step, thread)
        raise PluginError(f"behaviour {self._manner.behaviour!r} yielded {step!r}, which is no step")

    def _pause(self, seconds: float, thread: _Thread) -> None:
        thread.intended = perf_counter() + self._manner.gap_s(seconds)
        while (left_s := thread.intended - perf_counter()) > 0:
            if self._must_leave():
                raise Leaves
            gevent.sleep(min(left_s, _PARKED_S))

    def _start(self, sessions: Iterable[Session], kind: str) -> list[Handle]:
        handles = []
        for session in sessions:
            if not isinstance(session, Generator):
                raise PluginError(f"behaviour {self._manner.behaviour!r} started {session!r}, which is no session")
            child = _Thread(kind, perf_counter())
            self._children.append(gevent.spawn(self._child, session, child))
            handles.append(Handle(len(self._children) - 1))
        return handles

    def _child(self, session: Session, thread: _Thread) -> Reply | None:
        try:
            return self._drive(session, thread)
        except Leaves:
            return thread.last
        except Exception as error:  # noqa: BLE001 (a plugin may raise anything)
            self._fault = error  # the session that started it raises it at its next step
            return thread.last

    def _join(self, handles: Sequence[Handle], thread: _Thread) -> list[Reply | None]:
        greenlets = [self._children[handle.number] for handle in handles]
        gevent.joinall(greenlets)
        thread.intended = perf_counter()  # what was waited for was no lateness of the client
        replies = [greenlet.get() for greenlet in greenlets]
        if any(isinstance(reply, GreenletExit) for reply in replies):
            raise Leaves  # the run ended in a child's turn: its record says so, and there is no reply to go on from
        return replies

    def _compact(self, step: Compact, thread: _Thread) -> Reply:
        request = Turn(step.agent, (Say(SUMMARY_REQUEST),), answer_tokens=step.summary_tokens)
        reply = self._turn(request, thread, "compaction")
        dialogue = self._dialogue(step.agent, thread)
        if reply.ok:
            dialogue.compacted(step.keep_tokens, dialogue.summary(reply.text, step.summary_tokens))
        else:
            dialogue.unasked()
        return reply

    def _turn(self, turn: Turn, thread: _Thread, kind: str | None) -> Reply:
        self._wait_for_leave_to_start(thread)
        dialogue = self._dialogue(turn.agent, thread)
        kind = kind or ("later" if dialogue.turns else "first")
        dialogue.say(turn.says)
        body = dialogue.body(dialogue.max_tokens(turn.answer_tokens))
        try:
            result = self._attempts(dialogue, self._identity(turn.agent, kind), body, turn.patience, thread)
        finally:
            self._swarm.turn_over()
        thread.intended = perf_counter()
        return dialogue.hear(result.exchange.answer, result.outcome, result.first_token_s)

    def _attempts(self, dialogue: Dialogue, identity: Identity, body: bytes, leave: Leave, thread: _Thread) -> Result:
        profile = self._manner.style.profile
        own = {name: text.format(session=identity.session) for name, text in profile.headers.items()}
        headers = {**own, **self._swarm.plan.headers}
        patience = Patience(self._manner.timeouts, profile.comments_reset, leave)
        unusual = watch_turns.unusual_fields(profile.parameters, self._swarm.plan.model)
        for number, wait_s in enumerate((*profile.retry_waits_s, None), start=1):
            late_s = max(0.0, perf_counter() - thread.intended)
            result = attempt.run(
                self._swarm, dialogue, Attempt(identity, number, late_s, body, headers, patience, unusual)
            )
            if wait_s is None or not self._is_retried(result):
                break
            thread.intended = perf_counter() + wait_s
            if not self._waited(wait_s):
                break
        return result

    def _waited(self, wait_s: float) -> bool:
        """Waits before the next attempt; False as soon as there will be none."""
        until = perf_counter() + wait_s
        while (left_s := until - perf_counter()) > 0:
            if self._swarm.is_draining or self._must_leave():
                return False
            gevent.sleep(min(left_s, _PARKED_S))
        return True

    def _is_retried(self, result: Result) -> bool:
        may = not (self._swarm.is_draining or self._swarm.is_held or self._must_leave())
        return may and result.outcome in _RETRIED and result.exchange.answer.first_token_s is None

    def _wait_for_leave_to_start(self, thread: _Thread) -> None:
        while not self._swarm.take_turn():
            if self._must_leave():
                raise Leaves
            gevent.sleep(_PARKED_S)
            thread.intended = perf_counter()  # parked by the plan: no lateness of the client

    def _dialogue(self, agent: Agent, thread: _Thread) -> Dialogue:
        found = thread.dialogues.get(id(agent))
        if found is None:
            found = thread.dialogues[id(agent)] = Dialogue(agent, self._manner.style, self._swarm.sizer)
        return found

    def _identity(self, agent: Agent, kind: str) -> Identity:
        manner = self._manner
        profile = manner.style.profile.name
        return Identity(
            manner.entry,
            agent.name,
            manner.behaviour,
            profile,
            agent.session,
            agent.parent,
            kind,
            manner.style.replies,
        )
