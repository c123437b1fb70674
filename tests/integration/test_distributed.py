"""Plain Locust, master and workers, against a replay server: what was asked is what is recorded, however it ends."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from locust_agents import run_folder
from locust_agents.cluster import ports
from locust_agents.cluster.replay import ReplayServer, chat_stream
from locust_agents.outcome import Outcome
from locust_agents.records import TurnRecord
from tests.integration.held_server import held_server
from tests.patience import PATIENCE_S, is_sound_run

BIN = Path(sys.executable).parent
LOCUSTFILE = Path(__file__).parents[2] / "locustfiles" / "coding_agents.py"
SHORT = chat_stream(["so ", "it ", "is"], 0.15, 0.05, usage=(400, 0, 3))
LONG = chat_stream(["so ", "it ", "is"], 0.2, 1.5, usage=(400, 0, 3))
ENDLESS = chat_stream(["so ", "it ", "is"], 0.2, 120.0, usage=(400, 0, 3))


def scenario(url: str, drain: str, agents: int = 8) -> str:
    return (
        f"name: distributed\nduration: 300s\ndrain: {drain}\nscale: 0.01\ngaps: {{scale: 0}}\nstart: {{apart: 0s}}\n"
        f"curve: off\nswarm: {{fixer: {{behaviour: fix_failing_test, agents: {agents}}}}}\n"
        f"server: {{attach: '{url}'}}\n"
    )


class Locusts:
    """A master and its workers in a folder; all end with the test."""

    def __init__(self, folder: Path, text: str) -> None:
        self.folder = folder
        self.port = ports.free_ports(1)
        self.started: list[subprocess.Popen[bytes]] = []
        (folder / "s.yaml").write_text(text)

    def master(self, workers: int, *options: str, headless: bool = True) -> "subprocess.Popen[bytes]":
        bind = ["--master-bind-host", "127.0.0.1", "--master-bind-port", str(self.port)]
        ui = ["--headless", "--expect-workers", str(workers)] if headless else []
        return self.start("master", "--scenario", "s.yaml", "--shared-ok", *ui, "--master", *bind, *options)

    def worker(self) -> "subprocess.Popen[bytes]":
        return self.start("worker", "--worker", "--master-port", str(self.port))

    def start(self, name: str, *arguments: str) -> "subprocess.Popen[bytes]":
        with (self.folder / f"{len(self.started)}-{name}.log").open("wb") as log:
            started = subprocess.Popen(
                [str(BIN / "locust"), "-f", str(LOCUSTFILE), *arguments],
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
        self.started.append(started)
        return started

    def said(self) -> str:
        return "\n".join(path.read_text() for path in sorted(self.folder.glob("*.log")))

    def wait(self, what: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not what():
            assert time.monotonic() < deadline, self.said()
            time.sleep(0.05)

    def out(self) -> Path:
        """The folder of the last run."""
        return max((self.folder / "runs").iterdir())

    def wait_for_turns(self, server: ReplayServer, number: int) -> None:
        """So many turns, and what is asked before the first of them is over."""
        self.wait(lambda: any(self.folder.glob("runs/*/cluster.jsonl")) and asked(server, self.out()) >= number)

    def wait_for_both(self, server: ReplayServer) -> None:
        """Agents of both workers have asked."""
        self.wait(lambda: len(askers(server)) == 2)


@contextmanager
def locusts(folder: Path, text: str) -> Iterator[Locusts]:
    made = Locusts(folder, text)
    try:
        yield made
    finally:
        for process in made.started:
            process.kill()
            process.wait()
    assert "Traceback" not in made.said(), made.said()


def asked(server: ReplayServer, out: Path) -> int:
    """The turns that the server saw; what the run asked before its first one is in cluster.jsonl."""
    notes = [json.loads(line) for line in (out / "cluster.jsonl").read_text().splitlines()]
    if not any(note["event"] == "load" for note in notes):
        return 0
    posted = sum(request.method == "POST" for request in server.requests())
    return posted - [note["event"] for note in notes].count("calibration")


def askers(server: ReplayServer) -> set[str]:
    """The workers whose agents have asked, as sessions are named after them: `fixer/1` of `fixer/1.0#0`."""
    sessions = (request.headers.get("x-session-id", "") for request in server.requests())
    return {session.partition(".")[0] for session in sessions if "#" in session}


def summary(out: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((out / "summary.json").read_text())
    return values


def sent(out: Path) -> list[TurnRecord]:
    return [record for record in run_folder.turns(out) if record.sent_s is not None]


def assert_each_once(records: Sequence[TurnRecord]) -> None:
    turns = Counter((record.session, record.turn, record.attempt) for record in records)
    assert [turn for turn, times in turns.items() if times > 1] == []


def nothing_is_left(folder: Path) -> bool:
    """No process runs in this folder any more."""

    def is_here(process: psutil.Process) -> bool:
        try:
            return Path(process.cwd()) == folder and process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False

    return not any(map(is_here, psutil.process_iter()))


# seed of the moment, how it is stopped, how long turns may go on: with a minute all end in it, else not always
STOPS = [
    (1, signal.SIGINT, "60s"),
    (2, signal.SIGTERM, "300ms"),
    (3, signal.SIGINT, "cut"),
    (4, signal.SIGTERM, "60s"),
    (5, signal.SIGINT, "1s"),
]


@pytest.mark.parametrize(("seed", "number", "drain"), STOPS)
def test_stopped_at_a_random_moment(seed: int, number: signal.Signals, drain: str, tmp_path: Path) -> None:
    script = random.Random(seed)
    with ReplayServer([*[SHORT] * 60, LONG]) as server, locusts(tmp_path, scenario(server.url, drain)) as running:
        master = running.master(2)
        workers = [running.worker(), running.worker()]
        running.wait_for_both(server)
        time.sleep(script.uniform(0.0, 2.5))
        master.send_signal(number)
        master.wait(PATIENCE_S)
        assert [worker.wait(PATIENCE_S) for worker in workers] == [0, 0], running.said()
        records = sent(running.out())
        assert len(records) == asked(server, running.out()), running.said()
    assert_each_once(records)
    assert {record.worker for record in records} == {0, 1}
    assert {record.outcome for record in records} <= {Outcome.OK, Outcome.CUT}
    if drain == "60s":
        assert {record.outcome for record in records} == {Outcome.OK}, "every open turn had time to end"
    # test_stop comes before the last reports: the summary has them all the same
    assert sum(summary(running.out())["outcomes"].values()) == len(list(run_folder.turns(running.out())))
    assert summary(running.out())["trust"]["witness"]["lost"] == 0
    running.wait(lambda: nothing_is_left(tmp_path))


def test_a_worker_that_is_killed_costs_its_open_turns_and_no_more(tmp_path: Path) -> None:
    with held_server(free=16) as server, locusts(tmp_path, scenario(server.url, "60s")) as running:
        master = running.master(2)
        killed, other = running.worker(), running.worker()
        running.wait(lambda: server.held == 8 and len(sent(running.out())) == 16)
        master.send_signal(signal.SIGTERM)
        # with all that ended before in its file, those eight are the last ones: nothing is on its way to the master
        running.wait(lambda: "stopping: 8 turns open" in running.said())
        killed.kill()
        killed.wait()
        server.let_end()
        status = master.wait(PATIENCE_S)
        assert other.wait(PATIENCE_S) == 0
        out, printed = running.out(), running.said()
        records = sent(out)
    assert summary(out)["trust"]["witness"]["lost"] == 4, "the open turns of four agents"
    assert server.asked == 16 + 8 == len(records) + 4, printed
    assert_each_once(records)
    assert status == 4, printed
    assert "turns lost: 4 at least" in printed
    assert "4 turns" in summary(out)["untrusted"]


def test_workers_of_a_master_that_was_killed_end_by_themselves(tmp_path: Path) -> None:
    with (
        ReplayServer([*[SHORT] * 60, ENDLESS]) as server,
        locusts(tmp_path, scenario(server.url, "60s", agents=2)) as running,
    ):
        master, worker = running.master(1), running.worker()
        running.wait_for_turns(server, 4)
        master.kill()
        master.wait()
        worker.wait(PATIENCE_S)
        assert "the master of this run is gone" in running.said()


def test_an_orphan_takes_no_part_in_the_next_run(tmp_path: Path) -> None:
    with ReplayServer([SHORT]) as server, locusts(tmp_path, scenario(server.url, "60s", agents=2)) as running:
        first, orphan = running.master(1), running.worker()
        running.wait_for_turns(server, 4)
        first.kill()
        first.wait()
        before = running.out()
        second, own = running.master(1), running.worker()
        orphan.wait(PATIENCE_S)
        assert second.poll() is None, "the orphan went because the new master said so"
        running.wait(lambda: running.out() != before and (running.out() / "turns.jsonl").is_file())
        running.wait(lambda: any(run_folder.turns(running.out())))
        second.send_signal(signal.SIGINT)
        status = second.wait(PATIENCE_S)
        assert own.wait(PATIENCE_S) == 0
        out = running.out()
        assert status == summary(out)["exit_status"], running.said()
        assert is_sound_run(summary(out))
        assert {record.run for record in run_folder.turns(out)} == {out.name}
        assert {record.outcome for record in run_folder.turns(out)} == {Outcome.OK}
        assert summary(out)["missing"] is None


def test_ctrl_c_reaches_all_of_a_terminal_and_drains(tmp_path: Path) -> None:
    """Locust's own --processes: the terminal sends the interrupt to the master and to each worker."""
    with ReplayServer([SHORT]) as server, locusts(tmp_path, scenario(server.url, "60s", agents=4)) as running:
        bind = ["--master-bind-port", str(running.port), "--master-port", str(running.port)]
        with (tmp_path / "all.log").open("wb") as log:
            command = [str(BIN / "locust"), "-f", str(LOCUSTFILE), "--scenario", "s.yaml", "--headless"]
            group = subprocess.Popen(
                [*command, "--processes", "2", *bind],
                cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        running.started.append(group)
        running.wait_for_both(server)
        running.wait_for_turns(server, 8)
        os.killpg(group.pid, signal.SIGINT)
        group.wait(PATIENCE_S)
        out = running.out()
        running.wait(lambda: nothing_is_left(tmp_path))
        records = sent(out)
        assert len(records) == asked(server, out), running.said()
    assert_each_once(records)
    assert {record.outcome for record in records} == {Outcome.OK}
    assert {record.worker for record in records} == {0, 1}
