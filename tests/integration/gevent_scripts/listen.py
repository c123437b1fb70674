"""Listeners of every kind beside a loop that is watched, in a process of its own. Prints what came of it as JSON."""

import locust  # noqa: F401, I001 (first: it patches the standard library)

import json
import sys
from pathlib import Path

from gevent import monkey

from locust_agents import records
from locust_agents.errors import PluginError
from locust_agents.locustfiles import listening
from locust_agents.locustfiles.listening import Listening
from locust_agents.plugins import files
from locust_agents.scenarios.model import Attach, Scenario, Server

PATIENCE_S = [30.0]
# A true lock, between true threads.
HANDED_OVER = monkey.get_original("_thread", "allocate_lock")()
LINE = '{"outcome": "ok", "agent": "a/0.0", "turn": %d, "itl_hist": {"3": 1}, "end_s": 1.0}'
PLUGIN = """\
import sys
import threading
import time


class Hears:
    def __init__(self, keep: int = 1000) -> None:
        self.heard, self.closed, self.threads = [], 0, set()
        made["hears"] = self

    def on_turn(self, record):
        self.heard.append(record.turn)
        self.threads.add(threading.get_ident())

    def close(self):
        self.closed += 1


class Raises:
    def on_turn(self, record):
        if record.turn == 2:
            raise KeyError("x")


class Exits:
    def on_turn(self, record):
        sys.exit(7)


class Waits:
    def on_turn(self, record):
        wait()


class Changes:
    def on_turn(self, record):
        record.itl_hist.clear()
        object.__setattr__(record, "end_s", 99.0)


class Closes:
    def on_turn(self, record):
        pass

    def close(self):
        raise OSError("disk full")


made = {}
"""
HANGS = """\
class Hangs:
    def on_turn(self, record):
        sleep(600)
"""


def scenario(**listeners: dict[str, str | int]) -> Scenario:
    server = Server(attach=Attach(url="http://127.0.0.1:1"))
    return Scenario(name="listening", server=server, swarm={}, listeners=listeners)


def wait() -> None:
    """For the main thread, which would wait for itself if it were the one that is here."""
    if HANDED_OVER.acquire(True, PATIENCE_S[0]):
        HANDED_OVER.release()
    else:
        PATIENCE_S[0] = 0.0


def load(name: str, text: str) -> dict[str, object]:
    """The file's names; in it, `sleep` is one that gevent has not replaced; `wait` ends when all was handed over."""
    path = Path(sys.argv[1]) / name
    path.write_text(text)
    files.add(path)
    module = sys.modules[f"<plugin>{path.resolve()}"]
    vars(module)["sleep"] = monkey.get_original("time", "sleep")
    vars(module)["wait"] = wait
    return vars(module)


def main() -> None:
    """One run whose listeners do all that they should not, then one that hangs."""
    faults: list[str] = []
    HANDED_OVER.acquire()
    listening._LAST_WORDS_S = PATIENCE_S[0]
    names = load("plugin.py", PLUGIN)
    hearing = Listening(scenario(), faults.append)
    turns = [records.from_line(LINE % number) for number in range(10)]
    before = [records.to_line(turn) for turn in turns]
    for turn in turns:
        hearing.take(turn)
    hears = names["made"]["hears"]  # type: ignore[index]
    heard_by_then = len(hears.heard)
    HANDED_OVER.release()
    hearing.close()
    try:
        Listening(scenario(Hears={"kep": 1}), faults.append)
    except PluginError as error:
        refused = str(error)
    files._plugins.clear()
    listening._LAST_WORDS_S = 0.3
    load("hangs.py", HANGS)
    late: list[str] = []
    hanging = Listening(scenario(), late.append)
    hanging.take(turns[0])
    hanging.close()
    print(
        json.dumps(
            {
                "heard": hears.heard,
                "closed": hears.closed,
                "is_beside": monkey.get_original("_thread", "get_ident")() not in hears.threads,
                "faults": faults,
                "unchanged": before == [records.to_line(turn) for turn in turns],
                "heard_by_then": heard_by_then,
                "refused": refused,
                "late": late,
            }
        )
    )


if __name__ == "__main__":
    main()
