"""The watch's effects: real probes of a server that replays, with a clock that the test turns."""

import json
import socket
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from locust_agents.cluster.health import probe_body, probe_turn
from locust_agents.cluster.policy import TurnResult
from locust_agents.cluster.replay import ReplayServer, Script, chat_stream
from locust_agents.cluster.watch import watcher
from locust_agents.cluster.watch.look import EndedLook, OpenLook, Rules
from locust_agents.cluster.watch.watcher import Watched, Watcher
from locust_agents.outcome import Outcome
from tests.patience import PATIENCE_S

ALIVE = chat_stream(["yes"], 0.0, 0.0)
HANGS = Script((), ending="hang", headers_s=3000.0)
RULES = Rules(silence_s=20.0, patience_s=7.0, ranks=2)


class Clock:
    """Stands in for perf_counter."""

    now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


class Run:
    """A watcher, the turns that it sees, and what it noted."""

    def __init__(self, url: str, clock: Clock, log: Path | None) -> None:
        self.clock = clock
        self.turns = [OpenLook("a/0.0", "a/0.0#0", 3, "later", clock.now_s)]
        self.notes: list[tuple[str, Mapping[str, object]]] = []
        server = Watched(url, "default_model", log, {"Authorization": "Bearer k"}, RULES)
        self.watcher = Watcher(server, lambda: self.turns, self.note)

    def note(self, event: str, fields: Mapping[str, object]) -> None:
        json.dumps(fields)
        self.notes.append((event, fields))

    def looks(self, *times_s: float) -> list[str | None]:
        """A verdict for each time, in seconds after the start."""
        verdicts = []
        for at_s in times_s:
            self.clock.now_s = 1000.0 + at_s
            verdicts.append(self.watcher.look())
        return verdicts

    def look_until_noted(self, event: str, at_s: float) -> None:
        """Looks again and again, as if no time passed, until a real answer has come."""
        for _ in range(1000):
            if self.looks(at_s) and event in [name for name, _ in self.notes]:
                return
        raise AssertionError(self.notes)

    def events(self) -> str:
        return " ".join(event for event, _ in self.notes)


def wait_for_a_request(server: ReplayServer) -> None:
    """The probe has been read; how long that takes is not the clock's."""
    patience_s = time.monotonic() + PATIENCE_S
    while not server.requests():
        assert time.monotonic() < patience_s
        time.sleep(0.01)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(watcher, "perf_counter", clock)
    return clock


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "rank-0.log"
    path.write_text("Starting httpd\n")
    return path


def test_a_server_that_hangs(clock: Clock, log: Path) -> None:
    with ReplayServer([HANGS]) as server:
        run = Run(server.url, clock, log)
        left = OpenLook("b/0.0", "b/0.0#0", 1, "first", 995.0, phase="decode", unusual=("seed 7",))
        run.watcher.ended(EndedLook(left, Outcome.ABANDONED, 999.5))
        assert run.looks(1, 19.9, 20) == [None] * 3
        wait_for_a_request(server)
        assert run.looks(26.9) == [None]
        [verdict] = run.looks(27)
        assert verdict is not None
        assert verdict.startswith(
            "the server hangs: for 27 s nothing has moved, neither on a stream nor in rank 0's log"
        )
        assert "stuck in the queue: a/0.0's turn 3 (later)" in verdict
        assert "it stopped when b/0.0's turn 1 (first with seed 7) was abandoned" in verdict
        assert run.looks(28, 99) == [verdict, verdict]
        run.watcher.close()
        assert len(server.requests()) == 1
    assert run.events() == "quiet wedge"
    assert run.notes[0][1]["seconds"] == 20.0
    assert run.notes[1][1]["what"] == verdict
    assert run.notes[1][1]["turns"][0]["started_s"] == 27.0, "an age"  # type: ignore[index]


def test_a_server_that_is_only_silent(clock: Clock, log: Path) -> None:
    with ReplayServer([ALIVE]) as server:
        run = Run(server.url, clock, log)
        assert run.looks(1, 20) == [None, None]
        run.look_until_noted("moving", 21)
        assert run.looks(39.9) == [None]
        assert run.events() == "quiet probe moving"
        assert run.notes[1][1]["ok"] is True
        [asked] = server.requests()
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == "Bearer k"
    assert asked.body == probe_body("default_model")
    run.watcher.close()


