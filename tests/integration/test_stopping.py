"""A run that somebody stops: once lets open turns end, twice cuts them, and its files are complete in either case."""

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import termios
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from locust_agents import run_folder
from locust_agents.cluster import ports
from tests.integration.held_server import HeldServer, held_server
from tests.patience import PATIENCE_S, is_sound

BIN = Path(sys.executable).parent
LOCUSTFILE = Path(__file__).parents[2] / "locustfiles" / "coding_agents.py"
SCENARIO = """\
name: stopped
duration: 300s
drain: 60s
scale: 0.01
gaps: {scale: 0}
start: {apart: 0s}
curve: off
swarm:
  fixer: {behaviour: fix_failing_test, agents: 2}
"""
COMMAND = ["locust-agents", "run", "s.yaml", "--out", "runs/out"]
WEB = ["locust-agents", "run", "s.yaml", "--web"]
PLAIN = ["locust", "-f", str(LOCUSTFILE), "--scenario", "s.yaml", "--headless"]


def owns(terminal: int) -> None:
    """In the child: it is told when the terminal is closed, also where the tests themselves run under nohup."""
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Run:
    """A command against a server, in a folder of its own."""

    def __init__(self, folder: Path, server: HeldServer, command: list[str], terminal: int | None = None) -> None:
        self.folder, self._server = folder, server
        (folder / "s.yaml").write_text(f"{SCENARIO}server: {{attach: '{server.url}'}}\n")
        self._log = folder / "log"
        with self._log.open("wb") as log:
            out = log if terminal is None else terminal
            self.process = subprocess.Popen(
                [BIN / command[0], *command[1:]] if (BIN / command[0]).exists() else command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=terminal is not None,
                preexec_fn=None if terminal is None else lambda: owns(terminal),
            )

    @property
    def out(self) -> Path:
        return next((self.folder / "runs").iterdir())

    @property
    def said(self) -> str:
        return self._log.read_text()

    def has_noted(self, event: str) -> bool:
        return any(f'"event": "{event}"' in path.read_text() for path in self.folder.glob("runs/*/cluster.jsonl"))

    def wait(self, what: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not what():
            assert time.monotonic() < deadline, self.said
            time.sleep(0.05)

    def outcomes(self) -> list[str]:
        return sorted(str(record.outcome) for record in run_folder.turns(self.out))

    def summary(self) -> dict[str, Any]:
        values: dict[str, Any] = json.loads((self.out / "summary.json").read_text())
        return values

    def assert_ends(self, status: int) -> None:
        """With 4 in the place of 0 where the machine was too busy: its terminal may be gone, the summary is not."""
        ended = self.process.wait(PATIENCE_S)
        assert ended == status or (status == 0 and self.is_sound(ended)), self.said

    def is_sound(self, status: int) -> bool:
        return is_sound(status, (self.out / "summary.md").read_text())

    def assert_is_complete(self) -> None:
        assert {path.name for path in self.out.iterdir()} >= {
            "scenario.yaml", "turns.jsonl", "cluster.jsonl", "summary.json", "summary.md", "report.html",
        }  # fmt: skip
        assert len(self.outcomes()) == self._server.asked
        assert sum(self.summary()["outcomes"].values()) == self._server.asked


@contextmanager
def running(folder: Path, server: HeldServer, command: list[str], terminal: int | None = None) -> Iterator[Run]:
    made = Run(folder, server, command, terminal)
    try:
        yield made
    finally:
        made.process.kill()
        made.process.wait()
    assert "Traceback" not in made.said, made.said


# how it is run, the signal, what the process ends with
ONCE = [
    ("the command", COMMAND, signal.SIGINT, 130),
    ("the command, by its supervisor", COMMAND, signal.SIGTERM, 130),
    ("plain Locust, whose own stop timeout is 0 s", PLAIN, signal.SIGINT, 0),
    ("plain Locust, which does not heed it by itself", PLAIN, signal.SIGTERM, 0),
]


@pytest.mark.parametrize(("command", "number", "status"), [pytest.param(*row[1:], id=row[0]) for row in ONCE])
def test_once_drains(command: list[str], number: int, status: int, tmp_path: Path) -> None:
    with held_server(free=30) as server, running(tmp_path, server, command) as run:
        run.wait(lambda: server.held == 2)
        run.process.send_signal(number)
        run.wait(lambda: "stopped once more" in run.said)
        assert run.process.poll() is None, "it waits for the two"
        server.let_end()
        run.assert_ends(status)
        assert set(run.outcomes()) == {"ok"}
        assert server.asked == 30 + 2, "nothing is asked any more"
        run.assert_is_complete()
    assert re.search(r"2 turns open, (60|5\d) s left to end; stopped once more they are cut", run.said)


CLOSED = [
    ("the command, whose line is rewritten there", COMMAND, 130),
    ("plain Locust", PLAIN, 0),
    ("its page", WEB, 0),
]


@pytest.mark.parametrize(("command", "status"), [pytest.param(*row[1:], id=row[0]) for row in CLOSED])
def test_a_closed_terminal_drains_too(command: list[str], status: int, tmp_path: Path) -> None:
    """Nothing can be said there any more, and nobody is left to stop it once more."""
    page(tmp_path)
    ours, theirs = os.openpty()
    with held_server(free=30) as server, running(tmp_path, server, command, theirs) as run:
        os.close(theirs)
        run.wait(lambda: server.held == 2)
        os.close(ours)
        run.wait(lambda: run.has_noted("drain"))
        assert run.process.poll() is None, "it waits for the two"
        server.let_end()
        run.assert_ends(status)
        assert set(run.outcomes()) == {"ok"}
        run.assert_is_complete()


def test_nohup_lets_a_run_go_on(tmp_path: Path) -> None:
    with (
        held_server(free=1_000_000) as server,
        running(tmp_path, server, ["nohup", str(BIN / "locust-agents"), *COMMAND[1:]]) as run,
    ):
        run.wait(lambda: server.asked >= 5)
        run.process.send_signal(signal.SIGHUP)
        asked = server.asked
        run.wait(lambda: server.asked >= asked + 20)
        run.process.send_signal(signal.SIGINT)
        run.assert_ends(130)


@pytest.mark.parametrize(("command", "status"), [(COMMAND, 130), (PLAIN, 0)], ids=["the command", "plain Locust"])
@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_twice_cuts(command: list[str], status: int, second: int, tmp_path: Path) -> None:
    with held_server(free=30) as server, running(tmp_path, server, command) as run:
        run.wait(lambda: server.held == 2)
        run.process.send_signal(signal.SIGINT)
        run.wait(lambda: "stopped once more" in run.said)
        assert run.process.poll() is None, "it waits for the two"
        run.process.send_signal(second)
        run.assert_ends(status)
        assert run.outcomes().count("cut") == 2
        run.assert_is_complete()


def test_twice_cuts_at_the_end_of_the_drain_too(tmp_path: Path) -> None:
    """It drained already, since its time was up: the first interrupt has nothing to begin."""
    command = [*COMMAND, "--set", "duration=5s"]
    with held_server(free=0) as server, running(tmp_path, server, command) as run:
        run.wait(lambda: run.has_noted("drain"))
        run.process.send_signal(signal.SIGINT)
        run.wait(lambda: "stopped once more" in run.said)
        assert run.process.poll() is None
        run.process.send_signal(signal.SIGINT)
        run.assert_ends(130)
        run.assert_is_complete()


def page(folder: Path) -> int:
    """The port on which the page of a run in this folder will be."""
    port = ports.free_ports(1)
    (folder / "locust.conf").write_text(f"web-port = {port}\n")
    return port


def test_the_pages_second_stop_cuts(tmp_path: Path) -> None:
    port = page(tmp_path)
    with held_server(free=30) as server, running(tmp_path, server, WEB) as run:
        run.wait(lambda: server.held == 2)
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(stop, port)
            run.wait(lambda: "stopped once more" in run.said)
            stop(port)
            first.result()
        assert run.outcomes().count("cut") == 2
        run.process.send_signal(signal.SIGTERM)
        run.assert_ends(0)
        run.assert_is_complete()


def test_the_pages_stop_drains(tmp_path: Path) -> None:
    port = page(tmp_path)
    with held_server(free=30) as server, running(tmp_path, server, WEB) as run:
        run.wait(lambda: server.held == 2)
        with ThreadPoolExecutor(1) as pool:
            stopped = pool.submit(stop, port)
            run.wait(lambda: "stopped once more" in run.said)
            server.let_end()
            stopped.result()
        assert set(run.outcomes()) == {"ok"}
        assert sum(run.summary()["outcomes"].values()) == server.asked
        assert run.is_sound(run.summary()["exit_status"])
        time.sleep(0.5)
        assert server.asked == len(run.outcomes()) == 30 + 2, "nothing is asked any more"
        assert run.process.poll() is None, "the page is there for the next Start"
        run.process.send_signal(signal.SIGINT)
        run.assert_ends(0)
        run.assert_is_complete()


def stop(port: int) -> None:
    """As the page's button does."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/stop", method="POST")
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        assert json.load(answer)["success"]
