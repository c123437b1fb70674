"""The command line of a launch, to the letter, and what no command line could do."""

import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from locust_agents.cluster.address import base_url, fixed_ports, listen_host
from locust_agents.cluster.command import LaunchSpec, find_launcher, launch_command, plain_line, shell_line
from locust_agents.cluster.hosts.hostfile import Host, Hostfile, demand
from locust_agents.cluster.launch_spec import faults
from locust_agents.cluster.rank_script import rank_script
from locust_agents.errors import ClusterError, ScenarioError

SCRIPT = rank_script(is_alone=False, has_folder=False)

FOUR_MACS = """
{"backend": "jaccl", "envs": ["MLX_METAL_FAST_SYNCH=1"], "hosts": [
  {"ssh": "mac1", "ips": ["192.168.1.11"], "rdma": [null, "rdma_en2", "rdma_en3", "rdma_en4"]},
  {"ssh": "mac2", "ips": ["192.168.1.12"], "rdma": ["rdma_en2", null, "rdma_en4", "rdma_en3"]},
  {"ssh": "mac3", "ips": ["192.168.1.13"], "rdma": ["rdma_en3", "rdma_en4", null, "rdma_en2"]},
  {"ssh": "mac4", "ips": ["192.168.1.14"], "rdma": ["rdma_en4", "rdma_en3", "rdma_en2", null]}
]}
"""


def hosts(*names: str) -> Hostfile:
    return Hostfile(
        Path("/etc/hosts.json"), None, (), tuple(Host(name, (f"10.0.0.{n}",)) for n, name in enumerate(names, 1))
    )


def remote(**changes: object) -> LaunchSpec:
    """Two ranks from a hostfile, rank 0 on another machine."""
    spec = LaunchSpec("m", hostfile=hosts("mac1", "mac2"), python="~/mlx/bin/python")
    return replace(spec, **changes)  # type: ignore[arg-type]


def server_part(spec: LaunchSpec) -> tuple[str, ...]:
    argv = launch_command(spec, Path("/m"), 1, 2, Path("/l"))
    return argv[argv.index("server") + 1 :]


def test_whole_command(tmp_path: Path) -> None:
    spec = LaunchSpec("tiny", options={"prefill-step-size": 512}, python="/opt/py/bin/python")
    assert launch_command(spec, tmp_path / "model", 8080, 21_000, tmp_path / "run") == (
        find_launcher(sys.executable),
        *("-n", "2", "--backend", "ring", "--starting-port", "21000"),
        *("--env", f"LOCUST_AGENTS_LOGS={tmp_path / 'run'}", "--env", "PYTHONSAFEPATH=1"),
        *("--env", "PYTHONUNBUFFERED=1", "--", "/bin/sh", "-c", SCRIPT, "sh"),
        *("/opt/py/bin/python", "-m", "mlx_lm", "server", "--model", str(tmp_path / "model")),
        *("--host", "127.0.0.1", "--port", "8080", "--prefill-step-size", "512"),
    )


def test_four_macs_over_jaccl(tmp_path: Path) -> None:
    path = tmp_path / "jaccl.json"
    path.write_text(FOUR_MACS)
    spec = LaunchSpec(
        "m", 4, "jaccl", {"prefill-step-size": 8192}, hostfile=demand(path, None, ()), python="~/mlx/.venv/bin/python"
    )
    port, starting_port = fixed_ports(spec) or (0, 0)
    argv = launch_command(spec, "~/models/Muse", port, starting_port, tmp_path / "run")
    assert argv == (
        find_launcher(sys.executable),
        *("--hostfile", str(path), "--backend", "jaccl", "--starting-port", "32323"),
        *("--env", f"LOCUST_AGENTS_LOGS={tmp_path / 'run'}", "--env", "PYTHONSAFEPATH=1"),
        *("--env", "PYTHONUNBUFFERED=1", "--", "/bin/sh", "-c", SCRIPT, "sh"),
        *("~/mlx/.venv/bin/python", "-m", "mlx_lm", "server", "--model", "~/models/Muse"),
        *("--host", "0.0.0.0", "--port", "8080", "--prefill-step-size", "8192"),
    )
    assert plain_line(spec, "~/models/Muse", port) == (
        f"mlx.launch --hostfile {path} --backend jaccl -- ~/mlx/.venv/bin/python -m mlx_lm server"
        " --model ~/models/Muse --host 0.0.0.0 --port 8080 --prefill-step-size 8192"
    )
    assert base_url(spec, port) == "http://192.168.1.11:8080"


@pytest.mark.parametrize("backend", ["ring", "jaccl-ring"])
def test_backend_is_passed_on(backend: str) -> None:
    argv = launch_command(remote(backend=backend), "m", 1, 2, Path("/l"))
    assert argv[1:5] == ("--hostfile", "/etc/hosts.json", "--backend", backend)