def test_the_probe_leaves_at_once(clock: Clock, log: Path) -> None:
    with ReplayServer([HANGS]) as server:
        run = Run(server.url, clock, log)
        run.looks(20)
        wait_for_a_request(server)
        run.looks(27)


def test_a_probe_that_was_lost_while_others_moved_is_forgotten(clock: Clock, log: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        run = Run(f"http://127.0.0.1:{server.getsockname()[1]}", clock, log)
        run.looks(20)
        probe, _ = server.accept()
        run.turns = [replace(run.turns[0], moved_s=1020.5)]
        run.looks(20.9)
        probe.close()
        run.look_until_noted("probe", 21)
        assert run.looks(22, 23, 40.5) == [None] * 3
        assert run.events() == "quiet moving probe quiet"
        again, _ = server.accept()
        again.close()
        run.watcher.close()


def test_a_log_that_moves_is_enough(clock: Clock, log: Path) -> None:
    with ReplayServer([HANGS]) as server:
        run = Run(server.url, clock, log)
        for at_s in (10, 25, 40, 55):
            log.write_text(log.read_text() + f"Prompt processing progress: {at_s}/60\n")
            assert run.looks(at_s) == [None]
        assert server.requests() == []
    assert run.notes == []


def test_health_lines_in_the_log_are_no_movement(clock: Clock, log: Path) -> None:
    with ReplayServer([HANGS]) as server:
        run = Run(server.url, clock, log)
        for at_s in (10, 20):
            log.write_text(log.read_text() + '"GET /health HTTP/1.1" 200 -\n')
            assert run.looks(at_s) == [None]
        assert run.events() == "quiet"
        run.looks(27)
        run.watcher.close()


def test_nobody_listens_any_more(clock: Clock) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        run = Run(f"http://127.0.0.1:{taken.getsockname()[1]}", clock, None)
        assert run.looks(1, 20, 21) == [None, None, None]
        [verdict] = run.looks(22)
    assert verdict is not None
    assert verdict.startswith("the server serves no more (stuck in the queue: a/0.0's turn 3 (later)): requests of one")
    assert "refused" in verdict
    assert run.events() == "quiet probe probe wedge"


def test_no_turns_no_probe(clock: Clock, log: Path) -> None:
    with ReplayServer([HANGS]) as server:
        run = Run(server.url, clock, log)
        run.turns = []
        assert run.looks(1, 500, 999) == [None, None, None]
        assert server.requests() == []


def test_close_lets_a_probe_end(clock: Clock, log: Path) -> None:
    with ReplayServer([chat_stream(["yes"], 0.2, 0.0)]) as server:
        run = Run(server.url, clock, log)
        run.looks(1, 20)
        run.watcher.close()
        run.watcher.close()
    assert run.events() == "quiet probe"


def test_probe_body() -> None:
    body = json.loads(probe_body("default_model"))
    assert body.pop("messages")[0]["role"] == "user"
    assert body == {
        "model": "default_model",
        "max_tokens": 1,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


@pytest.mark.parametrize(
    ("script", "ok", "refused", "remark"),
    [
        (ALIVE, True, False, "an answer"),
        (Script(((0.0, b'{"error": "generation thread died"}'),), status=404), False, True, "refused"),
        (Script((), ending="reset"), False, False, "reset"),
        (Script(((0.0, b'data: {"choices": []}\n\n'),)), False, False, "half an answer"),
    ],
)
def test_probe_turn(script: Script, ok: bool, refused: bool, remark: str) -> None:
    with ReplayServer([script]) as server:
        *waits, last = probe_turn(server.url, "m", timeout_s=30.0, tick_s=0.01)
    assert set(waits) <= {None}
    assert last is not None
    assert (last.ok, last.refused) == (ok, refused), remark


def full_backlog() -> Iterator[int]:
    """The port of a listener that accepts nobody: the kernel drops what comes in."""
    with socket.socket() as listener, socket.socket() as first, socket.socket() as second:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for caller in (first, second):
            caller.setblocking(False)
            caller.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


def test_a_host_that_says_nothing_does_not_block_the_caller() -> None:
    for port in full_backlog():
        probe = probe_turn(f"http://127.0.0.1:{port}", "m", timeout_s=30.0, tick_s=0.01)
        assert [next(probe) for _ in range(5)] == [None] * 5
        probe.close()
        *_, last = probe_turn(f"http://127.0.0.1:{port}", "m", timeout_s=0.05, tick_s=0.01)
        assert last == TurnResult(False, "no whole answer in time")
