"""What a late turn of a long conversation costs the event loop: 60 turns, 100k tokens, the real driver and client."""

from tests.benchmarks import product  # first: it imports Locust, which patches the standard library

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import greenlet

from locust_agents.cluster.replay import ReplayServer, chat_stream
from locust_agents.locustfiles.swarm import OpenTurn, Swarm
from locust_agents.locustfiles.transport import Exchange
from locust_agents.plugins.api import Agent, Session, behaviour
from locust_agents.records import TurnRecord
from tests.benchmarks import payload, printed

_TURNS = 60
_TOKENS = 100_000
_SESSIONS = 25
_GOAL_MS = 1.0
# The answer and the template, beside the tool's result.
_RESULT_TOKENS = (_TOKENS - 6724) / _TURNS - 20
_SINK = chat_stream(["Next."], 0.0, 0.0, tool_calls=[("read", {"filePath": "src/app.py"})])

_yielded: list[float] = []


@behaviour
def long_session(agent: Agent) -> Session:
    """Turns with a tool result each; notes when it yields the last one."""
    reply = yield agent.user("Find the fault.", tokens=_RESULT_TOKENS)
    for _ in range(_TURNS - 2):
        reply = yield agent.tool_results(reply, tokens=_RESULT_TOKENS)
    _yielded.append(perf_counter())
    yield agent.tool_results(reply, tokens=_RESULT_TOKENS)


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of the event loop for one turn, up to its last byte sent; `longest_s` is the longest without a pause."""

    build_s: float
    send_s: float
    longest_s: float
    body_bytes: int


class Slices:
    """When the greenlet that sends ran, and so held the loop; times of perf_counter."""

    def __init__(self) -> None:
        self.of: greenlet.greenlet | None = None
        self._runs: list[tuple[float, float]] = []
        self._since = 0.0

    def trace(self, _: str, switch: tuple[greenlet.greenlet, greenlet.greenlet]) -> None:
        """For greenlet.settrace: called at each switch from one greenlet to another."""
        if switch[1] is self.of:
            self._since = perf_counter()
        elif switch[0] is self.of:
            self._runs.append((self._since, perf_counter()))

    def begin(self, of: greenlet.greenlet) -> None:
        """Forgets all, and follows a greenlet that runs now."""
        self.of, self._since, self._runs = of, perf_counter(), []

    def until(self, at: float) -> list[float]:
        """The lengths of the runs up to `at`."""
        runs = [*self._runs, (self._since, perf_counter())]
        return [min(end, at) - start for start, end in runs if start < at]


class WatchedSwarm(Swarm):
    """Keeps what each last turn of a session cost."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.slices = Slices()
        self.costs: list[Cost] = []
        self.turns: list[TurnRecord] = []

    def opened(self, turn: OpenTurn) -> None:
        super().opened(turn)
        if turn.turn == _TURNS - 1:
            self.slices.begin(turn.greenlet)

    def ended(self, exchange: Exchange, record: TurnRecord) -> None:
        super().ended(exchange, record)
        self.turns.append(record)
        if record.turn == _TURNS - 1 and exchange.sent_s is not None:
            runs = self.slices.until(exchange.started + exchange.sent_s)
            # nothing switches between the yield and the first slice: building is one piece with the start of sending
            build_s = exchange.started - _yielded[-1]
            self.costs.append(Cost(build_s, sum(runs), max(build_s + runs[0], *runs), exchange.request_bytes))


def main() -> None:
    """Prints the table."""
    costs = measure()
    parts = {
        "build (text, message, body)": [cost.build_s for cost in costs],
        "send into a local sink": [cost.send_s for cost in costs],
        "both": [cost.build_s + cost.send_s for cost in costs],
        "longest piece": [cost.longest_s for cost in costs],
    }
    printed.table(
        f"Turn {_TURNS} of a conversation of {_TOKENS:,} tokens: time of the event loop",
        f"{len(costs)} sessions, a body of {printed.median([cost.body_bytes for cost in costs]):,.0f} bytes",
        ["part", "p50", "max", "goal"],
        [_row(name, values_s, _GOAL_MS if name == "both" else None) for name, values_s in parts.items()],
    )


def measure() -> list[Cost]:
    """The cost of the last turn of each session."""
    _yielded.clear()
    with ReplayServer([payload.UNTIMED, *payload.again(_SINK, 1, _SINK)[1:]]) as server:
        with product.running(server.url, 1, long_session, _SESSIONS, WatchedSwarm) as swarm:
            assert isinstance(swarm, WatchedSwarm)
            greenlet.settrace(swarm.slices.trace)
            product.wait_until(lambda: len(swarm.costs) >= _SESSIONS, 60.0)
            greenlet.settrace(None)
    assert all(record.outcome == "ok" for record in swarm.turns), swarm.turns[-1]
    return swarm.costs


def _row(name: str, values_s: Sequence[float], goal_ms: float | None) -> list[str]:
    middle_ms, most_ms = printed.median(values_s) * 1000, max(values_s) * 1000
    goal = printed.NO_GOAL if goal_ms is None else printed.judged(middle_ms, goal_ms, "ms")
    return [name, f"{middle_ms:.2f} ms", f"{most_ms:.2f} ms", goal]


if __name__ == "__main__":
    main()
