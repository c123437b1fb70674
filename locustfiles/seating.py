"""Who is who in a run with workers: each asks the master for its slots' numbers, for turns, and for the run's clock."""

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

import gevent
from gevent.event import Event
from locust.env import Environment
from locust.runners import STATE_MISSING, MasterRunner, WorkerRunner

from locust_agents.grants import Grants
from locust_agents.seats import Seat, Seats, Wish

ASK = "agents_seats"
ANSWER = "agents_seated"
# Asked again so soon while something is still open, and so often to tell what has changed.
_OPEN_S, _INTERVAL_S = 0.2, 0.5


class Slots:
    """The slots of one process, by a number of its own, with the seats that they have."""

    def __init__(self) -> None:
        self.wishes: dict[int, Wish] = {}
        self._seats: dict[int, Seat] = {}
        self._finished: set[int] = set()
        self._numbers = count()

    def enrol(self, entry: str, after_s: float) -> int:
        """A new slot."""
        slot = next(self._numbers)
        self.wishes[slot] = (entry, after_s)
        return slot

    def finish(self, slot: int) -> None:
        """It has nothing more to do; it keeps its seat."""
        self._finished.add(slot)

    def leave(self, slot: int) -> None:
        """It is no more."""
        self._finished.discard(slot)
        self._seats.pop(slot, None)
        self.wishes.pop(slot, None)

    def seated(self, seats: Mapping[int, Seat]) -> None:
        """Takes what was answered; a slot may have left since it asked."""
        self._seats.update({slot: seat for slot, seat in seats.items() if slot in self.wishes})

    def seat(self, slot: int) -> Seat | None:
        """None until it is known."""
        return self._seats.get(slot)

    def has(self, entry: str, number: int) -> bool:
        """Whether that agent is one of this process."""
        return any(seat.entry == entry and seat.number == number for seat in self._seats.values())

    @property
    def are_seated(self) -> bool:
        """All of them know who they are."""
        return len(self._seats) == len(self.wishes)

    @property
    def are_finished(self) -> bool:
        """None has anything more to do."""
        return len(self._finished) == len(self.wishes)

    def __len__(self) -> int:
        return len(self.wishes)


class Asker:
    """The worker's end: says what it has, at each call and again and again; `state` is (slots, turns started, open)."""

    def __init__(
        self, runner: WorkerRunner, run: str, state: Callable[[], tuple[Mapping[int, Wish], int, bool]]
    ) -> None:
        self._runner = runner
        self._run = run
        self._state = state
        self._wake = Event()
        self._ticker = gevent.spawn(self._tick)

    def __call__(self) -> None:
        """Something has changed: asks as soon as the loop comes round."""
        self._wake.set()

    def stop(self) -> None:
        """The run is over."""
        self._ticker.kill(block=False)

    def _tick(self) -> None:
        while True:
            self._wake.clear()
            slots, started, is_open = self._state()
            plain = [[slot, entry, after_s] for slot, (entry, after_s) in slots.items()]
            self._runner.send_message(ASK, {"run": self._run, "slots": plain, "started": started})
            self._wake.wait(_OPEN_S if is_open else _INTERVAL_S)


class Usher:
    """The master's end."""

    def __init__(self, runner: MasterRunner, elapsed_s: Callable[[], float]) -> None:
        self.seats = Seats()
        self._runner = runner
        self._elapsed_s = elapsed_s
        self._grants: Grants | None = None
        self._run = ""

    def start(self, run: str, turns: int | None) -> None:
        """A new run: nobody has a seat."""
        self._run, self.seats = run, Seats()
        self._grants = None if turns is None else Grants(turns)

    def on_message(self, environment: Environment, msg: Any, **_: Any) -> None:
        """Answers a worker with its seats, with the turns that it may start in all, and what the clock says."""
        del environment
        if msg.data["run"] != self._run:
            return
        worker, living = msg.node_id, self._living()
        self.seats.keep_only({*living, worker})
        seats = self.seats.tell(worker, {slot: (entry, after_s) for slot, entry, after_s in msg.data["slots"]})
        turns, left = self._granted(worker, msg.data["started"], living)
        plain = [[slot, seat.entry, seat.number, seat.place] for slot, seat in seats.items()]
        answer = {"run": self._run, "seats": plain, "turns": turns, "left": left, "elapsed_s": self._elapsed_s()}
        self._runner.send_message(ANSWER, answer, client_id=worker)

    def _granted(self, worker: str, started: int, living: set[str]) -> tuple[int | None, int]:
        if self._grants is None:
            return None, 0
        self._grants.keep_only({*living, worker})
        return self._grants.ask(worker, started, self.seats.slots(worker)), self._grants.left

    def _living(self) -> set[str]:
        return {client.id for client in self._runner.clients.all if client.state != STATE_MISSING}


def seats_of(answer: Mapping[str, Any]) -> dict[int, Seat]:
    """The seats in a master's answer."""
    return {slot: Seat(entry, number, place) for slot, entry, number, place in answer["seats"]}
