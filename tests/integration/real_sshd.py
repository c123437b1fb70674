"""A real sshd on 127.0.0.2, which plays another machine; its keys and configuration live in a folder of the test.

`ssh` is wrapped by a script that is first on the PATH, so that the alias needs no ~/.ssh/config. What the host is told
passes through a script of its own, so that it can have, or lack, the folder of a run.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from locust_agents.cluster.crew import is_alive
from tests.patience import PATIENCE_S

ADDRESS = "127.0.0.2"
NAME = "rank1"

SSHD_CONFIG = """\
ListenAddress {address}:{port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/key.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
ForceCommand {folder}/elsewhere
"""

SSH_CONFIG = """\
Host {name}
HostName {address}
Port {port}
IdentityFile {folder}/key
IdentitiesOnly yes
UserKnownHostsFile {folder}/known_hosts
"""

ELSEWHERE = """\
#!/bin/bash
exec /bin/bash -c "${SSH_ORIGINAL_COMMAND//LOCUST_AGENTS_LOGS=/LOCUST_AGENTS_LOGS=$(cat FOLDER/root)}"
"""


@dataclass
class FarHost:
    """The host and what it runs."""

    folder: Path
    sshd: psutil.Process

    def path(self) -> str:
        """The PATH with the wrapped ssh."""
        return f"{self.folder / 'bin'}:{os.environ['PATH']}"

    def has_our_folders(self, yes: bool) -> None:
        """Whether new ranks find the run's folder there, as on a shared disk."""
        (self.folder / "root").write_text("" if yes else "/nowhere")

    def session_of(self, pid: int) -> psutil.Process:
        """The process that serves the connection in which this one runs."""
        chain = [psutil.Process(pid), *psutil.Process(pid).parents()]
        return chain[chain.index(self.sshd) - 1]

    def sessions(self) -> list[psutil.Process]:
        """Those of all connections."""
        return [each for each in self.sshd.children() if is_alive(each)]

    def kept_lines(self) -> list[psutil.Process]:
        """The connections without a terminal: those of our own, on which a shell reads commands."""
        return [each for each in self.sessions() if "notty" in _title(each)]

    def await_nobody(self, but: Sequence[psutil.Process] = ()) -> None:
        """Fails when a connection is left after all patience, other than those that a test does not own."""
        patience_s = time.monotonic() + PATIENCE_S
        while left := [each for each in self.sessions() if each not in but]:
            assert time.monotonic() < patience_s, left
            time.sleep(0.05)

    def die(self) -> None:
        """As when its power fails, for all that can be seen from here; the ranks do not survive that either."""
        if is_alive(self.sshd):
            for each in [self.sshd, *self.sessions()]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    each.kill()
            self.sshd.wait()


@contextmanager
def far_host(folder: Path) -> Iterator[FarHost]:
    """The host while it is up. Skips the test where there is none, but fails it in CI."""
    sshd = _sshd()
    port = _port()
    _write(folder, port)
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # Debian's sshd, when root starts it, wants this folder
    with (folder / "sshd.log").open("wb") as log:
        argv = (sshd, "-D", "-e", "-f", folder / "sshd_config")
        with subprocess.Popen(argv, stderr=log, start_new_session=True) as process:
            host = FarHost(folder, psutil.Process(process.pid))
            try:
                _await_port(port)
                yield host
            finally:
                host.die()


def _title(process: psutil.Process) -> str:
    """Empty of one that ended as we looked."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return " ".join(process.cmdline())
    return ""


def _sshd() -> str:
    found = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin")
    if found is None:
        _lacking("there is no sshd: install openssh-server")
    return str(found)


def _port() -> int:
    with socket.socket() as ours:
        try:
            ours.bind((ADDRESS, 0))
        except OSError:
            _lacking(f"there is no {ADDRESS} here, as on macOS: sudo ifconfig lo0 alias {ADDRESS}")
        return int(ours.getsockname()[1])


def _lacking(what: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)


def _write(folder: Path, port: int) -> None:
    (folder / "bin").mkdir(parents=True)
    for name in ("host_key", "key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    host_key = (folder / "host_key.pub").read_text()
    (folder / "known_hosts").write_text(f"[{ADDRESS}]:{port} {host_key}")
    fields = {"address": ADDRESS, "port": port, "folder": folder, "name": NAME}
    (folder / "sshd_config").write_text(SSHD_CONFIG.format(**fields))
    (folder / "ssh_config").write_text(SSH_CONFIG.format(**fields))
    (folder / "root").write_text("/nowhere")
    _script(folder / "elsewhere", ELSEWHERE.replace("FOLDER", str(folder)))
    _script(folder / "bin" / "ssh", f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/ssh_config "$@"\n')


def _script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def _await_port(port: int) -> None:
    patience_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            socket.create_connection((ADDRESS, port)).close()
            return
        except ConnectionRefusedError:
            assert time.monotonic() < patience_s
            time.sleep(0.05)
