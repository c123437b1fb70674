"""The hosts of a server that somebody else started: what the file says of them, and who serves there."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from locust_agents.cluster.attach import Attached
from locust_agents.cluster.check_lines import attached_lines
from locust_agents.cluster.remote import attached_hosts
from locust_agents.cluster.remote.attached_hosts import AttachedHost, described, read, servers
from locust_agents.cluster.vitals import memory
from locust_agents.cluster.vitals.memory_sample import Host
from locust_agents.errors import ClusterError, ScenarioError

HERE = "http://127.0.0.1:8080"
THERE = "http://mac1:8080"


def hostfile(folder: Path, *names: str, **keys: object) -> Path:
    path = folder / "hosts.json"
    hosts = [{"ssh": name, "ips": [f"10.0.0.{n}"]} for n, name in enumerate(names, start=1)]
    path.write_text(json.dumps({"hosts": hosts, **keys}))
    return path


def test_a_host_for_each_machine(tmp_path: Path) -> None:
    hosts = read(hostfile(tmp_path, "127.0.0.1", "mac2", "mac2"), HERE)
    assert [(host.name, host.ranks) for host in hosts] == [("this machine", (0,)), ("mac2", (1, 2))]
    assert described(hosts) == "rank 0 on this machine, ranks 1 and 2 on mac2"
    assert attached_lines(HERE, hosts)[-1] == (
        "hosts   rank 0 on this machine, ranks 1 and 2 on mac2, where memory and processes are watched"
    )
    assert Attached(HERE, known_hosts=hosts).ranks == 3
    assert Attached(HERE).ranks is None


# remark, hosts, other keys, the server's address, what is said
WRONG: list[tuple[str, list[str], Mapping[str, object], str, str]] = [
    ("no hosts", [], {}, THERE, "hosts: is empty"),
    ("an unknown key", ["mac1"], {"host": []}, THERE, "unknown key"),
    ("jaccl without a matrix", ["mac1", "mac2"], {"backend": "jaccl"}, THERE, "rdma"),
    (
        "where the launcher ran, which is not here",
        ["127.0.0.1", "mac2"],
        {},
        THERE,
        "is the machine that launched the server, and mac1 is not this one: write in a copy what ssh calls it",
    ),
]


@pytest.mark.parametrize(("names", "keys", "url", "said"), [pytest.param(*row[1:], id=row[0]) for row in WRONG])
def test_a_file_that_does_not_fit(
    tmp_path: Path, names: list[str], keys: Mapping[str, object], url: str, said: str
) -> None:
    with pytest.raises(ScenarioError) as refused:
        read(hostfile(tmp_path, *names, **keys), url)
    assert said in str(refused.value)


def test_a_file_without_a_backend_may_be_of_any(tmp_path: Path) -> None:
    path = tmp_path / "hosts.json"
    path.write_text(json.dumps([{"ssh": "mac1", "ips": ["10.0.0.1"]}, {"ssh": "mac2"}]))
    assert [host.name for host in read(path, THERE)] == ["mac1", "mac2"]


@pytest.mark.parametrize(
    ("row", "pids", "remark"),
    [
        ("  7  1 /opt/venv/bin/python3.12 -m mlx_lm server --model m", [7], "as mlx.launch starts it"),
        ("  7  1 /opt/Python.app/Contents/MacOS/Python /opt/bin/mlx_lm.server --port 8080", [7], "as brew's Python"),
        ("  7  1 python /x/mlx_lm/server.py", [7], "the file itself"),
        ("  7  1 /bin/bash -c python -m mlx_lm.server", [], "a shell that only carries the words"),
        ("  7  1 ssh mac2 python -m mlx_lm.server", [], "an ssh"),
        ("  7  1 python /opt/bin/mlx.launch -n 2 -- python -m mlx_lm server", [], "the launcher"),
        ("  7  1 vim mlx_lm/server.py", [], "an editor"),
        ("  7  1 python -m mlx_lm.generate", [], "another program"),
        ("  6  1 python mlx_lm.server\n  7  6 python mlx_lm.server", [7], "one that started the other"),
        ("  6  1 python mlx_lm.server\n  7  1 python mlx_lm.server", [6, 7], "two of them"),
        ("a greeting", [], "no row"),
    ],
)
def test_who_serves(row: str, pids: list[int], remark: str) -> None:
    assert servers(f"  1 0 /sbin/init\n{row}\n") == pids, remark


class Line:
    """A stand-in for the ssh connection: ps shows these pids, everything else is echoed."""

    pids: tuple[int, ...] = (7,)
    opened = 0
    breaks = False

    def __init__(self, host: str) -> None:
        assert host == "mac2"
        type(self).opened += 1
        self.lost: str | None = None

    def wait(self, command: str, _timeout_s: float) -> object:
        if self.breaks:
            raise ClusterError("mac2 does not answer over ssh (no route): see …")
        rows = "".join(f"{pid} 1 python -m mlx_lm server\n" for pid in self.pids)
        text = rows if command == attached_hosts.PROCESSES else f"{command}!"
        return type("Answer", (), {"text": text, "status": 0})

    def close(self) -> None:
        self.lost = "it was closed"


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> type[Line]:
    made = type("ThisLine", (Line,), {})
    monkeypatch.setattr(attached_hosts, "Line", made)
    return made


def test_its_pid_is_known_after_the_first_look(line: type[Line]) -> None:
    host = AttachedHost("mac2", "mac2", [1])
    assert host.host().ranks == {}
    assert host.run("uptime") == "uptime!"
    assert host.host() == Host("mac2", {1: 7}, host.run)
    line.pids = (9,)
    host.run("uptime")
    assert host.host().ranks == {1: 9}, "somebody started it again"
    assert line.opened == 1


@pytest.mark.parametrize(
    ("ranks", "pids", "remark"),
    [([0, 1], (7,), "two ranks"), ([0], (7, 8), "two servers"), ([0], (), "none")],
)
def test_a_pid_that_is_not_sure_is_not_told(
    line: type[Line], ranks: list[int], pids: tuple[int, ...], remark: str
) -> None:
    line.pids = pids
    host = AttachedHost("mac2", "mac2", ranks)
    for _ in range(3):
        host.run("uptime")
    assert (host.host().ranks, host.failure()) == ({}, None), remark


def test_a_rank_that_is_gone_twice_has_ended(line: type[Line]) -> None:
    host = AttachedHost("mac2", "mac2", [1])
    attached = Attached(THERE, known_hosts=[host])
    host.run("uptime")
    line.pids = ()
    host.run("uptime")
    assert attached.failure() is None
    host.run("uptime")
    assert attached.failure() == ("rank 1 (pid 7) on mac2 runs no more: read its log there, and start the server again")


def test_a_host_that_does_not_answer_is_left_alone_for_a_while(
    line: type[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now_s[0])
    host = AttachedHost("mac2", "mac2", [1])
    line.breaks = True
    for at_s, opened in ((100.0, 1), (105.0, 1), (129.9, 1), (130.0, 2)):
        now_s[0] = at_s
        with pytest.raises(ClusterError, match="no route"):
            host.run("uptime")
        assert line.opened == opened
    assert host.failure() is None
    line.breaks, now_s[0] = False, 161.0
    assert host.run("uptime") == "uptime!"
    host.close()


def test_this_machine_needs_no_ssh() -> None:
    host = AttachedHost("this machine", None, [0, 1])
    assert host.run("echo here") == "here\n"
    sample = memory.sample([], host.run)
    assert sample.used == {}
    assert sample.swap_used is not None or sys.platform not in ("linux", "darwin")
    host.close()
