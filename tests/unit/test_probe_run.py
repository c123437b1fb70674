"""A whole `check --probe` by real shells, with an `ssh` on the PATH that runs the script here or fails as ssh does."""

import shutil
import sys
from importlib.metadata import version
from pathlib import Path

import psutil
import pytest

from locust_agents.cluster import ports
from locust_agents.cluster.hosts.values import Host, Hostfile
from locust_agents.cluster.launch_spec import LaunchSpec
from locust_agents.cluster.probe import ask, course
from locust_agents.cluster.probe.across import size
from locust_agents.cluster.probe.sites import Site

FAKE_SSH = """\
#!/bin/sh
while [ $# -gt 2 ]; do case $1 in -o) shift 2;; -T) shift;; *) break;; esac; done
host=$1; shift
echo "$host $$" >>"$FAKE_SSH_PIDS"
case $host in
  denied) echo "denied: Permission denied (publickey)." >&2; exit 255;;
  refused) echo "ssh: connect to host refused port 22: Connection refused" >&2; exit 255;;
  slow) exec sleep 60;;
  chatty) echo "Welcome to chatty"; echo "a banner" >&2;;
  menu) echo "1) balance 2) withdraw"; exit 1;;
esac
exec "$@"
"""


@pytest.fixture
def pids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Our ssh is the first on the PATH, and a `ps` that sees no server, whatever else this machine runs."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, text in (("ssh", FAKE_SSH), ("ps", "#!/bin/sh\necho 1 root init\n")):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tools), prepend=":")
    monkeypatch.setenv("FAKE_SSH_PIDS", str(tmp_path / "pids"))
    return tmp_path / "pids"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"1" * 2_400_000)
    return folder


def spec(*names: str, ip: str = "127.0.0.1") -> LaunchSpec:
    hosts = tuple(Host(name, (ip,)) for name in names)
    first = ports.free_ports(len(names))
    ring = Hostfile(Path("ring.json"), "ring", (), hosts)
    return LaunchSpec("m", ranks=len(names), hostfile=ring, python=sys.executable, starting_port=first)


def facts() -> str:
    python = ".".join(map(str, sys.version_info[:3]))
    versions = f"python {python}, mlx {version('mlx')}, mlx-lm {version('mlx-lm')}"
    return f"{versions}, model 2.4 MB, memory {size(psutil.virtual_memory().total)}"


@pytest.mark.skipif(sys.platform != "linux", reason="its lines are those of Linux")
def test_two_hosts_that_are_one(pids: Path, model: Path) -> None:
    launch, said = spec("127.0.0.1", "chatty"), list[str]()
    first = launch.starting_port or 0
    skipped = "                      skip  sleep settings, firewall (not macOS); RDMA devices (no ibv_devices)"
    lines, is_ok = course.probe(launch, model, ports.free_ports(1), said.append)
    assert lines == [
        f"rank 0  this machine  ok    {facts()}, port {first} open to rank 1",
        skipped,
        f"rank 1  chatty        ok    {facts()}, port {first + 1} open to rank 0",
        "                      note  is the machine of rank 0 (this machine) under another name: they share its memory"
        " and its processor",
        skipped,
    ]
    assert is_ok
    assert said == [
        "asking this machine, chatty (15 s at most)",
        f"trying 127.0.0.1:{first}, 127.0.0.1:{first + 1} from rank to rank (15 s at most)",
    ]
    assert_nobody_is_left(pids, 2)


def test_this_machine_alone_needs_no_ssh(pids: Path, model: Path) -> None:
    lines, is_ok = course.probe(LaunchSpec("m", python=sys.executable), model, ports.free_ports(1), lambda _: None)
    assert is_ok
    assert lines[0] == f"rank 0, 1  this machine  ok    {facts()}"
    assert not pids.exists()


