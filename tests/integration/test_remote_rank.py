"""Two ranks, one of them over a real ssh to a real sshd: up, through a turn, and down again, whatever ends them."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from locust_agents.cluster import ports, process_list, stop_command
from locust_agents.cluster.command import LaunchSpec
from locust_agents.cluster.crew import is_alive
from locust_agents.cluster.hosts.hostfile import demand
from locust_agents.cluster.process_list import ProcessRecord
from locust_agents.cluster.remote import end as remote_end
from locust_agents.cluster.remote.line import Line
from locust_agents.cluster.remote.ranks import RemoteRanks
from locust_agents.cluster.supervisor import Cluster, start
from locust_agents.cluster.tiny import model as tiny_model
from tests.integration.real_sshd import ADDRESS, NAME, FarHost, far_host
from tests.patience import PATIENCE_S

DRIVER = """
import json, sys, time
mode, model, folder, hostfile, port, starting_port = sys.argv[1:7]
if mode == "locust":
    import locust
from pathlib import Path
from locust_agents.cluster.command import LaunchSpec
from locust_agents.cluster.hosts.hostfile import demand
from locust_agents.cluster.supervisor import start

spec = LaunchSpec("tiny", options={"prefill-step-size": 128}, ready_s=300, python=sys.executable,
                  hostfile=demand(Path(hostfile), "ring", ()), port=int(port), starting_port=int(starting_port))
cluster = start(spec, Path(model), Path(folder), lambda _: None, lambda *_: None)
try:
    print(json.dumps({"url": cluster.url}), flush=True)
    while cluster.failure() is None:
        time.sleep(0.1)
finally:
    print(json.dumps({"unsure": cluster.stop(), "failure": cluster.failure()}), flush=True)
