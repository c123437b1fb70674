"""A process that makes one run after another for whoever holds its stdin, all against one start of the server.

A line of stdin is an order: {"scenario": YAML, "out": the run's folder, "shared_ok": though others use the server}. Its
answer is a line of stdout: {"status", "folder", "error"}. The end of stdin ends the run that is under way, as Ctrl-C
does, and then the server: nobody waits for it any more.
"""

import locust  # noqa: F401, I001 (first: it patches the standard library)

import contextlib
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gevent
from gevent.fileobject import FileObjectPosix
from gevent.queue import Queue

from locust_agents.errors import LocustAgentsError
from locust_agents.locustfiles import headless
from locust_agents.locustfiles.kept_server import KeptServer
from locust_agents.scenarios import with_plugins


def main() -> int:
    """Returns 0, or 130 where it was interrupted between two runs."""
    answers, orders, kept, busy = sys.stdout, Queue(), KeptServer(), [False]
    gevent.spawn(_read, orders, busy)
    with contextlib.redirect_stdout(sys.stderr):
        try:
            for line in iter(orders.get, None):
                busy[0] = True
                print(json.dumps(_run(json.loads(line), kept)), file=answers, flush=True)
                busy[0] = False
        except KeyboardInterrupt:
            return 130
        finally:
            kept.stop(_say)
    return 0


def _read(orders: Any, busy: Sequence[bool]) -> None:
    """Lines as they come, None at their end."""
    with FileObjectPosix(sys.stdin.fileno(), "rb", closefd=False) as lines:
        for line in lines:
            orders.put(line)
    orders.put(None)
    if busy[0]:
        os.kill(os.getpid(), signal.SIGINT)


def _run(order: Mapping[str, Any], kept: KeptServer) -> dict[str, Any]:
    try:
        scenario = with_plugins.parse(order["scenario"], "the cell")
        conductor = headless.run(scenario, Path(order["out"]), order["shared_ok"], kept)
    except LocustAgentsError as error:
        return {"status": error.exit_status, "folder": None, "error": str(error)}
    if conductor.error is not None:
        kept.stop(_say)  # one that hangs lives still
    return {
        "status": conductor.exit_status(),
        "folder": None if conductor.path is None else str(conductor.path.absolute()),
        "error": None if conductor.error is None else str(conductor.error),
    }


def _say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