def test_each_that_fails_has_its_line(pids: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "BOUND_S", 3.0)
    launch = spec("127.0.0.1", "denied", "refused", "slow", "menu")
    lines, is_ok = course.probe(launch, model, ports.free_ports(1), lambda _: None)
    starts = [line for line in lines if line.startswith("rank")]
    assert not is_ok
    assert starts[0].startswith("rank 0  this machine  ok ")
    assert [line[22:] for line in starts[1:]] == [
        "FIX   ssh: denied: Permission denied (publickey): run `ssh-copy-id denied`, and `ssh-add` where the key has a"
        " passphrase, since nobody can type it here",
        "FIX   ssh: connect to host refused port 22: Connection refused: turn on Remote Login there (macOS: System"
        " Settings, General, Sharing; Linux: start sshd), or correct the port in ~/.ssh/config",
        "FIX   no answer within 3 s: see whether `ssh slow true` ends",
        "FIX   our script was not understood by the shell there (exit status 1; 1) balance 2) withdraw): see what `ssh"
        " menu 'sh -s'` does by hand",
    ]
    assert_nobody_is_left(pids, 4)


def test_an_ip_that_is_not_the_hosts(pids: Path, model: Path) -> None:
    launch = spec("127.0.0.1", "mac2", ip="192.0.2.1")  # RFC 5737: nobody's
    lines, is_ok = course.probe(launch, model, ports.free_ports(1), lambda _: None)
    assert not is_ok
    assert f"FIX   cannot listen on 192.0.2.1:{launch.starting_port}: " in lines[0]
    assert lines[0].endswith(": correct the ips of this machine in ring.json")
    assert_nobody_is_left(pids, 2)


@pytest.mark.skipif(shutil.which("ssh") is None, reason="there is no ssh here")
def test_the_words_of_the_real_ssh(model: Path) -> None:
    lines, is_ok = course.probe(spec("127.0.0.1", "no-such-host.invalid"), model, ports.free_ports(1), lambda _: None)
    (line,) = [line for line in lines if line.startswith("rank 1")]
    assert not is_ok
    assert "FIX   ssh: Could not resolve hostname no-such-host.invalid: " in line
    assert line.endswith(": correct its ssh name in the hostfile, or give it one in ~/.ssh/config")


def test_no_ssh_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "_SSH", ("/no/such/ssh",))
    (heard,) = ask.ask({Site("mac2", (1,)): "true"}, 5.0).values()
    assert (heard.status, heard.err) == (255, "ssh is not installed here")


def test_ssh_asks_nobody_and_says_why() -> None:
    assert ask.argv(Site("bob@mac2", (1,))) == (
        *("ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", "-o", "LogLevel=ERROR"),
        *("bob@mac2", "sh", "-s"),
    )
    assert ask.argv(Site(None, (0,))) == ("sh", "-s")


def test_what_does_not_end_is_ended(tmp_path: Path) -> None:
    script = f"trap '' TERM; sleep 60 & echo $$ $! >{tmp_path}/pids; wait; echo late\n"
    (heard,) = ask.ask({Site(None, (0,)): script}, 0.5).values()
    assert (heard.out, heard.status) == ("", None)
    assert not [pid for pid in (tmp_path / "pids").read_text().split() if runs(int(pid))]


def test_an_interrupted_one_leaves_nobody(tmp_path: Path) -> None:
    def interrupt(_: object) -> bool:
        if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith("\n"):
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        ask.ask({Site(None, (0,)): f"echo $$ >{tmp_path}/pid; exec sleep 60\n"}, 30.0, interrupt)
    assert not runs(int((tmp_path / "pid").read_text()))


def test_output_is_never_waited_for() -> None:
    """More than a pipe holds."""
    (heard,) = ask.ask({Site(None, (0,)): "seq 100000; seq 100000 >&2\n"}, 30.0).values()
    assert heard.out.endswith("\n100000\n")
    assert heard.err.endswith("\n100000\n")


def runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def assert_nobody_is_left(pids: Path, calls: int) -> None:
    started = [int(line.split()[1]) for line in pids.read_text().splitlines()]
    assert len(started) == calls
    assert not [pid for pid in started if runs(pid)]
