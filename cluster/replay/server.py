"""Decides how the replay server lives: one process, one loop that wakes on time, and what makes it quit."""

import argparse
import asyncio
import os
import select
import selectors
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from locust_agents.cluster.replay.file import load_scripts
from locust_agents.cluster.replay.play import Connection, Replay
from locust_agents.cluster.replay.scripts import Script
from locust_agents.errors import ClusterError, LocustAgentsError, ScenarioError

_ABOUT = "Answers requests with timed bytes from a file, so that a client can be tried and timed without a model."
_HOST = "127.0.0.1"
_BACKLOG = 1024  # clients that start together must not meet the SYN retries (1 s, 3 s) of a short queue


def main(argv: Sequence[str] | None = None) -> int:
    """`locust-agents replay-server FILE`: prints its URL, serves until Ctrl-C or SIGTERM, returns 0.

    Raises ScenarioError when the file is no script (`Script` names the keys), ClusterError when the port is taken.
    """
    options = _parser().parse_args(argv)
    scripts = load_scripts(options.file)
    log = _open_log(options.log)
    with asyncio.Runner(loop_factory=_new_loop) as runner:
        runner.run(_serve(scripts, log, options))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="locust-agents replay-server", description=_ABOUT)
    parser.add_argument("file", type=Path, metavar="FILE", help="JSON: one script or a list; request k gets script k")
    parser.add_argument("--port", type=int, default=0, help="0 (the default) takes a free one")
    parser.add_argument("--stamp", action="store_true", help="write the time of each send in the place of @SENT_NS@")
    parser.add_argument("--log", type=Path, help="write each request, with its body, to this file")
    parser.add_argument("--max-requests", type=int, help="quit when so many have been answered")
    parser.add_argument("--owned", action="store_true", help="quit when standard input ends")
    return parser


def _open_log(path: Path | None) -> BinaryIO | None:
    try:
        return path.open("wb", buffering=0) if path else None
    except OSError as error:
        raise ScenarioError(f"--log {path}: cannot be written: {error.strerror}") from error


async def _serve(scripts: Sequence[Script], log: BinaryIO | None, options: argparse.Namespace) -> None:
    loop = asyncio.get_running_loop()
    replay = Replay(scripts, log, options.stamp, options.max_requests)
    try:
        server = await loop.create_server(lambda: Connection(replay), _HOST, options.port, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        why = error.strerror if isinstance(error, OSError) else "there are 65535"
        raise ClusterError(f"port {options.port} cannot be used ({why}): choose another --port") from error
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, replay.quit.set)
    if options.owned:
        loop.add_reader(sys.stdin.fileno(), _quit_at_end_of_input, replay)
    print(f"http://{_HOST}:{server.sockets[0].getsockname()[1]}", flush=True)
    await replay.quit.wait()
    server.close()
    for connection in tuple(replay.connections):
        connection.abort()


def _quit_at_end_of_input(replay: Replay) -> None:
    if not os.read(sys.stdin.fileno(), 4096):
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        replay.quit.set()


def _new_loop() -> asyncio.AbstractEventLoop:
    return asyncio.SelectorEventLoop(_selector())


if sys.platform == "linux":

    class _PunctualSelector(selectors.EpollSelector):
        """epoll rounds a wait up to whole milliseconds, so that streams would send in bursts; select(2) does not."""

        def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
            if timeout is not None and timeout > 0:
                select.select([self.fileno()], (), (), timeout)
                timeout = 0
            return super().select(timeout)

    def _selector() -> selectors.BaseSelector:
        return _PunctualSelector()

else:

    def _selector() -> selectors.BaseSelector:
        return selectors.DefaultSelector()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LocustAgentsError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_status)
