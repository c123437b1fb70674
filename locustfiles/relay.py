"""Records from workers to the master: numbered, sent every half second, and again until the master has them."""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import gevent
from locust.env import Environment
from locust.runners import MasterRunner, WorkerRunner

from locust_agents import records
from locust_agents.cluster import watch_turns
from locust_agents.cluster.watch_look import OpenLook
from locust_agents.records import TurnRecord

RECORDS = "agents_records"
RECEIVED = "agents_received"
DRAIN = "agents_drain"
HOLD = "agents_hold"
"""From the master: {"why": …} ends the open turns and starts none, {"epoch": n} goes on with another start."""
_INTERVAL_S = 0.5
# A message stays well below what one RPC frame takes without stalling heartbeats; a line is about 1 kB.
_MOST_LINES = 500


class Sender:
    """The worker's end. Keeps each line until the master says that it has written it."""

    def __init__(
        self,
        runner: WorkerRunner,
        run: str,
        is_idle: Callable[[], bool],
        looks: Callable[[], Sequence[OpenLook]] = tuple,
        slots: Callable[[], int] = int,
    ) -> None:
        self._looks = looks
        self._slots = slots
        self._runner = runner
        self._run = run
        self._is_idle = is_idle
        self._first = 0
        self.faults: list[str] = []
        self._lines: list[str] = []
        self._ticker = gevent.spawn(self._tick)

    def __call__(self, record: TurnRecord) -> None:
        """Takes a record of a turn that ended."""
        self._lines.append(records.to_line(record))

    def received(self, upto: int) -> None:
        """The master has every line before number `upto`."""
        if upto > self._first:
            self._lines = self._lines[upto - self._first :]
            self._first = upto

    def send(self) -> None:
        """Sends what the master is not known to have; also says whether this worker has nothing more to do."""
        lines = self._lines[:_MOST_LINES]
        idle = self._is_idle() and len(lines) == len(self._lines)
        said = {"run": self._run, "first": self._first, "lines": lines, "idle": idle, "faults": self.faults}
        said["slots"] = self._slots()
        said["open"] = watch_turns.to_plain(self._looks(), perf_counter())
        self._runner.send_message(RECORDS, said)

    def stop(self) -> None:
        """A new run begins: what the master has not taken by now it will not ask for."""
        self._ticker.kill(block=False)

    def _tick(self) -> None:
        while True:
            self.send()
            gevent.sleep(_INTERVAL_S)


class Receiver:
    """The master's end. Passes each line on once, in each worker's order, and remembers who is idle."""

    def __init__(self, runner: MasterRunner, take: Callable[[str], None]) -> None:
        self._runner = runner
        self._take = take
        self._next: dict[str, int] = {}
        self.idle: dict[str, bool] = {}
        self._slots: dict[str, int] = {}
        self.faults: dict[str, list[str]] = {}
        self._open: dict[str, tuple[OpenLook, ...]] = {}
        self.run = ""

    def start(self, run: str) -> None:
        """A new run: lines of an older one are acknowledged and dropped."""
        self.run, self._next, self.idle, self.faults = run, {}, {}, {}
        self._slots, self._open = {}, {}

    def on_message(self, environment: Environment, msg: Any, **_: Any) -> None:
        """Takes a worker's message and acknowledges it."""
        del environment
        first, lines, worker = msg.data["first"], msg.data["lines"], msg.node_id
        if msg.data["run"] == self.run:
            have = self._next.get(worker, 0)
            for line in lines[max(0, have - first) :]:
                self._take(line)
            self._next[worker] = max(have, first + len(lines))
            self.idle[worker] = msg.data["idle"]
            self._slots[worker] = msg.data["slots"]
            self.faults[worker] = msg.data["faults"]
            self._open[worker] = watch_turns.from_plain(msg.data["open"], perf_counter())
        self._runner.send_message(RECEIVED, {"run": msg.data["run"], "upto": first + len(lines)}, client_id=worker)

    def looks(self) -> list[OpenLook]:
        """The open turns of all workers, as they were half a second ago at most."""
        return [look for looks in self._open.values() for look in looks]

    def slots(self) -> int:
        """The slots of the workers that are connected, as they said together with whether they are idle."""
        return sum(self._slots.get(worker, 0) for worker in self._runner.clients)

    def all_idle(self) -> bool:
        """Every worker that is connected has said that it has nothing more to do."""
        workers = list(self._runner.clients)
        return bool(workers) and all(self.idle.get(worker, False) for worker in workers)
