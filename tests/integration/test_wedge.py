"""Two real ranks that hang for a reason that is known, and the watch that says so; slow ones that do not hang."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from locust_agents.answers.stream import StreamReader
from locust_agents.cluster import health
from locust_agents.cluster.command import LaunchSpec
from locust_agents.cluster.crew import ProcessRecord, is_alive
from locust_agents.cluster.policy import Health
from locust_agents.cluster.replay import ReplayServer, Script
from locust_agents.cluster.supervisor import Cluster, start
from locust_agents.cluster.tiny import model as tiny_model
from locust_agents.cluster.watch.look import EndedLook, OpenLook, Rules
from locust_agents.cluster.watch.turns import open_look, unusual_fields
from locust_agents.cluster.watch.watcher import Watched, Watcher
from locust_agents.outcome import Outcome
from tests.patience import PATIENCE_S

MODEL = "default_model"
STEP = 128
GUARD_S = 120.0

UNDER_GEVENT = """
import locust
import sys
import gevent
from time import perf_counter
from locust_agents.cluster.watch.look import OpenLook, Rules
from locust_agents.cluster.watch.watcher import Watched, Watcher

ticks = 0

def tick():
    global ticks
    while True:
        ticks += 1
        gevent.sleep(0.001)

turns = [OpenLook("a", "a#0", 0, "first", perf_counter())]
watched = Watched(sys.argv[1], "default_model", rules=Rules(silence_s=0.0))
watcher = Watcher(watched, lambda: turns, lambda *_: None)
gevent.spawn(tick)
gevent.sleep(0)
during = []
for _ in range(4):
    before = ticks
    assert watcher.look() is None
    during.append(ticks - before)
