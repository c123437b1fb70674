"""The command lines through the real mlx.launch, with a program that prints in the place of the server.

`ssh` is a stand-in on the PATH that gives each host a home of its own: what a rank is told arrives through the same
two shells as on a real host.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from locust_agents.cluster.command import LaunchSpec, find_launcher, launch_command, plain_line, shell_line
from locust_agents.cluster.hosts.hostfile import demand
from tests.patience import PATIENCE_S

SERVER = """#!/bin/sh
echo "me $MLX_RANK $HOME $(pwd)"
echo "env ${NOTE-} ${FAST-} coordinator=${MLX_JACCL_COORDINATOR-} ring=${MLX_JACCL_RING-}"
for file in "$MLX_HOSTFILE" "$MLX_IBV_DEVICES"; do [ -s "$file" ] && echo "file $(cat "$file")"; done
for word do echo "word $word"; done
"""

SSH = """#!/bin/bash
while [[ $1 == -* ]]; do [[ $1 == -o ]] && shift; shift; done
HOME="$HOMES/$1" exec /bin/bash -c "$2"
"""

MODEL = '~/my models/"it\'s" $5'


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a home for each host, in which lie a fake server and a working folder; ours is that of `here`."""
    (tmp_path / "bin").mkdir()
    executable(tmp_path / "bin" / "ssh", SSH)
    for host in ("here", "mac1", "mac2"):
        (tmp_path / host / "work dir").mkdir(parents=True)
        executable(tmp_path / host / "fake python", SERVER)
    monkeypatch.setenv("HOMES", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path / "here"))
    beside_us = Path(find_launcher(sys.executable)).parent
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{beside_us}:{os.environ['PATH']}")
    return tmp_path


def executable(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def hostfile(folder: Path, backend: str, *names: str) -> Path:
    rows = [[None if rank == own else "rdma_en2" for rank in range(len(names))] for own in range(len(names))]
    hosts = [{"ssh": name, "ips": [f"10.0.0.{n}"], "rdma": rows[n]} for n, name in enumerate(names)]
    path = folder / "its hosts.json"
    path.write_text(json.dumps({"backend": backend, "envs": ["FAST=1"], "hosts": hosts}))
    return path


def spec_of(path: Path, backend: str) -> LaunchSpec:
    ours = {"python": "~/fake python", "env": {"NOTE": "a 'b' $c"}, "cwd": "~/work dir"}
    return LaunchSpec("m", backend=backend, hostfile=demand(path, backend, ()), **ours)  # type: ignore[arg-type]


def launched(command: str, folder: Path) -> str:
    """What the launcher and the ranks without a log say."""
    words = ["/bin/bash", "-c", command]
    return subprocess.run(
        words, stdin=subprocess.PIPE, capture_output=True, cwd=folder, timeout=PATIENCE_S, text=True
    ).stdout


def test_local_and_remote_ranks_are_told_the_same(homes: Path) -> None:
    spec = spec_of(hostfile(homes, "ring", "127.0.0.1", "mac2"), "ring")
    logs = homes / "none"
    output = launched(shell_line(launch_command(spec, MODEL, 8080, 45_000, logs)), homes)
    for rank, home in ((0, homes / "here"), (1, homes / "mac2")):
        assert f"me {rank} {home} {home}/work dir\n" in output
        assert f'word {home}/my models/"it\'s" $5\n' in output
    assert output.count("env a 'b' $c 1 coordinator= ring=\n") == 2
    assert output.count('file [["10.0.0.0:45000"], ["10.0.0.1:45001"]]\n') == 2
    assert output.count("word 8080\n") == 2
    assert "rank 1 pid " in output


def test_each_rank_that_sees_the_run_folder_logs_there(homes: Path) -> None:
    spec = spec_of(hostfile(homes, "jaccl-ring", "mac1", "mac2"), "jaccl-ring")
    logs = homes / "the run's folder"
    logs.mkdir()
    assert "me " not in launched(shell_line(launch_command(spec, MODEL, 8080, 45_000, logs)), homes)
    for rank, home in ((0, homes / "mac1"), (1, homes / "mac2")):
        text = (logs / f"rank-{rank}.log").read_text()
        assert text.startswith("pid ")
        assert f"me {rank} {home} {home}/work dir\n" in text
        assert "env a 'b' $c 1 coordinator=10.0.0.0:45000 ring=1\n" in text
        assert 'file [[null, "rdma_en2"], ["rdma_en2", null]]\n' in text


def test_the_plain_line_starts_them_too(homes: Path) -> None:
    spec = spec_of(hostfile(homes, "jaccl", "127.0.0.1", "127.0.0.1"), "ring")
    output = launched(plain_line(spec, MODEL, 8080, 45_000), homes)
    home = homes / "here"
    assert f"me 0 {home} {home}/work dir\n" in output
    assert f"me 1 {home} {home}/work dir\n" in output
    assert output.count(f'word {home}/my models/"it\'s" $5\n') == 2
