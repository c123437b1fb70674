"""What an event costs the client: CPU of this process for each, as a ratio to the least that a client can do."""

from dataclasses import dataclass
from time import process_time
from typing import Any

import gevent

from locust_agents.cluster.replay import ReplayServer
from locust_agents.locustfiles.swarm import Swarm
from locust_agents.locustfiles.transport import Exchange
from locust_agents.records import TurnRecord
from tests.benchmarks import bare, payload, printed, product
from tests.benchmarks.payload import Load

_PAIRS = 5
_LOADS = (Load(50, 150, 0.02), Load(200, 150, 0.02))
_GOAL_RATIO = 1.7


@dataclass(frozen=True, slots=True)
class Pair:
    """Microseconds of user and system time for each event, one after the other on the same machine."""

    product_us: float
    bare_us: float

    @property
    def ratio(self) -> float:
        """How many times the least."""
        return self.product_us / self.bare_us


class CostedSwarm(Swarm):
    """Notes the process's CPU time when the agents may start, and at each turn's end."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.turns = 0
        self.begun_s = self.ended_s = process_time()

    def ended(self, exchange: Exchange, record: TurnRecord) -> TurnRecord:
        kept = super().ended(exchange, record)
        self.turns += 1
        self.ended_s = process_time()
        return kept


def main() -> None:
    """Prints the table, a row for each number of streams."""
    rows = [_row(load, [Pair(_product_us(load), _bare_us(load)) for _ in range(_PAIRS)]) for load in _LOADS]
    printed.table(
        "Client CPU for each event (process user + system time, connecting and recording included)",
        f"{_PAIRS} pairs, product and bare gevent socket (lines, json.loads) by turns; {_LOADS[0].events} events each",
        ["streams", "product p50", "bare p50", "ratio min", "median", "max", "goal"],
        rows,
    )


def _product_us(load: Load) -> float:
    with (
        ReplayServer(payload.at_once(load), stamp=True) as server,
        product.running(server.url, load.streams, sessions=1, swarm_class=CostedSwarm) as swarm,
    ):
        assert isinstance(swarm, CostedSwarm)
        product.wait_until(lambda: swarm.turns >= load.streams, 5 * load.length_s)
        assert swarm.turns == load.streams, "the machine is too busy: not all turns ended in time"
        return (swarm.ended_s - swarm.begun_s) / (load.streams * load.events) * 1e6


def _bare_us(load: Load) -> float:
    with ReplayServer(payload.at_once(load), stamp=True) as server:
        begun_s = process_time()
        streams = [gevent.spawn(bare.read, server.url) for _ in range(load.streams)]
        gevent.joinall(streams, raise_error=True)
        return (process_time() - begun_s) / (load.streams * load.events) * 1e6


def _row(load: Load, pairs: list[Pair]) -> list[str]:
    ratios = [pair.ratio for pair in pairs]
    middle = printed.median(ratios)
    costs = [printed.median([pair.product_us for pair in pairs]), printed.median([pair.bare_us for pair in pairs])]
    goal = printed.judged(middle, _GOAL_RATIO, "") if load.streams == 200 else printed.NO_GOAL
    shown = [f"{cost:.1f} µs" for cost in costs] + [f"{ratio:.2f}" for ratio in (min(ratios), middle, max(ratios))]
    return [str(load.streams), *shown, goal]


if __name__ == "__main__":
    main()
