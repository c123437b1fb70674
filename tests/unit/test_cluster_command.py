"""The command line of a launch, to the letter, and through the shells that it passes."""

import subprocess
import sys
from pathlib import Path

import pytest

from locust_agents.cluster.command import RANK_SCRIPT, LaunchSpec, find_launcher, launch_command
from locust_agents.errors import ClusterError

ODD = 'a folder\'s "name" $HOME; `x`'


def test_whole_command(tmp_path: Path) -> None:
    spec = LaunchSpec("tiny", options={"prefill-step-size": 512}, python="/opt/py/bin/python")
    assert launch_command(spec, tmp_path / "model", 8080, 21_000, tmp_path / "run") == (
        find_launcher(sys.executable),
        *("-n", "2", "--backend", "ring", "--starting-port", "21000"),
        *("--env", f"LOCUST_AGENTS_LOGS={tmp_path / 'run'}", "--env", "PYTHONSAFEPATH=1"),
        *("--env", "PYTHONUNBUFFERED=1", "--", "/bin/sh", "-c", RANK_SCRIPT, "sh"),
        *("/opt/py/bin/python", "-m", "mlx_lm", "server", "--prefill-step-size", "512"),
        *("--model", str(tmp_path / "model"), "--host", "127.0.0.1", "--port", "8080"),
    )


@pytest.mark.parametrize(
    ("options", "flags", "remark"),
    [
        ({}, (), "none"),
        ({"pipeline": True}, ("--pipeline",), "true is a bare flag"),
        ({"pipeline": False, "kv-bits": None}, (), "false and nothing are left out"),
        ({"temp": 0.5, "top-k": 0}, ("--temp", "0.5", "--top-k", "0"), "zero is a value"),
        ({"chat-template-args": '{"a": 1}'}, ("--chat-template-args", '{"a": 1}'), "quotes stay"),
    ],
)
def test_options(options: dict[str, str | int | float | bool | None], flags: tuple[str, ...], remark: str) -> None:
    argv = launch_command(LaunchSpec("tiny", options=options), Path("/m"), 1, 2, Path("/l"))
    server = argv.index("server")
    assert argv[server + 1 : argv.index("--model")] == flags, remark


def test_one_rank_gets_no_hostfile() -> None:
    argv = launch_command(LaunchSpec("tiny", ranks=1), Path("/m"), 1, 2, Path("/l"))
    assert argv[argv.index("-c") + 1].startswith("unset MLX_HOSTFILE; exec ")


def test_host_and_port_have_the_last_word() -> None:
    spec = LaunchSpec("tiny", options={"host": "0.0.0.0", "port": 1})
    assert launch_command(spec, Path("/m"), 8080, 2, Path("/l"))[-4:] == ("--host", "127.0.0.1", "--port", "8080")


def test_relative_folders_become_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    argv = launch_command(LaunchSpec("tiny"), Path("m"), 1, 2, Path("l"))
    assert str(tmp_path / "m") in argv
    assert f"LOCUST_AGENTS_LOGS={tmp_path / 'l'}" in argv


def test_rank_script_keeps_odd_names_and_its_pid(tmp_path: Path) -> None:
    folder = tmp_path / ODD
    folder.mkdir()
    environment = {"LOCUST_AGENTS_LOGS": str(folder), "MLX_RANK": "1"}
    child = subprocess.Popen(["/bin/sh", "-c", RANK_SCRIPT, "sh", "/bin/echo", ODD, "b  c"], env=environment)
    assert child.wait() == 0
    assert (folder / "rank-1.log").read_text() == f"pid {child.pid}\n{ODD} b  c\n"


def test_launcher_on_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    launcher = tmp_path / "mlx.launch"
    launcher.touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", "/nowhere/bin/python")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_launcher("/nowhere/else/python") == str(launcher)


def test_launcher_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClusterError, match=r"pip install mlx mlx-lm"):
        find_launcher(str(tmp_path / "python"))
