"""Real servers of two ranks: up, through a turn, and down again, whatever ends them."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from locust_agents.cluster import policy, ports
from locust_agents.cluster.command import LaunchSpec
from locust_agents.cluster.crew import is_alive
from locust_agents.cluster.supervisor import Cluster, start
from locust_agents.cluster.tiny import model as tiny_model
from locust_agents.errors import ClusterError
from tests.patience import PATIENCE_S

OPTIONS = {"prefill-step-size": 128}

DRIVER = """
import json, sys, threading, time
mode, model, folder = sys.argv[1:4]
if mode != "plain":
    import locust
from pathlib import Path
from locust_agents.cluster.command import LaunchSpec
from locust_agents.cluster.supervisor import start

loads = threading.Event()

def run():
    def say(line):
        loads.set()
        print(json.dumps({"said": line}), flush=True)
    spec = LaunchSpec("tiny", options={"prefill-step-size": 128}, ready_s=300)
    cluster = start(spec, Path(model), Path(folder), say, lambda *_: None)
    try:
        print(json.dumps({"url": cluster.url}), flush=True)  # whoever reads it may interrupt us at once
        while cluster.failure() is None:
            time.sleep(0.1)
    finally:
        unsure = cluster.stop()
        print(json.dumps({"failure": cluster.failure(), "unsure": unsure}), flush=True)

if mode == "greenlet":
    import gevent
    starter = gevent.spawn(run)
    loads.wait()
    starter.kill()
    print(json.dumps({"dead": starter.dead}), flush=True)
else:
    run()
"""


@dataclass
class Heard:
    """What a start said and noted."""

    lines: list[str] = field(default_factory=list)
    notes: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)

    def note(self, event: str, fields: Mapping[str, object]) -> None:
        json.dumps(fields)
        self.notes.append((event, fields))

    def events(self) -> list[str]:
        return [event for event, _ in self.notes]


@pytest.fixture(scope="session")
def model() -> Path:
    return tiny_model.ensure("tiny", print)


@pytest.fixture(autouse=True)
def _a_launcher_may_be_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has all patience to write down how a rank ended: on a busy machine it may not come to that within seconds."""
    monkeypatch.setattr(policy, "GRACE_S", PATIENCE_S)


def up(model: Path, folder: Path, heard: Heard, **changes: object) -> Cluster:
    spec = LaunchSpec("tiny", **{"options": OPTIONS, "ready_s": PATIENCE_S, **changes})  # type: ignore[arg-type]
    return start(spec, model, folder, heard.lines.append, heard.note)


def people(folder: Path) -> list[psutil.Process]:
    """Everybody in processes.json who still is the process that was started."""
    found = []
    for entry in json.loads((folder / "processes.json").read_text()):
        with suppress(psutil.NoSuchProcess):  # it may end as we look
            process = psutil.Process(entry["pid"])
            found += [process] if process.create_time() == entry["start_time"] else []
    return found


def await_none(folder: Path, url: str | None = None) -> None:
    """Fails when, after all patience, a process is left or the port is held."""
    patience_s = time.monotonic() + PATIENCE_S
    while left := [each for each in people(folder) if is_alive(each)]:
        assert time.monotonic() < patience_s, left
        time.sleep(0.05)
    assert serving_from(folder) == []
    assert url is None or ports.port_is_free(urlsplit(url).port or 0)


def serving_from(folder: Path) -> list[psutil.Process]:
    """Whoever names the folder in its command line, met or not."""
    found = psutil.process_iter(["cmdline"])
    return [each for each in found if f"LOCUST_AGENTS_LOGS={folder}" in (each.info["cmdline"] or [])]


@pytest.fixture(scope="module")
def cluster(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Path, Heard]]:
    """One server for all tests that only look at it; its folder's name would trip a careless shell."""
    folder = tmp_path_factory.mktemp("odd") / 'the run\'s "folder" $HOME'
    heard = Heard()
    cluster = up(model, folder, heard)
    try:
        yield cluster, folder, heard
    finally:
        cluster.stop()


Shared = tuple[Cluster, Path, Heard]