def test_mpi_needs_mpirun(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClusterError, match=r"mpirun is not on the PATH: install Open MPI"):
        launch_command(LaunchSpec("m", backend="mpi"), "m", 1, 2, Path("/l"))
    (tmp_path / "mpirun").touch(mode=0o755)
    argv = launch_command(LaunchSpec("m", backend="mpi"), "m", 1, 2, Path("/l"))
    assert argv[1:5] == ("-n", "2", "--backend", "mpi")


@pytest.mark.parametrize(
    ("options", "flags", "remark"),
    [
        ({}, (), "none"),
        ({"pipeline": True}, ("--pipeline",), "true is a bare flag"),
        ({"pipeline": False, "kv-bits": None}, (), "false and nothing are left out"),
        ({"temp": 0.5, "top-k": 0}, ("--temp", "0.5", "--top-k", "0"), "zero is a value"),
        ({"chat-template-args": '{"a": 1}'}, ("--chat-template-args", '{"a": 1}'), "quotes stay"),
        ({"model": "x", "port": 1, "host": "10.0.0.9"}, (), "said once, before the others"),
    ],
)
def test_options(options: dict[str, str | int | float | bool | None], flags: tuple[str, ...], remark: str) -> None:
    assert server_part(LaunchSpec("tiny", options=options))[6:] == flags, remark


def test_pipeline_is_said_once() -> None:
    assert server_part(LaunchSpec("tiny", pipeline=True))[6:] == ("--pipeline",)
    assert server_part(LaunchSpec("tiny", pipeline=True, options={"pipeline": True}))[6:] == ("--pipeline",)


def test_environment_and_folder() -> None:
    spec = LaunchSpec("tiny", env={"MLX_METAL_FAST_SYNCH": "0", "NOTE": "a 'b' $c"}, cwd="~/work")
    argv = launch_command(spec, Path("/m"), 1, 2, Path("/l"))
    middle = argv[argv.index("PYTHONUNBUFFERED=1") + 1 : argv.index(sys.executable)]
    script = rank_script(is_alone=False, has_folder=True)
    own = ("--env", "MLX_METAL_FAST_SYNCH=0", "--env", "NOTE=a 'b' $c")
    assert middle == (*own, "--", "/bin/sh", "-c", script, "sh", "~/work")


def test_one_rank_gets_no_hostfile() -> None:
    argv = launch_command(LaunchSpec("tiny", ranks=1), Path("/m"), 1, 2, Path("/l"))
    assert argv[argv.index("-c") + 1].startswith("unset MLX_HOSTFILE; ")


@pytest.mark.parametrize(
    ("spec", "listens", "url", "remark"),
    [
        (LaunchSpec("m"), "127.0.0.1", "http://127.0.0.1:80", "all here"),
        (LaunchSpec("m", reached_as="me.local"), "0.0.0.0", "http://me.local:80", "agents elsewhere"),
        (remote(), "0.0.0.0", "http://10.0.0.1:80", "rank 0 elsewhere"),
        (remote(hostfile=hosts("127.0.0.1", "b")), "127.0.0.1", "http://127.0.0.1:80", "only rank 1 elsewhere"),
        (LaunchSpec("m", options={"host": "0.0.0.0"}), "0.0.0.0", "http://127.0.0.1:80", "the user opens it"),
        (remote(options={"host": "192.168.1.9"}), "192.168.1.9", "http://192.168.1.9:80", "one address of several"),
        (remote(options={"host": "127.0.0.1"}), "127.0.0.1", "http://10.0.0.1:80", "unheard, and theirs to say"),
        (LaunchSpec("m", options={"host": "127.0.0.3"}), "127.0.0.3", "http://127.0.0.3:80", "another loopback"),
        (LaunchSpec("m", options={"host": "fd00::1"}), "fd00::1", "http://[fd00::1]:80", "IPv6"),
        (LaunchSpec("m", options={"host": "::"}), "::", "http://127.0.0.1:80", "everywhere, IPv6 too"),
    ],
)
def test_where_it_listens_and_is_reached(spec: LaunchSpec, listens: str, url: str, remark: str) -> None:
    assert (listen_host(spec), base_url(spec, 80)) == (listens, url), remark
    if not faults(spec):
        assert server_part(spec)[2:4] == ("--host", listens), remark


def test_ports_of_a_hostfile_are_fixed() -> None:
    assert fixed_ports(LaunchSpec("m", port=9)) is None
    assert fixed_ports(remote()) == (8080, 32323)
    assert fixed_ports(remote(port=9000, starting_port=40000)) == (9000, 40000)


