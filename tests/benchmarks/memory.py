"""What a swarm's histories take: the resident memory of a process with 100 agents of 50k tokens each, all streaming."""

from typing import Any

import psutil

from locust_agents.cluster.replay import ReplayServer, chat_stream
from locust_agents.locustfiles.swarm import Swarm
from locust_agents.locustfiles.transport import Exchange
from locust_agents.plugins.api import Agent, Session, behaviour
from locust_agents.records import TurnRecord
from tests.benchmarks import payload, printed, product

_AGENTS = 100
_TOKENS = 50_000
_TURNS = 10
_GOAL_MB = 250.0
# What is left of a turn's share after the preamble.
_RESULT_TOKENS = (_TOKENS - 6724) / (_TURNS + 1)
_QUICK = chat_stream(["Next."], 0.0, 0.0, tool_calls=[("read", {"filePath": "src/app.py"})])
_STREAMING = chat_stream(["word "] * 1000, 0.1, 0.05)


class CountingSwarm(Swarm):
    """Knows when every agent has grown its history."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.turns = 0

    def ended(self, exchange: Exchange, record: TurnRecord) -> TurnRecord:
        kept = super().ended(exchange, record)
        self.turns += 1
        return kept

    @property
    def streams(self) -> int:
        """Answers that flow at this moment."""
        return sum(turn.exchange.answer.chunks > 0 for turn in self.open.values())


def main() -> None:
    """Prints the table; the process is fresh, so what was there before the agents is the product itself."""
    before_mb = _rss_mb()
    waiting: list[CountingSwarm] = []

    @behaviour
    def grow(agent: Agent) -> Session:
        """Reads files until its history is long, waits for the others, and asks once more."""
        reply = yield agent.user("Find the fault.", tokens=_RESULT_TOKENS)
        for _ in range(_TURNS - 1):
            reply = yield agent.tool_results(reply, tokens=_RESULT_TOKENS)
        while not waiting or waiting[0].turns < _AGENTS * _TURNS:
            yield agent.pause(0.05)
        yield agent.tool_results(reply, tokens=_RESULT_TOKENS)

    with (
        ReplayServer(payload.again(_QUICK, _AGENTS * _TURNS, _STREAMING)) as server,
        product.running(server.url, _AGENTS, grow, sessions=1, swarm_class=CountingSwarm) as swarm,
    ):
        assert isinstance(swarm, CountingSwarm)
        waiting.append(swarm)
        product.wait_until(lambda: swarm.streams >= _AGENTS, 60.0)
        assert swarm.streams == _AGENTS, f"{swarm.streams} of {_AGENTS} streams after {swarm.turns} turns"
        streaming_mb = _rss_mb()
        sent_bytes = sum(turn.exchange.request_bytes for turn in swarm.open.values())
    _print(before_mb, streaming_mb, sent_bytes)


def _print(before_mb: float, streaming_mb: float, sent_bytes: int) -> None:
    each_kb = (streaming_mb - before_mb) * 1000 / _AGENTS
    goal = printed.judged(streaming_mb, _GOAL_MB, "MB", 0)
    printed.table(
        f"Memory: {_AGENTS} agents of one profile with histories of {_TOKENS:,} tokens",
        f"resident set of a fresh process, all agents streaming; bodies of {sent_bytes / _AGENTS:,.0f} bytes",
        ["when", "RSS", "for each agent", "goal"],
        [
            ["product imported", f"{before_mb:.0f} MB", "", printed.NO_GOAL],
            [f"{_AGENTS} agents stream", f"{streaming_mb:.0f} MB", f"{each_kb:.0f} kB", goal],
        ],
    )


def _rss_mb() -> float:
    return float(psutil.Process().memory_info().rss) / 1e6


if __name__ == "__main__":
    main()