def test_it_answers(cluster: Shared) -> None:
    parts = urlsplit(cluster[0].url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE_S)
    body = {"model": "default_model", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 4}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    answer = json.loads(connection.getresponse().read())
    connection.close()
    assert answer["usage"]["completion_tokens"] == 4
    assert cluster[0].failure() is None


def test_what_it_said_and_noted(cluster: Shared) -> None:
    _, _, heard = cluster
    assert heard.lines
    assert all(line.startswith("the server ") and " s" in line for line in heard.lines)
    assert heard.events() == ["launch", "ready"]
    assert heard.notes[1][1]["prompt_tokens"] >= 2 * OPTIONS["prefill-step-size"]  # type: ignore[operator]


def test_who_is_who(cluster: Shared) -> None:
    running, folder, _ = cluster
    assert [(who.role, who.rank) for who in running.processes()][:2] == [("guardian", None), ("launcher", None)]
    assert sorted(who.rank for who in running.processes() if who.rank is not None) == [0, 1]
    assert len(people(folder)) == 4
    for who in running.processes():
        assert os.getsid(who.pid) != os.getsid(0)
        if who.rank is not None:
            assert psutil.Process(who.pid).environ()["MLX_RANK"] == str(who.rank)


def test_each_rank_has_its_log(cluster: Shared) -> None:
    running, _, _ = cluster
    assert ["Starting httpd" in running.log_path(rank).read_text() for rank in (0, 1)] == [True, False]
    for rank in (0, 1):
        tail = running.log_tail(rank)
        assert tail
        assert tail[-1] in running.log_path(rank).read_text()
    assert running.log_tail(None) == ()


def test_the_launcher_is_quiet(cluster: Shared) -> None:
    """A launcher whose pipes have room burns a whole core: measured as processor time, not as time on a wall."""
    launcher = psutil.Process(next(who.pid for who in cluster[0].processes() if who.role == "launcher"))
    before = launcher.cpu_times()
    time.sleep(1.0)
    after = launcher.cpu_times()
    assert after.user + after.system - before.user - before.system < 0.1


def test_a_second_server_on_its_port(cluster: Shared, model: Path, tmp_path: Path) -> None:
    port = urlsplit(cluster[0].url).port
    with pytest.raises(ClusterError, match=rf"^port {port} is in use by python.* \(pid \d+\)"):
        up(model, tmp_path, Heard(), port=port)
    assert list(tmp_path.iterdir()) == []


def test_it_stops_last(cluster: Shared) -> None:
    running, folder, heard = cluster
    assert running.stop() == []
    assert running.stop() == []
    assert running.failure() is None
    assert heard.events() == ["launch", "ready", "stop"]
    await_none(folder, running.url)


def test_a_killed_rank_is_named(model: Path, tmp_path: Path) -> None:
    heard = Heard()
    cluster = up(model, tmp_path, heard)
    os.kill(next(who.pid for who in cluster.processes() if who.rank == 1), signal.SIGKILL)
    text = await_failure(cluster)
    assert text.startswith("rank 1 was ended by SIGKILL")
    assert text.endswith(f"its log is {tmp_path / 'rank-1.log'}")
    assert cluster.culprit == 1
    assert cluster.failure() == text
    assert cluster.stop() == []
    assert heard.events() == ["launch", "ready", "death", "stop"]
    await_none(tmp_path, cluster.url)


def test_a_killed_guardian_is_noticed(model: Path, tmp_path: Path) -> None:
    cluster = up(model, tmp_path, Heard())
    os.kill(next(who.pid for who in cluster.processes() if who.role == "guardian"), signal.SIGKILL)
    assert "the guardian process" in await_failure(cluster)
    assert len([each for each in people(tmp_path) if is_alive(each)]) == 3
    assert cluster.stop() == []
    await_none(tmp_path, cluster.url)


def test_one_rank_alone(model: Path, tmp_path: Path) -> None:
    cluster = up(model, tmp_path, Heard(), ranks=1)
    assert [who.rank for who in cluster.processes()] == [None, None, 0]
    assert cluster.stop() == []
    await_none(tmp_path, cluster.url)


def await_failure(cluster: Cluster) -> str:
    patience_s = time.monotonic() + PATIENCE_S
    while (text := cluster.failure()) is None:
        assert time.monotonic() < patience_s
        time.sleep(0.1)
    return text