def test_relative_folders_become_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    spec = LaunchSpec("tiny", hostfile=Hostfile(Path("h.json"), None, (), (Host("127.0.0.1"),)), ranks=1)
    argv = launch_command(spec, Path("m"), 1, 2, Path("l"))
    assert str(tmp_path / "m") in argv
    assert str(tmp_path / "h.json") in argv
    assert f"LOCUST_AGENTS_LOGS={tmp_path / 'l'}" in argv


@pytest.mark.parametrize(
    ("spec", "complaint", "remark"),
    [
        (
            remote(python=None),
            "server.launch.python: is needed with a hostfile, such as ~/mlx/.venv/bin/python: a virtual environment is"
            " only where somebody made it, and mac1, mac2 may have none where this machine has its own",
            "each node has its own",
        ),
        (
            remote(python="~bob/bin/python"),
            "server.launch.python: '~bob/bin/python' names another user's home, which is not looked up: write the whole"
            " path",
            "only one's own home",
        ),
        (
            remote(cwd="mlx"),
            "server.launch.cwd: 'mlx' is another folder on each host: begin it with / or ~/",
            "relative",
        ),
        (
            LaunchSpec("m", env={"A-B": "1"}),
            "server.launch.env: 'A-B' is no name of an environment variable (letters, digits and _)",
            "mlx.launch would leave it out",
        ),
        (
            LaunchSpec("m", backend="jaccl"),
            "server.launch.backend: jaccl needs a hostfile: it says which RDMA device leads to which host; give"
            " server.launch.hostfile, or use ring",
            "nobody says the devices",
        ),
        (
            remote(ranks=4),
            "server.launch.ranks: 4, and /etc/hosts.json has 2 hosts, a rank each: remove it",
            "two numbers for one thing",
        ),
    ],
)
def test_what_no_command_can_do(spec: LaunchSpec, complaint: str, remark: str) -> None:
    assert faults(spec) == [complaint], remark
    with pytest.raises(ScenarioError) as caught:
        launch_command(spec, "m", 1, 2, Path("/l"))
    assert str(caught.value) == complaint, remark


def test_local_hosts_take_our_python() -> None:
    spec = LaunchSpec("m", hostfile=hosts("127.0.0.1", "127.0.0.1"))
    assert faults(spec) == []
    assert sys.executable in launch_command(spec, "m", 1, 2, Path("/l"))


def test_shell_line_reads_back_as_the_command() -> None:
    argv = ("mlx.launch", "-c", 'exec >"$A" 2>&1', "~/my models/it's", "", "$HOME")
    assert tuple(shlex.split(shell_line(argv))) == argv


@pytest.mark.parametrize(
    ("spec", "model", "line", "remark"),
    [
        (
            LaunchSpec("m", python="python3", pipeline=True),
            "org/Name-4bit",
            "mlx.launch -n 2 --backend ring -- python3 -m mlx_lm server --model org/Name-4bit --host 127.0.0.1"
            " --port 80 --pipeline",
            "on this machine",
        ),
        (
            remote(cwd="~/a b", env={"A": "1 2"}, python="~/it's/python"),
            "~/my models/x",
            "mlx.launch --hostfile /etc/hosts.json --backend ring --cwd ~/'a b' --env 'A=1 2' --"
            " ~/'it'\"'\"'s/python' -m mlx_lm server --model ~/'my models/x' --host 0.0.0.0 --port 80",
            "odd names: the tilde stays outside of the quotes",
        ),
        (
            LaunchSpec("m", ranks=1, python="python3"),
            "m",
            "mlx.launch -n 1 --backend ring -- /bin/sh -c 'unset MLX_HOSTFILE; exec \"$@\"' sh python3 -m mlx_lm server"
            " --model m --host 127.0.0.1 --port 80",
            "one rank would stumble over mlx.launch's empty hostfile",
        ),
    ],
)
def test_plain_line(spec: LaunchSpec, model: str, line: str, remark: str) -> None:
    assert plain_line(spec, model, 80) == line, remark


def test_plain_line_says_an_unusual_starting_port() -> None:
    assert "--starting-port 4000 --" in plain_line(LaunchSpec("m"), "m", 80, 4000)


def test_launcher_on_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    launcher = tmp_path / "mlx.launch"
    launcher.touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", "/nowhere/bin/python")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_launcher("/nowhere/else/python") == str(launcher)


def test_launcher_in_a_folder_of_this_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "mlx.launch").touch(mode=0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_launcher("~/python") == str(tmp_path / "mlx.launch")


def test_launcher_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClusterError, match=r"pip install mlx mlx-lm"):
        find_launcher(str(tmp_path / "python"))