print(min(during), max(during))
"""


@dataclass
class Client:
    """A streamed request over a bare socket, read only when it is asked to; it can be dropped at any moment."""

    url: str
    agent: str
    fields: Mapping[str, object]
    clock: Callable[[], float]

    def __post_init__(self) -> None:
        self.started_s = self.clock()
        parts = urlsplit(self.url)
        body = json.dumps({"model": MODEL, "stream": True, **self.fields}).encode()
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=GUARD_S)
        head = f"POST /v1/chat/completions HTTP/1.0\r\nContent-Length: {len(body)}\r\n\r\n"
        self.socket.sendall(head.encode() + body)
        self.sent_s = self.clock()
        self.socket.setblocking(False)
        self.reader = StreamReader()
        self.headers_s: float | None = None
        self.is_over = False
        self._head = b""

    def read(self) -> None:
        """Takes what has come."""
        try:
            while not self.is_over:
                data = self.socket.recv(65536)
                self.is_over = not data
                self._take(data, self.clock() - self.started_s)
        except BlockingIOError:
            return

    def _take(self, data: bytes, at_s: float) -> None:
        if self.headers_s is None:
            self._head += data
            _, blank, data = self._head.partition(b"\r\n\r\n")
            self.headers_s = at_s if blank else None
        if data:
            self.reader.feed(data, at_s)

    def look(self) -> OpenLook:
        self.read()
        unusual = unusual_fields({name: value for name, value in self.fields.items() if name != "messages"}, MODEL)
        session = f"{self.agent}#0"
        who = OpenLook(self.agent, session, 0, "first", self.started_s, self.sent_s, unusual=unusual)
        return open_look(who, self.headers_s, self.reader.answer)

    def drop(self) -> EndedLook:
        """Leaves, as an impatient user does."""
        look = self.look()
        self.socket.close()
        return EndedLook(look, Outcome.ABANDONED, self.clock())


@dataclass
class Swarm:
    """What the conductor would know: the open turns, and what was noted."""

    clients: list[Client] = field(default_factory=list)
    notes: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)
    silent: tuple[OpenLook, ...] = ()
    clock: Callable[[], float] = perf_counter

    def open_turns(self) -> list[OpenLook]:
        looks = [(client, client.look()) for client in self.clients]
        return [*self.silent, *(look for client, look in looks if not client.is_over)]

    def note(self, event: str, fields: Mapping[str, object]) -> None:
        json.dumps(fields)
        self.notes.append((event, fields))

    def events(self) -> list[str]:
        return [event for event, _ in self.notes]

    def ask(self, url: str, agent: str, text: str = "hello", **fields: object) -> Client:
        asked = {"messages": [{"role": "user", "content": text}], "max_tokens": 250, **fields}
        client = Client(url, agent, asked, self.clock)
        self.clients.append(client)
        return client

    def close(self) -> None:
        for client in self.clients:
            client.socket.close()


@pytest.fixture(scope="module")
def model() -> Path:
    return tiny_model.ensure("tiny-long", print)


@pytest.fixture
def cluster(model: Path, tmp_path: Path) -> Iterator[Cluster]:
    spec = LaunchSpec("tiny", options={"prefill-step-size": STEP}, ready_s=PATIENCE_S)
    cluster = start(spec, model, tmp_path, lambda _: None, lambda *_: None)
    try:
        yield cluster
    finally:
        assert cluster.stop() == []
    until(lambda: not any(runs(who) for who in cluster.processes()))


def runs(who: ProcessRecord) -> bool:
    """Whether it is still there, and no zombie that an idle init has not collected."""
    try:
        process = psutil.Process(who.pid)
        return process.create_time() == who.start_time and is_alive(process)
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def swarm() -> Iterator[Swarm]:
    swarm = Swarm()
    yield swarm
    swarm.close()


def until(is_so: Callable[[], bool], pause_s: float = 0.02) -> None:
    patience_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < patience_s
        time.sleep(pause_s)


def streamed(client: Client, chunks: int) -> bool:
    client.read()
    return client.reader.answer.chunks >= chunks


def until_further(client: Client) -> None:
    before = client.look().prefill_done
    until(lambda: client.look().prefill_done != before or streamed(client, 1))


def watching(cluster: Cluster, swarm: Swarm, rules: Rules, with_log: bool = True) -> Watcher:
    log = cluster.log_path(0) if with_log else None
    return Watcher(Watched(cluster.url, MODEL, log, rules=rules), swarm.open_turns, swarm.note)


def unheard(swarm: Swarm) -> Swarm:
    """One whose only turn is never sent: whatever is known then comes from the log and from probes."""
    silent = OpenLook("silent/0.0", "silent/0.0#0", 0, "first", swarm.clock())
    return Swarm(notes=swarm.notes, silent=(silent,), clock=swarm.clock)


def endless(model: Path) -> dict[str, Any]:
    """Fields that keep an answer from ending: on a busy machine it might be over before it is left."""
    ends = json.loads((model / "config.json").read_text())["eos_token_id"]
    return {
        "max_tokens": 50_000,
        "logit_bias": {str(end): -1e4 for end in (ends if isinstance(ends, list) else [ends])},
    }


def verdict_of(watcher: Watcher) -> str:
    """Looks once a second, as a run does."""
    patience_s = time.monotonic() + PATIENCE_S
    while (verdict := watcher.look()) is None:
        assert time.monotonic() < patience_s
        time.sleep(1.0)
    return verdict


@pytest.mark.parametrize("others", ["open", "asked afterwards"])
def test_an_abandoned_seed_hangs_two_ranks_and_is_named(
    model: Path, cluster: Cluster, swarm: Swarm, others: str
) -> None:
    watcher = watching(cluster, swarm, Rules(silence_s=3.0, ranks=2))
    culprit = swarm.ask(cluster.url, "hasty/0.0", seed=7, **endless(model))
    until(lambda: streamed(culprit, 3), pause_s=0.001)
    if others == "open":
        swarm.ask(cluster.url, "patient/0.0")
    watcher.ended(culprit.drop())
    swarm.clients.remove(culprit)
    if others != "open":
        swarm.ask(cluster.url, "patient/0.0")
    verdict = verdict_of(watcher)
    assert verdict.startswith("the server hangs: ")
    assert "stuck in the queue: patient/0.0's turn 0 (first)," in verdict
    assert "it stopped when hasty/0.0's turn 0 (first with seed 7, logit_bias {" in verdict
    assert ") was abandoned in decode: with a seed a request cannot be batched" in verdict
    assert "; send no seed, or let such turns end" in verdict
    told = [event for event in swarm.events() if event != "moving"]
    assert (set(told[:-1]), told[-1]) == ({"quiet"}, "wedge"), "quiet once more where a slow machine went on again"
    assert health.health(cluster.url, PATIENCE_S) is Health.WELL, "it says that all is well, to this day"
    assert cluster.failure() is None, "and its processes are all there"


def test_the_same_abandon_without_a_seed_is_harmless(model: Path, cluster: Cluster, swarm: Swarm) -> None:
    hasty = swarm.ask(cluster.url, "hasty/0.0", **endless(model))
    until(lambda: streamed(hasty, 3), pause_s=0.001)
    swarm.clients.remove(hasty)
    watcher = watching(cluster, unheard(swarm), Rules(silence_s=0.5, patience_s=PATIENCE_S, ranks=2))
    watcher.ended(hasty.drop())
    until(lambda: watcher.look() is not None or swarm.events().count("probe") >= 2, pause_s=0.1)
    assert watcher.look() is None
    assert all(fields["ok"] for event, fields in swarm.notes if event == "probe")
    watcher.close()


class ServersClock:
    """Goes on as the server does, and stands still with the machine: before each look by so much."""

    LOOK_S = 3.0

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_a_long_prefill_that_moves_is_never_called_a_wedge(
    cluster: Cluster, swarm: Swarm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """About 8,000 tokens in steps of 128, others waiting behind it; seen by its stream alone, and by its log alone.

    With a look at every step it lasts 180 s for them, far longer than either would wait.
    """
    clock = swarm.clock = ServersClock()
    monkeypatch.setattr("locust_agents.cluster.watch.watcher.perf_counter", clock)
    giant_text = json.loads(health.ready_body(MODEL, 3_600))["messages"][0]["content"]
    giant = swarm.ask(cluster.url, "giant/0.0", giant_text)
    until(lambda: giant.look().prefill_done is not None)
    for number in range(4):
        swarm.ask(cluster.url, f"small/0.{number}", max_tokens=4)
    by_stream = watching(cluster, swarm, Rules(silence_s=10.0, ranks=2), with_log=False)
    unheard_swarm = replace(unheard(swarm), notes=[])
    by_log = watching(cluster, unheard_swarm, Rules(silence_s=10.0, ranks=2))
    while not streamed(giant, 1):
        until_further(giant)
        clock.now_s += clock.LOOK_S
        assert by_stream.look() is None
        assert by_log.look() is None
    steps = giant.reader.answer.progress
    assert steps[-1].done == steps[-1].total > 7_000
    assert len(steps) > 50
    assert swarm.events() == [], "its stream was never quiet, and no probe was needed"
    until(lambda: swarm.open_turns() == [])
    assert "wedge" not in unheard_swarm.events()
    monkeypatch.undo()  # to close a watch takes real time
    by_stream.close()
    by_log.close()


def test_a_look_holds_up_no_other_greenlet() -> None:
    with ReplayServer([Script((), ending="hang", headers_s=3000.0)]) as server:
        command = [sys.executable, "-c", UNDER_GEVENT, server.url]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert ended.returncode == 0, ended.stderr
    least, most = map(int, ended.stdout.split())
    assert least >= 1, "the ticker went on during each look"
    assert most > 3, "and all through it, where the machine let it"