def broken(model: Path, folder: Path) -> Path:
    """A copy whose weights are cut off."""
    folder.mkdir()
    for file in model.iterdir():
        data = file.read_bytes()
        (folder / file.name).write_bytes(data[: len(data) // 2] if file.suffix == ".safetensors" else data)
    return folder


@pytest.mark.parametrize(
    ("changes", "text", "remark"),
    [
        ({"options": {"no-such-option": 1}}, "rank .* exited with code 2 .*--no-such-option", "bad option"),
        ({"python": "/no/such/python"}, "rank .* exited with code 127 .*not found", "no Python there"),
        ({"backend": "carrier-pigeon"}, r"mlx.launch exited with code 2 .*backend should be one of", "bad backend"),
        ({"ready_s": 0.3}, "it was not ready after 0.3 s: give it longer", "slow"),
    ],
)
def test_it_does_not_come_up(model: Path, tmp_path: Path, changes: dict[str, object], text: str, remark: str) -> None:
    heard = Heard()
    with pytest.raises(ClusterError, match=f"^the server did not start, {text}") as raised:
        up(model, tmp_path, heard, **changes)
    assert "\n" not in str(raised.value), remark
    assert raised.value.log_tail or remark == "slow"
    assert heard.events() == ["launch", "death", "stop"]
    await_none(tmp_path)


def test_a_broken_model(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"generation thread died.* \(.*safetensors") as raised:
        up(broken(model, tmp_path / "model"), tmp_path / "run", Heard())
    assert any("safetensors" in line for line in raised.value.log_tail)
    await_none(tmp_path / "run")


def test_another_server_takes_the_port_first(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answers must not be taken for ours. Rank 0 itself lives on then, deaf."""
    with HTTPServer(("127.0.0.1", 0), WellBehaved) as other, ThreadPoolExecutor() as pool:
        pool.submit(other.serve_forever, 0.01)
        monkeypatch.setattr(ports, "choose", lambda *_: (other.server_port, ports.free_ports(2)))
        try:
            with pytest.raises(ClusterError, match=r"rank 0 found its port taken \(.*: choose another port"):
                up(model, tmp_path, Heard())
        finally:
            other.shutdown()
    await_none(tmp_path)


def test_no_model(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"^there is no model in .*/nowhere"):
        up(tmp_path / "nowhere", tmp_path / "run", Heard())
    assert not (tmp_path / "run").exists()


class WellBehaved(BaseHTTPRequestHandler):
    """Whoever asks for health gets it."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()


@contextmanager
def driver(mode: str, model: Path, folder: Path) -> Iterator[subprocess.Popen[str]]:
    argv = [sys.executable, "-c", DRIVER, mode, str(model), str(folder)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def heard_from(process: subprocess.Popen[str], key: str) -> object:
    """The next value of that key among the JSON lines it prints."""
    assert process.stdout
    for line in process.stdout:
        if key in (message := json.loads(line)):
            return message[key]
    raise AssertionError(process.stderr.read() if process.stderr else "")


@pytest.mark.parametrize(
    ("mode", "number"),
    [("plain", signal.SIGKILL), ("plain", signal.SIGINT), ("locust", signal.SIGTERM), ("locust", signal.SIGINT)],
)
def test_our_own_end(mode: str, number: signal.Signals, model: Path, tmp_path: Path) -> None:
    with driver(mode, model, tmp_path) as process:
        url = str(heard_from(process, "url"))
        assert len(people(tmp_path)) == 4
        process.send_signal(number)
        if number is signal.SIGINT:
            assert heard_from(process, "unsure") == []
        process.wait(PATIENCE_S)
    await_none(tmp_path, url)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_our_end_while_it_loads(number: signal.Signals, model: Path, tmp_path: Path) -> None:
    with driver("locust", model, tmp_path) as process:
        heard_from(process, "said")
        process.send_signal(number)
        process.wait(PATIENCE_S)
    await_none(tmp_path)


def test_the_end_of_the_greenlet_that_starts_it(model: Path, tmp_path: Path) -> None:
    with driver("greenlet", model, tmp_path) as process:
        assert heard_from(process, "dead") is True
        assert process.wait(PATIENCE_S) == 0
    await_none(tmp_path)
