"""Vitals of real ranks, and in a process that Locust has patched (a child of ours, since patching is for good)."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from locust_agents.cluster.command import LaunchSpec
from locust_agents.cluster.supervisor import Cluster, start
from locust_agents.cluster.tiny import model
from locust_agents.cluster.vitals.guard import Guard
from locust_agents.cluster.vitals.look import Vitals, hosts_of
from tests.integration.test_wedge import endless
from tests.patience import PATIENCE_S

PATCHED = """
import locust
import json, subprocess, threading
from locust_agents.cluster.vitals.guard import Guard
from locust_agents.cluster.vitals.memory_sample import Host
from locust_agents.cluster.vitals.look import Vitals

notes, others, answer = [], [], threading.Event()

def run(command):
    subprocess.run(["sleep", "0.05"], check=True)
    answer.wait()
    return "FreeBSD\\n41 1000\\n"

vitals = Vitals(lambda: [Host("mac2", {1: 41}, run)], {}, Guard(), lambda event, _: notes.append(event))
vitals.tick()
before = list(notes)
threading.Thread(target=others.append, args=("ran",)).start()
while not others:
    threading.Event().wait(0.01)
answer.set()
while not notes:
    threading.Event().wait(0.01)
    vitals.tick()
print(json.dumps([before, others, notes, vitals.peaks().memory[1]]))
"""


def test_in_a_patched_process_a_slow_host_holds_up_nobody() -> None:
    child = subprocess.run(
        [sys.executable, "-c", PATCHED], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert child.returncode == 0, child.stderr
    assert json.loads(child.stdout) == [[], ["ran"], ["memory"], 1_024_000]


class Notes:
    """cluster.jsonl, as a list."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, event: str, fields: Any) -> None:
        self.lines.append((event, json.loads(json.dumps(fields))))

    def of(self, event: str) -> list[dict[str, Any]]:
        return [fields for name, fields in self.lines if name == event]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Path]]:
    folder = tmp_path_factory.mktemp("vitals")
    spec = LaunchSpec("tiny", options={"prefill-step-size": 128}, ready_s=PATIENCE_S)
    cluster = start(spec, model.ensure("tiny", print), folder, print, lambda *_: None)
    try:
        yield cluster, folder
    finally:
        cluster.stop()


@pytest.fixture
def watched(served: tuple[Cluster, Path]) -> Iterator[tuple[Vitals, Notes, str]]:
    cluster, folder = served
    notes = Notes()
    logs = {rank: folder / f"rank-{rank}.log" for rank in (0, 1)}
    vitals = Vitals(lambda: hosts_of(cluster.processes(), {}), logs, Guard(10**12, "critical"), notes)
    yield vitals, notes, cluster.url
    vitals.close()


def ask(url: str, words: int, leave: bool = False, **fields: object) -> None:
    """A streamed turn, whole, or left after its first bytes."""
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE_S)
    message = {"role": "user", "content": f"{words} " + "value " * words}
    body = {"model": "default_model", "messages": [message], "stream": True, **fields}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    response = connection.getresponse()
    response.read1(100) if leave else response.read()
    response.close()
    connection.close()


def tick_until(vitals: Vitals, seen: Callable[[], object]) -> None:
    patience_s = time.monotonic() + PATIENCE_S
    while not seen():
        assert time.monotonic() < patience_s
        finding = vitals.tick()
        assert (finding.failure, finding.untrusted) == (None, None)
        time.sleep(0.02)


def test_two_ranks_are_heard_and_weighed(watched: tuple[Vitals, Notes, str]) -> None:
    vitals, notes, url = watched
    turns = threading.Thread(target=ask, args=(url, 600), kwargs={"max_tokens": 4})
    turns.start()
    tick_until(vitals, lambda: not turns.is_alive() and all(map(notes.of, ("cache", "memory", "prefill"))))
    turns.join()
    found = vitals.peaks()
    assert found.memory.keys() == {0, 1}
    assert all(10**7 < used < 10**11 for used in found.memory.values())
    assert found.cache_sequences is not None
    assert found.cache_sequences >= 1
    assert set(notes.of("cache")[-1]["by_type"]) == {"assistant", "user", "system"}
    assert all(fields["done"] <= fields["total"] for fields in notes.of("prefill"))
    assert notes.of("prefill")


def test_a_client_that_leaves_is_told_from_a_fault(watched: tuple[Vitals, Notes, str]) -> None:
    vitals, notes, url = watched
    ask(url, 1500, leave=True, **endless(model.ensure("tiny", print)))
    tick_until(vitals, lambda: notes.of("traceback"))
    assert [fields["client_left"] for fields in notes.of("traceback")] == [True]
    assert vitals.peaks().tracebacks == 0
