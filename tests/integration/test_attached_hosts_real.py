"""Memory and the end of a rank on a host of an attached server, over real ssh: sshd on 127.0.0.2 plays that host."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from locust_agents.cluster.attach import Attached
from locust_agents.cluster.remote.attached_hosts import read
from locust_agents.cluster.vitals.guard import Guard
from locust_agents.cluster.vitals.look import Vitals
from tests.integration.real_sshd import NAME, FarHost, far_host
from tests.patience import PATIENCE_S

# Of all that runs on this machine, the host there sees this one process.
PS = '#!/bin/sh\n/bin/ps "$@" | grep -E "^ *{pid} " || :\n'
ELSEWHERE = '#!/bin/sh\nPATH={folder}/far:$PATH exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"\n'


@pytest.fixture
def far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FarHost]:
    with far_host(tmp_path / "sshd") as host:
        monkeypatch.setenv("PATH", host.path())
        yield host


@pytest.fixture
def rank(far: FarHost) -> Iterator["subprocess.Popen[bytes]"]:
    """What could be a rank of mlx_lm.server, by its command line."""
    code = "import time; time.sleep(900)"
    with subprocess.Popen([sys.executable, "-c", code, "-m", "mlx_lm", "server"]) as process:
        (far.folder / "far").mkdir()
        for path, text in (("far/ps", PS.format(pid=process.pid)), ("elsewhere", ELSEWHERE.format(folder=far.folder))):
            (far.folder / path).write_text(text)
            (far.folder / path).chmod(0o755)
        yield process
        process.kill()


def test_memory_and_end_of_a_rank_elsewhere(
    far: FarHost, rank: "subprocess.Popen[bytes]", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("locust_agents.cluster.vitals.memory_gauge.EVERY_S", 0.1)
    hosts_file = tmp_path / "hosts.json"
    hosts_file.write_text(json.dumps({"backend": "ring", "hosts": [{"ssh": NAME, "ips": ["127.0.0.2"]}]}))
    server = Attached("http://127.0.0.2:8080", known_hosts=read(hosts_file, "http://127.0.0.2:8080"))
    notes: list[tuple[str, Mapping[str, object]]] = []
    vitals = Vitals(server.hosts, {}, Guard(), lambda event, fields: notes.append((event, fields)))

    def tick_until(seen: Callable[[], object]) -> None:
        patience_s = time.monotonic() + PATIENCE_S
        while not seen():
            assert time.monotonic() < patience_s, notes
            vitals.tick()
            time.sleep(0.02)

    try:
        tick_until(lambda: vitals.peaks().memory)
        assert vitals.peaks().memory.keys() == {0}
        assert vitals.peaks().memory[0] > 10**6
        assert {fields["host"] for event, fields in notes if event == "memory"} == {NAME}
        assert server.failure() is None
        rank.kill()
        rank.wait()
        tick_until(server.failure)
        assert server.failure() == (
            f"rank 0 (pid {rank.pid}) on {NAME} runs no more: read its log there, and start the server again"
        )
        assert len(far.kept_lines()) == 1, "one connection, however often it is asked"
    finally:
        server.stop()
        vitals.close()
    far.await_nobody()
