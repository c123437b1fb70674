"""Records from workers to the master: numbered, sent every half second, and again until the master has them."""

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

import gevent
from locust.env import Environment
from locust.runners import STATE_MISSING, MasterRunner, WorkerRunner

from locust_agents import records
from locust_agents.cluster.watch import turns
from locust_agents.cluster.watch.look import OpenLook
from locust_agents.records import TurnRecord

RECORDS = "agents_records"
RECEIVED = "agents_received"
DRAIN = "agents_drain"
HOLD = "agents_hold"
"""From the master: {"why": …} ends the open turns and starts none, {"epoch": n} goes on with another start."""
OVER = "agents_over"
"""From a master to a worker of another master's run: that run is over, and the worker with it."""
_INTERVAL_S = 0.5
# A message stays well below what one RPC frame takes without stalling heartbeats; a line is about 1 kB.
_MOST_LINES = 500
# Every message is answered at once; a master that answers none for so long is gone, and nobody wants this load.
_DESERTED_S = 15.0
# A worker that says nothing for so long is no longer waited for. Locust gives it up after some three seconds too.
_DEAD_S = 3.0


class Sender:
    """The worker's end. Keeps each line until the master says that it has written it."""

    def __init__(
        self,
        runner: WorkerRunner,
        run: str,
        is_idle: Callable[[], bool],
        looks: Callable[[], Sequence[OpenLook]] = tuple,
        told: Callable[[], Mapping[str, Any]] = dict,
        deserted: Callable[[], None] = lambda: None,
    ) -> None:
        """`told` adds to each message: slots, opened, cpu. `deserted` is called once where the master is gone."""
        self._looks = looks
        self._told = told
        self._deserted = deserted
        self._heard_at = perf_counter()
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
        self._heard_at = perf_counter()
        if upto > self._first:
            self._lines = self._lines[upto - self._first :]
            self._first = upto

    def send(self) -> None:
        """Sends what the master is not known to have; also says whether this worker has nothing more to do."""
        lines = self._lines[:_MOST_LINES]
        idle = self._is_idle() and len(lines) == len(self._lines)
        said = {"run": self._run, "first": self._first, "lines": lines, "idle": idle, "faults": self.faults}
        said.update(self._told())
        said["open"] = turns.to_plain(self._looks(), perf_counter())
        self._runner.send_message(RECORDS, said)

    @property
    def has_all(self) -> bool:
        """The master has every line."""
        return not self._lines

    def stop(self) -> None:
        """A new run begins: what the master has not taken by now it will not ask for."""
        self._ticker.kill(block=False)

    def _tick(self) -> None:
        while perf_counter() - self._heard_at < _DESERTED_S:
            self.send()
            gevent.sleep(_INTERVAL_S)
        self._deserted()


class Receiver:
    """The master's end. Passes each line on once, in each worker's order, and remembers what else each last said."""

    def __init__(self, runner: MasterRunner, take: Callable[[str], None]) -> None:
        self._runner = runner
        self._take = take
        self._next: dict[str, int] = {}
        self._said: dict[str, Mapping[str, Any]] = {}
        self._heard_at: dict[str, float] = {}
        self.faults: dict[str, list[str]] = {}
        self._open: dict[str, tuple[OpenLook, ...]] = {}
        self.run = ""
        self._runs: set[str] = set()

    def start(self, run: str) -> None:
        """A new run: lines of an older one are acknowledged and dropped."""
        self.run, self._next, self._said, self.faults = run, {}, {}, {}
        self._heard_at, self._open = {}, {}
        self._runs.add(run)

    def on_message(self, environment: Environment, msg: Any, **_: Any) -> None:
        """Takes a worker's message and acknowledges it."""
        del environment
        first, lines, worker = msg.data["first"], msg.data["lines"], msg.node_id
        if msg.data["run"] not in self._runs:
            self._runner.send_message(OVER, {"run": msg.data["run"]}, client_id=worker)
            return
        if msg.data["run"] == self.run:
            have = self._next.get(worker, 0)
            for line in lines[max(0, have - first) :]:
                self._take(line)
            self._next[worker] = max(have, first + len(lines))
            self._said[worker] = msg.data
            self._heard_at[worker] = perf_counter()
            self.faults[worker] = msg.data["faults"]
            self._open[worker] = turns.from_plain(msg.data["open"], perf_counter())
        self._runner.send_message(RECEIVED, {"run": msg.data["run"], "upto": first + len(lines)}, client_id=worker)

    def looks(self) -> list[OpenLook]:
        """The open turns of all workers that live, as they were half a second ago at most."""
        living = self._living()
        return [look for worker, looks in self._open.items() if worker in living for look in looks]

    def slots(self) -> int:
        """The slots of the workers that are connected, as they said together with whether they are idle."""
        return sum(self._said[worker]["slots"] for worker in self._runner.clients if worker in self._said)

    def all_idle(self) -> bool:
        """Every worker that lives has said that it has nothing more to do; nobody is left, that is so too."""
        return all(worker in self._said and self._said[worker]["idle"] for worker in self._living())

    @property
    def lost(self) -> int:
        """Turns that workers had begun, as each last said, and of which no record has come: at a run's end, lost."""
        return sum(map(self._missing, self._said))

    @property
    def lost_by_the_dead(self) -> int:
        """The same of those workers that do not live any more, whose records will not come: lost already."""
        return sum(map(self._missing, self._said.keys() - self._living()))

    @property
    def cpu(self) -> list[tuple[float, float]]:
        """Each worker's share of a core, and over how many seconds."""
        return [tuple(said["cpu"]) for said in self._said.values()]

    def _missing(self, worker: str) -> int:
        return max(0, int(self._said[worker]["opened"]) - self._next.get(worker, 0))

    def _living(self) -> set[str]:
        """Those that Locust counts, and those that have left it and still send what they have."""
        counted = {client.id for client in self._runner.clients.all if client.state != STATE_MISSING}
        return counted | {worker for worker, at in self._heard_at.items() if perf_counter() - at < _DEAD_S}
