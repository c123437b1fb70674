"""How long `locust-agents run --attach` takes to its first agent's request, against a server that is ready."""

import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from locust_agents.cluster.replay import Received, ReplayServer, chat_stream
from tests.benchmarks import payload, printed

_RUNS = 5
_LIMIT_S = 30.0
_GOAL_S = 1.5
# The header that the opencode profile sends with every agent's request; what comes before the load has none.
_AGENTS_HEADER = "x-session-id"
_COMMAND = Path(sys.executable).with_name("locust-agents")
# Two samples of code and two small talks, from which a run sees that this server counts tokens; then it times prompts.
_COUNTS = (150, 1250, 6, 18, 1000)
_ANSWERS = [chat_stream([*"ok"], 0.0, 0.001, usage=(tokens, 0, 3)) for tokens in _COUNTS]


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds from the command's start to the server's first request of any kind, and to the first of an agent."""

    any_s: float
    agent_s: float


def main() -> None:
    """Prints the table."""
    starts = [_start() for _ in range(_RUNS)]
    any_s, agent_s = [start.any_s for start in starts], [start.agent_s for start in starts]
    printed.table(
        "Start: `locust-agents run --attach` to a request at a ready server",
        f"{_RUNS} runs of the default scenario; the prompts that are timed before its load are answered at once",
        ["first request", "min", "p50", "max", "goal"],
        [
            ["of any kind", *_cells(any_s), printed.NO_GOAL],
            ["of an agent", *_cells(agent_s), printed.judged(printed.median(agent_s), _GOAL_S, "s")],
        ],
    )


def _start() -> Start:
    with ReplayServer([payload.HEALTH, *_ANSWERS]) as server, tempfile.TemporaryDirectory() as folder:
        command = [str(_COMMAND), "run", "--attach", server.url, "--out", str(Path(folder, "run"))]
        begun = monotonic()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=folder)
        try:
            received = _until_an_agent_asks(server, child, begun + _LIMIT_S)
        finally:
            child.send_signal(signal.SIGINT)
            child.communicate()
    return Start(received[0].at_s - begun, received[-1].at_s - begun)


def _until_an_agent_asks(server: ReplayServer, child: "subprocess.Popen[bytes]", end: float) -> list[Received]:
    """The requests up to the first one of an agent."""
    while monotonic() < end and child.poll() is None:
        posts = [received for received in server.requests() if received.method == "POST"]
        agents = [place for place, received in enumerate(posts) if _AGENTS_HEADER in received.headers]
        if agents:
            return posts[: agents[0] + 1]
        sleep(0.1)  # seldom: reading the requests takes CPU from the run
    child.kill()
    assert child.stderr is not None
    raise RuntimeError(f"no agent asked: {os.fsdecode(child.stderr.read())}")


def _cells(values_s: list[float]) -> list[str]:
    return [f"{value:.2f} s" for value in (min(values_s), printed.median(values_s), max(values_s))]


if __name__ == "__main__":
    main()
