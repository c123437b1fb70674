"""What turn 60 of a conversation of 100k tokens costs the event loop, from the behaviour's yield until it is sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import greenlet  # type: ignore[import-untyped]

from locust_agents.cluster.replay import ReplayServer, chat_stream
from locust_agents.locustfiles.swarm import OpenTurn, Swarm
from locust_agents.locustfiles.transport import Exchange
from locust_agents.records import TurnRecord
from tests.benchmarks import growing, payload, printed, product
from tests.benchmarks.clocks import Moment, now

_SESSIONS = 25
_GOAL_MS = 1.0
_SINK = chat_stream(["Next."], 0.0, 0.0, tool_calls=[("read", {"filePath": "src/app.py"})])


@dataclass(frozen=True, slots=True)
class Cost:
    """One turn: `pieces` are the times in which the loop did nothing else, the first one from `build` on."""

    build: Moment
    pieces: Sequence[Moment]
    body_bytes: int


class Follower:
    """Follows the greenlet of one turn at a time, from its behaviour's yield until it waits for the answer."""

    def __init__(self) -> None:
        self.costs: list[Cost] = []
        self._turn: OpenTurn | None = None
        self._since = self._build = now()
        self._pieces: list[Moment] = []

    def follow(self, turn: OpenTurn, since: Moment) -> None:
        """A turn whose body is built, and whose greenlet has not paused since then."""
        self._turn, self._since, self._build, self._pieces = turn, since, now().since(since), []

    def trace(self, _: str, switch: tuple[greenlet.greenlet, greenlet.greenlet]) -> None:
        """For greenlet.settrace: called at each switch from one greenlet to another."""
        if self._turn is None:
            return
        if switch[1] is self._turn.greenlet:
            self._since = now()
        elif switch[0] is self._turn.greenlet:
            self._pieces.append(now().since(self._since))
            if self._turn.exchange.sent_s is not None:
                self.costs.append(Cost(self._build, self._pieces, self._turn.exchange.request_bytes))
                self._turn = None


class FollowedSwarm(Swarm):
    """Has the last turn of each session followed."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.follower = Follower()
        self.outcomes: set[str] = set()

    def opened(self, turn: OpenTurn) -> None:
        super().opened(turn)
        if turn.turn == growing.TURNS - 1:
            self.follower.follow(turn, growing.yielded[-1])

    def ended(self, exchange: Exchange, record: TurnRecord) -> TurnRecord:
        self.outcomes.add(record.outcome)
        return super().ended(exchange, record)


def main() -> None:
    """Prints the table."""
    alone = [growing.parts(number) for number in range(_SESSIONS)]
    costs = measure()
    parts = {
        "whole turn, until it is sent": [_sum(cost.pieces) for cost in costs],
        "  longest piece without a pause": [max(cost.pieces, key=lambda piece: piece.wall_s) for cost in costs],
        "  build": [cost.build for cost in costs],
        "    text, message, append": [say for say, _ in alone],
        "    body": [body for _, body in alone],
        "  connect, send to a local sink": [_sum(cost.pieces).since(cost.build) for cost in costs],
    }
    printed.table(
        f"Turn {growing.TURNS} of a conversation of {growing.TOKENS:,} tokens: time of the event loop",
        f"{len(costs)} sessions, a body of {printed.median([cost.body_bytes for cost in costs]):,} bytes;"
        " CPU is without what other processes took meanwhile",
        ["part", "CPU p50", "max", "wall p50", "max", "goal"],
        [_row(name, values) for name, values in parts.items()],
    )


def measure() -> list[Cost]:
    """The cost of the last turn of each session."""
    growing.yielded.clear()
    with (
        ReplayServer(payload.again(_SINK, 1, _SINK)) as server,
        product.running(server.url, 1, growing.long_session, _SESSIONS, FollowedSwarm) as swarm,
    ):
        assert isinstance(swarm, FollowedSwarm)
        greenlet.settrace(swarm.follower.trace)
        product.wait_until(lambda: len(swarm.follower.costs) >= _SESSIONS, 60.0)
        greenlet.settrace(None)
        assert swarm.outcomes == {"ok"}, swarm.outcomes
        return swarm.follower.costs


def _sum(pieces: Sequence[Moment]) -> Moment:
    return Moment(sum(piece.wall_s for piece in pieces), sum(piece.cpu_s for piece in pieces))


def _row(name: str, values: Sequence[Moment]) -> list[str]:
    clocks_ms = [[value.cpu_s * 1000 for value in values], [value.wall_s * 1000 for value in values]]
    cells = [f"{figure:.2f} ms" for times in clocks_ms for figure in (printed.median(times), max(times))]
    goal = printed.judged(printed.median(clocks_ms[0]), _GOAL_MS, "ms") if name.startswith("whole") else printed.NO_GOAL
    return [name, *cells, goal]


if __name__ == "__main__":
    main()
