"""The script that a probe sends: run for real by several shells, here and among tools that speak as macOS's do."""

import os
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from locust_agents.cluster.probe.answer import Answer, Listener, read
from locust_agents.cluster.probe.script import PYTHON_S, Question, script
from tests.patience import PATIENCE_S

SHELLS = [("sh",), ("dash",), ("bash", "--posix")]
TOOLS = ("awk", "cat", "cut", "head", "ls", "sed", "tail")

# what macOS's commands print, of our own making: not seen on a Mac
MAC_TOOLS = {
    "uname": "Darwin",
    "sysctl": 'case "$2" in hw.memsize) echo 206158430208;; kern.bootsessionuuid) echo 0F1E-2D3C;; esac',
    "netstat": (
        "cat <<'T'\n"
        "Active Internet connections (including servers)\n"
        "Proto Recv-Q Send-Q  Local Address          Foreign Address        (state)\n"
        "tcp4       0      0  10.0.0.2.22            10.0.0.9.50123         ESTABLISHED\n"
        "tcp46      0      0  *.8080                 *.*                    LISTEN\n"
        "tcp4       0      0  127.0.0.1.32324        *.*                    LISTEN\n"
        "tcp6       0      0  ::1.631                *.*                    LISTEN\n"
        "T"
    ),
    "lsof": 'case "$2" in -iTCP:8080) echo 4711; echo 4712;; esac',
    "ps": (
        'case "$*" in *-p*) echo "/opt/venv/bin/python3.12 -m mlx_lm server --port 8080";; *) cat <<\'T\'\n'
        "  501 anna             /bin/zsh -c ssh mac2 python -m mlx_lm server\n"
        " 4711 anna             /opt/venv/bin/python3.12 -m mlx_lm server --port 8080\n"
        " 4800 bob              /opt/venv/bin/python3.12 /opt/venv/bin/mlx_lm.server\n"
        " 4900 bob              tail -f mlx_lm.log\n"
        "T\n"
        "esac"
    ),
    "pmset": (
        "cat <<'T'\nSystem-wide power settings:\nCurrently in use:\n Sleep On Power Button 1\n disksleep 10\n"
        " sleep                1 (sleep prevented by sharingd, powerd)\n displaysleep         10\n"
        " lowpowermode         0\nT"
    ),
    "socketfilterfw": 'echo "Firewall is enabled. (State = 1)"',
    "ibv_devices": (
        'echo "    device          	   node GUID"; echo "    ------          	----------------";'
        ' echo "    rdma_en2        	8c1f64a2b3c4d5e6"; echo "    rdma_en3        	8c1f64a2b3c4d5e7"'
    ),
}


