"""Runs a behaviour: does what it yields, sends back what came of it, keeps its children as greenlets of the slot."""

from collections.abc import Callable, Generator, Iterable, Sequence
from time import perf_counter
from typing import Any

import gevent
from gevent import Greenlet, GreenletExit

from locust_agents.locustfiles.session_values import Leaves, Manner, Thread
from locust_agents.locustfiles.swarm import Swarm
from locust_agents.locustfiles.turn_taking import PARKED_S, Taker
from locust_agents.plugins import fault_lines
from locust_agents.plugins.api import Compact, Handle, Join, Pause, Reply, Session, Side, Spawn, Turn


class Driver:
    """Drives the sessions of one slot. `must_leave` is asked before each step, so that a stop is not overslept."""

    def __init__(self, swarm: Swarm, manner: Manner, must_leave: Callable[[], bool]) -> None:
        self._manner = manner
        self._must_leave = must_leave
        self._taker = Taker(swarm, manner, must_leave)
        self._children: list[Greenlet] = []
        self._fault: BaseException | None = None

    def run(self, session: Session, due: float | None = None) -> Reply | None:
        """Runs one session to its end, and waits for its children. Raises Leaves, PluginError, and what it raised.

        Where it does not end by itself, its children end with it. It should have begun at `due` (perf_counter), or now.
        """
        try:
            thread = Thread(None, perf_counter() if due is None else due, is_due=due is not None)
            reply = self._drive(session, thread)
            gevent.joinall(self._children)
            if self._fault is not None:
                raise self._fault
            return reply
        finally:
            gevent.killall(self._children, block=False)
            self._children = []

    def _drive(self, session: Session, thread: Thread) -> Reply | None:
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
            result = self._take(step, thread, session)

    def _take(self, step: object, thread: Thread, session: Session) -> Any:
        match step:
            case Turn():
                thread.last = self._taker.turn(step, thread)
                return thread.last
            case Pause():
                return self._pause(step, thread)
            case Side():
                return self._start([step.session], "side", session, thread)[0]
            case Spawn():
                handles = self._start(step.sessions, "sub", session, thread)
                return self._join(handles, thread) if step.wait else handles
            case Join():
                return self._join(step.handles, thread)
            case Compact():
                return self._taker.compact(step, thread)
        raise fault_lines.no_step(self._manner.behaviour, step, session)

    def _pause(self, step: Pause, thread: Thread) -> None:
        gap_s = step.seconds if step.always else self._manner.gap_s(step.seconds)
        until = perf_counter() + gap_s
        thread.intended = thread.intended + gap_s if thread.is_due else until
        while (left_s := until - perf_counter()) > 0:
            if self._must_leave():
                raise Leaves
            gevent.sleep(min(left_s, PARKED_S))

    def _start(self, sessions: Iterable[Session], kind: str, parent: Session, thread: Thread) -> list[Handle]:
        """Those that a session begins with are as late as it is."""
        handles = []
        for session in sessions:
            if not isinstance(session, Generator):
                raise fault_lines.no_session(self._manner.behaviour, session, parent)
            child = Thread(kind, thread.intended if thread.is_due else perf_counter(), is_due=thread.is_due)
            self._children.append(gevent.spawn(self._child, session, child))
            handles.append(Handle(len(self._children) - 1))
        return handles

    def _child(self, session: Session, thread: Thread) -> Reply | None:
        try:
            return self._drive(session, thread)
        except Leaves:
            return thread.last
        except (Exception, SystemExit) as error:  # noqa: BLE001 (a plugin may raise anything)
            self._fault = error  # the session that started it raises it at its next step
            return thread.last

    def _join(self, handles: Sequence[Handle], thread: Thread) -> list[Reply | None]:
        greenlets = [self._children[handle.number] for handle in handles]
        gevent.joinall(greenlets)
        thread.intended, thread.is_due = perf_counter(), False  # what was waited for was no lateness of the client
        replies = [greenlet.get() for greenlet in greenlets]
        if any(isinstance(reply, GreenletExit) for reply in replies):
            raise Leaves  # the run ended in a child's turn: its record says so, and there is no reply to go on from
        return replies