"""

Notes = list[tuple[str, Mapping[str, object]]]


@dataclass
class Place:
    """Where a cluster of two hosts runs, and what it noted."""

    host: FarHost
    model: Path
    folder: Path
    hostfile: Path
    port: int
    others: list[psutil.Process]
    """The connections that were there before."""
    notes: Notes = field(default_factory=list)
    started: list[Cluster] = field(default_factory=list)

    def start(self, **changes: object) -> Cluster:
        options = {"options": {"prefill-step-size": 128}, "ready_s": PATIENCE_S, "python": sys.executable}
        where = {"port": self.port, "starting_port": self.port + 1, "hostfile": demand(self.hostfile, "ring", ())}
        spec = LaunchSpec("tiny", **options, **where, **changes)  # type: ignore[arg-type]
        self.started.append(start(spec, self.model, self.folder, lambda _: None, lambda *note: self.notes.append(note)))
        return self.started[-1]

    def servers(self) -> list[psutil.Process]:
        """All that serve on our port, wherever, met or not."""
        found = [each for each in psutil.process_iter(["cmdline"]) if str(self.port) in (each.info["cmdline"] or [])]
        return [each for each in found if is_alive(each)]

    def await_none(self) -> None:
        """Fails when after all patience a rank, the launcher, the guardian or a connection is left."""
        patience_s = time.monotonic() + PATIENCE_S
        while left := [*self.servers(), *self.living()]:
            assert time.monotonic() < patience_s, left
            time.sleep(0.05)
        self.host.await_nobody(but=self.others)
        assert ports.port_is_free(self.port)

    def living(self) -> list[int]:
        """The pids of processes.json that run: the far host is this machine after all."""
        return [each.pid for each in process_list.read(self.folder)[0] if runs(each.pid)]

    def end_all(self) -> None:
        """What a test that failed half-way has left would take the machine from all that come after it."""
        for pid in self.living():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def met(self) -> list[ProcessRecord]:
        """Guardian, launcher and both ranks, once all are known: the far one is when its host has answered."""
        until(lambda: not self.is_troubled() and len(process_list.read(self.folder)[0]) == 4)
        return process_list.read(self.folder)[0]

    def is_troubled(self) -> bool:
        """Looks after our clusters as whoever runs one does; one that was stopped on purpose is in no trouble."""
        return any(cluster.failure() is not None for cluster in self.started)

    def far_rank(self) -> ProcessRecord:
        return next(each for each in self.met() if each.ssh)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FarHost]:
    with far_host(tmp_path_factory.mktemp("far") / "host") as host:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", host.path())
            yield host
        host.await_nobody()


@pytest.fixture
def place(host: FarHost, tmp_path: Path) -> Iterator[Place]:
    place = place_for(host, tmp_path)
    yield place
    for cluster in place.started:
        cluster.stop()
    place.end_all()


NEAR_ONE = {"ssh": "127.0.0.1", "ips": ["127.0.0.1"]}
FAR_ONE = {"ssh": NAME, "ips": [ADDRESS]}


def place_for(host: FarHost, folder: Path) -> Place:
    hostfile = folder / "hosts.json"
    hostfile.write_text(json.dumps({"backend": "ring", "hosts": [NEAR_ONE, FAR_ONE]}))
    host.has_our_folders(False)
    model = tiny_model.ensure("tiny", print)
    return Place(host, model, folder / "run", hostfile, ports.free_ports(3), host.sessions())


Shared = tuple[Cluster, Place]


@pytest.fixture(scope="module")
def shared(host: FarHost, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """One server for the tests that look at it; the last one stops it."""
    place = place_for(host, tmp_path_factory.mktemp("shared"))
    cluster = place.start()
    try:
        yield cluster, place
    finally:
        cluster.stop()
        place.end_all()


def demand_answer(cluster: Cluster) -> None:
    parts = urlsplit(cluster.url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE_S)
    body = {"model": "default_model", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 4}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    answer = json.loads(connection.getresponse().read())
    connection.close()
    assert answer["usage"]["completion_tokens"] == 4
    assert cluster.failure() is None


def test_it_answers(shared: Shared) -> None:
    demand_answer(shared[0])


def test_who_is_who(shared: Shared) -> None:
    cluster, place = shared
    place.met()
    entries = json.loads((place.folder / "processes.json").read_text())
    assert [(each["role"], each["rank"], each["ssh"]) for each in entries] == [
        ("guardian", None, None),
        ("launcher", None, None),
        ("rank", 0, None),
        ("rank", 1, NAME),
    ]
    record = place.far_rank()
    rank_1 = psutil.Process(record.pid)
    assert rank_1.environ()["MLX_RANK"] == "1"
    assert record.is_same(rank_1.create_time())
    assert record in cluster.processes()
    assert not (place.folder / "rank-1.log").exists()
    assert any(f"rank 1 pid {record.pid}" in line for line in cluster.log_tail(1))


def test_the_launcher_is_quiet(shared: Shared) -> None:
    """Though ssh takes far more of what it is fed than the pipe of a rank of this machine: by processor time."""
    launcher = psutil.Process(next(who.pid for who in shared[0].processes() if who.role == "launcher"))
    before, began_s = launcher.cpu_times(), time.monotonic()
    time.sleep(1.0)
    after, lasted_s = launcher.cpu_times(), time.monotonic() - began_s
    assert after.user + after.system - before.user - before.system < 0.1 * lasted_s


def test_a_lost_line_is_noted_and_made_again(shared: Shared) -> None:
    cluster, place = shared
    place.met()  # which is known over that line
    [line] = place.host.kept_lines()
    line.kill()
    until(lambda: cluster.failure() is None and ("ssh_lost" in dict(place.notes)) and place.host.kept_lines())
    assert dict(place.notes)["ssh_lost"]["host"] == NAME
    assert cluster.failure() is None


def test_it_stops_last(shared: Shared) -> None:
    cluster, place = shared
    assert cluster.stop() == []
    place.await_none()
    assert [event for event, _ in place.notes] == ["launch", "ready", "ssh_lost", "stop"]
    records, ended = process_list.read(place.folder)
    assert len(records) == 4
    assert ended == set(records)


def test_a_rank_that_sees_our_folder_logs_there(place: Place) -> None:
    place.host.has_our_folders(True)
    cluster = place.start()
    assert (place.folder / "rank-1.log").read_text().startswith(f"pid {place.far_rank().pid}\n")
    assert cluster.stop() == []
    place.await_none()


def test_rank_0_may_be_the_far_one(place: Place) -> None:
    place.hostfile.write_text(json.dumps({"hosts": [FAR_ONE, NEAR_ONE]}))
    cluster = place.start()
    assert urlsplit(cluster.url).hostname == ADDRESS
    demand_answer(cluster)
    assert place.far_rank().rank == 0
    assert any("Starting httpd" in line for line in cluster.log_tail(0))
    assert cluster.stop() == []
    place.await_none()


def end_rank(place: Place) -> None:
    os.kill(place.far_rank().pid, signal.SIGKILL)


def end_connection(place: Place) -> None:
    place.host.session_of(place.far_rank().pid).kill()


@pytest.mark.parametrize("end", [end_rank, end_connection])
def test_the_end_of_the_far_rank_is_named(place: Place, end: Callable[[Place], None]) -> None:
    cluster = place.start()
    end(place)
    until(lambda: cluster.failure() is not None)
    text = cluster.failure()
    assert text
    assert text.startswith("rank 1 was ended by a signal, or its ssh connection broke (ssh exited with code 255)"), text
    assert cluster.culprit == 1
    assert cluster.stop() == []
    place.await_none()


def test_the_end_of_the_near_rank_is_not_laid_on_the_far_one(place: Place) -> None:
    cluster = place.start()
    os.kill(next(who.pid for who in cluster.processes() if who.rank == 0), signal.SIGKILL)
    until(lambda: cluster.failure() is not None)
    assert str(cluster.failure()).startswith("rank 0 was ended by SIGKILL")
    assert cluster.stop() == []
    place.await_none()


@contextmanager
def driver(mode: str, place: Place) -> Iterator[subprocess.Popen[str]]:
    """Another process of ours that runs the cluster, once that is up."""
    words = [place.model, place.folder, place.hostfile, place.port, place.port + 1]
    argv = [sys.executable, "-c", DRIVER, mode, *map(str, words)]
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            assert process.stdout
            assert "url" in process.stdout.readline(), process.stderr and process.stderr.read()
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("mode", ["plain", "locust"])
def test_our_own_sigkill_leaves_nobody(place: Place, mode: str) -> None:
    with driver(mode, place) as process:
        assert place.living() == [each.pid for each in place.met()]
        process.kill()
        process.wait(PATIENCE_S)
    place.await_none()


def test_an_interrupt_under_locust(place: Place) -> None:
    """As by Ctrl-C in a terminal, which its whole group gets. The line to the host is read in a patched process too."""
    with driver("locust", place) as process:
        place.met()
        os.killpg(process.pid, signal.SIGINT)
        assert process.stdout
        assert json.loads(process.stdout.readline()) == {"unsure": [], "failure": None}
        process.wait(PATIENCE_S)
    place.await_none()


def test_stop_after_the_guardian_was_killed_with_us(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    with driver("plain", place) as process:
        guardian, *others = place.met()
        for end in (psutil.Process(guardian.pid), process):
            end.kill()
        process.wait(PATIENCE_S)
    until(lambda: guardian.pid not in place.living())  # who was killed runs on until the kernel gets to it
    assert place.living() == [each.pid for each in others]
    assert stop_command.main([str(place.folder)]) == 0
    place.await_none()
    told = capsys.readouterr().out.splitlines()
    assert told == [
        f"{place.folder}: guardian (pid {guardian.pid}) had ended before",
        f"{place.folder}: launcher (pid {others[0].pid}) ended",
        f"{place.folder}: rank 0 (pid {others[1].pid}) ended",
        f"{place.folder}: rank 1 (pid {others[2].pid}) on {NAME} ended",
    ]
    assert stop_command.main([str(place.folder)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "nothing of ours runs"


def test_a_host_that_is_gone_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with far_host(tmp_path / "host") as host:
        monkeypatch.setenv("PATH", host.path())
        place = place_for(host, tmp_path)
        try:
            cluster = place.start()
            rank_1 = place.far_rank()
            host.die()
            until(lambda: cluster.failure() is not None)
            [unsure] = cluster.stop()
        finally:
            place.end_all()
    assert unsure.startswith(f"rank 1 (pid {rank_1.pid}) on {NAME} may still run: {NAME} does not answer")
    assert "Connection refused" in unsure
    assert stop_command.main([str(place.folder)]) == 3


def test_a_far_rank_that_is_deaf_to_all_but_sigkill(host: FarHost, tmp_path: Path) -> None:
    deaf = "trap '' HUP TERM; echo rank 0 pid $$; while :; do :; done"
    notes: Notes = []
    others = host.sessions()
    with (tmp_path / "launcher.log").open("wb") as log:
        ranks = RemoteRanks(tmp_path, (NAME,), lambda *note: notes.append(note))
        argv = ("ssh", "-tt", NAME, deaf)
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.DEVNULL) as ssh:
            try:
                until(lambda: bool(ranks.look()))
            finally:
                ssh.kill()
    record = ranks.records[0]
    line = Line(NAME)
    try:
        until(lambda: remote_end.spinning(line, record) > 0)  # ps counts whole seconds, and others want the core too
        assert remote_end.alive(line, record)
        assert ranks.missing() == set()
        assert ranks.end(grace_s=0.2) == []
        assert remote_end.alive(line, record) is None
    finally:
        line.close()
        with suppress(ProcessLookupError):
            os.kill(record.pid, signal.SIGKILL)
    assert ranks.missing() == {0}
    assert notes == []
    host.await_nobody(but=others)


def runs(pid: int) -> bool:
    try:
        return is_alive(psutil.Process(pid))
    except psutil.NoSuchProcess:
        return False


def until(is_so: Callable[[], object]) -> None:
    patience_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < patience_s
        time.sleep(0.1)