def tool(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def run(text: str, *argv: str, env: Mapping[str, str] = os.environ) -> Answer:
    done = subprocess.run(argv, input=text, env=env, text=True, capture_output=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    answer = read(done.stdout)
    assert answer is not None
    assert answer.is_whole
    return answer


def ask(
    question: Question, shell: tuple[str, ...] = ("sh",), path: Path | None = None, env: Mapping[str, str] | None = None
) -> Answer:
    """What a shell answers; with a path, those tools come first."""
    environment = {**os.environ, **(env or {})}
    if path is not None:
        environment["PATH"] = str(path)
    return run(script(question), str(shutil.which(shell[0])), *shell[1:], "-s", env=environment)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "big model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model-00001-of-00002.safetensors").write_bytes(b"1" * 1000)
    (tmp_path / "blob").write_bytes(b"2" * 234)
    (folder / "model-00002-of-00002.safetensors").symlink_to(tmp_path / "blob")  # as the hub's cache has them
    (folder / "tokenizer.safetensors").write_bytes(b"not a weight")
    return folder


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_this_machine(shell: tuple[str, ...], model: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        answer = ask(Question(sys.executable, str(model), str(model), ports=(1, port)), shell)
    assert answer.missing == frozenset()
    assert answer.system == os.uname().sysname
    assert answer.python == sys.executable
    assert answer.versions["python"] == ".".join(map(str, sys.version_info[:3]))
    assert answer.versions["mlx"][0].isdigit()
    assert answer.versions["mlx-lm"][0].isdigit()
    assert (answer.model, answer.weight_files, answer.weight_bytes) == (str(model), 2, 1234)
    assert answer.memory_bytes
    assert answer.memory_bytes > 10**9
    (found,) = answer.listeners
    assert (found.port, found.pid) == (port, os.getpid())
    assert found.blocks("127.0.0.1")
    assert not found.blocks("10.0.0.1")
    assert found.command.split()[0].endswith(Path(sys.executable).name)


OTHER_TOOLS = [("no lsof", "ss", ("has lsof", "false")), ("no ss", "netstat", ("&& has ss", "&& false"))]


@pytest.mark.skipif(sys.platform != "linux", reason="macOS has netstat and lsof")
@pytest.mark.parametrize(("remark", "tool", "change"), OTHER_TOOLS, ids=[row[0] for row in OTHER_TOOLS])
def test_listeners_by_another_tool(remark: str, tool: str, change: tuple[str, str]) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"there is no {tool} here")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        answer = run(script(Question("no/such", "m", ports=(port,))).replace(*change), "sh", "-s")
    assert [(found.port, found.address) for found in answer.listeners] == [(port, f"127.0.0.1:{port}")]
    assert answer.listeners[0].pid in (os.getpid(), None)


@pytest.mark.skipif(sys.platform != "linux", reason="a Mac has these")
def test_what_linux_lacks_is_named() -> None:
    assert ask(Question("no/such", "m")).skipped == {
        "sleep": "not macOS",
        "firewall": "not macOS",
        "rdma": "no ibv_devices",
    }


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_a_mac_not_seen_on_one(shell: tuple[str, ...], tmp_path: Path, model: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, body in MAC_TOOLS.items():
        tool(tools / name, body if name != "uname" else f"echo {body}")
    for name in TOOLS:
        (tools / name).symlink_to(str(shutil.which(name)))
    answer = ask(Question(sys.executable, str(model), ports=(8080, 32324)), shell, tools)
    assert answer.system == "Darwin"
    assert answer.boot == "0F1E-2D3C"
    assert answer.memory_bytes == 206_158_430_208
    assert answer.listeners == (
        Listener(8080, "*.8080", 4711, "/opt/venv/bin/python3.12 -m mlx_lm server --port 8080"),
        Listener(32324, "127.0.0.1.32324", None, ""),
    )
    assert answer.servers == ((4711, "anna"), (4800, "bob"))
    assert (answer.sleep_min, answer.low_power, answer.firewall) == (1, 0, 1)
    assert answer.rdma == ("rdma_en2", "rdma_en3")
    assert answer.skipped == {}


def test_tools_that_say_nothing_are_skipped_by_name(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in MAC_TOOLS:
        tool(tools / name, "echo Darwin" if name == "uname" else "exit 1")
    for name in TOOLS:
        (tools / name).symlink_to(str(shutil.which(name)))
    answer = ask(Question("no/such", "m", ports=(8080,)), path=tools)
    assert answer.skipped == {
        "boot": "Darwin does not tell",
        "memory": "Darwin does not tell",
        "servers": "no ps",
        "sleep": "pmset does not tell",
        "firewall": "socketfilterfw does not tell",
    }
    assert answer.rdma == ()


def test_tilde_is_the_home_of_the_host(tmp_path: Path, model: Path) -> None:
    (tmp_path / "venv").mkdir()
    # a link would be resolved by Python, which then misses its packages: what counts here is that it is found
    tool(tmp_path / "venv" / "python", f'exec {shlex.quote(sys.executable)} "$@"')
    question = Question("~/venv/python", "~/big model", "~")
    answer = ask(question, env={"HOME": str(tmp_path)})
    assert (answer.python, answer.model) == (str(tmp_path / "venv/python"), str(model))
    assert answer.missing == frozenset()


def test_a_relative_path_is_of_the_folder(tmp_path: Path, model: Path) -> None:
    assert ask(Question("no/such", "big model", str(tmp_path))).weight_bytes == 1234
    assert ask(Question("no/such", "big model", here=str(tmp_path))).weight_bytes == 1234
    assert ask(Question("no/such", "big model", here=str(model / "gone"))).missing == {"model", "python"}


BROKEN_PYTHONS = [
    ("a folder", lambda path: path.mkdir(), ("python",), None),
    ("not executable", lambda path: path.write_text("#!/bin/sh\n"), ("python",), None),
    ("not there", Path, ("python",), None),
    (
        "its library is gone",
        lambda path: tool(path, "echo 'dyld: no libpython' >&2; exit 134"),
        (),
        "dyld: no libpython",
    ),
    ("ends without a word", lambda path: tool(path, "exit 7"), (), "exit status 7"),
]


@pytest.mark.parametrize(
    ("remark", "make", "missing", "broken"), BROKEN_PYTHONS, ids=lambda v: v if type(v) is str else ""
)
def test_broken_pythons(
    tmp_path: Path, remark: str, make: object, missing: tuple[str, ...], broken: str | None
) -> None:
    assert callable(make)
    make(tmp_path / "python")
    answer = ask(Question(str(tmp_path / "python"), str(tmp_path)))
    assert answer.missing == {*missing, "model_config"}
    assert answer.python_broken == broken


def test_a_python_without_mlx(tmp_path: Path) -> None:
    tool(tmp_path / "python", f'exec {shlex.quote(sys.executable)} -I -S "$@"')
    answer = ask(Question(str(tmp_path / "python"), str(tmp_path)))
    assert answer.missing == {"mlx", "mlx-lm", "model_config"}
    assert list(answer.versions) == ["python"]


def test_a_python_that_hangs_is_ended(tmp_path: Path) -> None:
    """By its own alarm, which is set before anything can hang."""
    (tmp_path / "platform.py").write_text("import time\ntime.sleep(60)\n")  # as a folder on a network disk can
    text = script(Question(sys.executable, "m", env={"PYTHONPATH": str(tmp_path)}))
    assert text.count(f"alarm({PYTHON_S})") == 1
    assert run(text.replace(f"alarm({PYTHON_S})", "alarm(1)"), "sh", "-s").python_broken == f"no answer in {PYTHON_S} s"


def test_a_name_on_the_hub(tmp_path: Path) -> None:
    folder = tmp_path / "hub" / "models--org--Big-4bit"
    snapshot = folder / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("abc")
    (snapshot / "config.json").write_text("{}")
    question = Question("no/such", "org/Big-4bit", env={"HF_HOME": str(tmp_path)})
    answer = ask(question)
    assert (answer.model, answer.weight_files) == (str(snapshot), 0)
    assert ask(Question("no/such", "org/Big-4bit", env={"HOME": str(tmp_path), "HF_HOME": "~"})).model == str(snapshot)
    assert "model" in ask(Question("no/such", "org/Other", env=question.env)).missing


def test_a_folder_that_is_missing(tmp_path: Path) -> None:
    assert "folder" in ask(Question("no/such", "m", str(tmp_path / "gone"))).missing


def test_words_are_quoted(tmp_path: Path) -> None:
    odd = tmp_path / 'it\'s $HOME `date` "x" \\'
    odd.mkdir()
    (odd / "config.json").write_text("{}")
    assert ask(Question("no/such", str(odd), env={"ODD": "a'b $(exit 3)"})).model == str(odd)


def test_it_reaches_the_python_with_the_environment_of_the_ranks(tmp_path: Path) -> None:
    tool(tmp_path / "python", 'echo "mlx $FROM_HOSTFILE"; echo "mlx-lm $PYTHONSAFEPATH"')
    answer = ask(Question(str(tmp_path / "python"), "m", env={"FROM_HOSTFILE": "9.9"}))
    assert answer.versions == {"mlx": "9.9", "mlx-lm": "1"}


def test_half_a_script_does_nothing() -> None:
    """A connection that breaks while the script is on its way."""
    text = script(Question("no/such", "m"))
    for end in (len(text) // 2, text.rindex("main")):
        done = subprocess.run(["sh", "-s"], input=text[:end], text=True, capture_output=True, timeout=PATIENCE_S)
        assert done.stdout == ""
