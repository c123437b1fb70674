"""Decides how hosts are asked: all at once, each script into a `sh -s`, within a time, and nothing is left behind."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import BinaryIO

from locust_agents.cluster.probe.answer import Heard
from locust_agents.cluster.probe.sites import Site
from locust_agents.cluster.probe.ssh import SSH_FAILED

POLL_S = 0.05
GRACE_S = 1.0
"""Between SIGTERM and SIGKILL for what did not end in time."""

_SHELL = ("sh", "-s")
_SSH = ("ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", "-o", "LogLevel=ERROR")
"""LogLevel, since a QUIET in ~/.ssh/config, as mlx.launch has it, would hide why ssh failed."""

Until = Callable[[Mapping[Site, Heard]], bool]


@dataclass(frozen=True, slots=True)
class _Call:
    """A command that runs, with files for what it says: nobody has to drain them."""

    popen: subprocess.Popen[bytes]
    out: BinaryIO
    err: BinaryIO

    def heard(self) -> Heard:
        return Heard(_text(self.out), _text(self.err), self.popen.poll())

    def hang_up(self) -> None:
        if self.popen.stdin is not None:
            with suppress(BrokenPipeError):
                self.popen.stdin.close()


def ask(scripts: Mapping[Site, str], bound_s: float, until: Until | None = None) -> dict[Site, Heard]:
    """What each host said within the bound.

    Without `until` a script's stdin ends with it. With `until` it stays open as the sign that somebody is there, till
    `until` holds of what was heard so far or the bound has passed; then all have a moment to end by themselves.
    """
    with ExitStack() as stack:
        calls: dict[Site, _Call] = {}
        heard: dict[Site, Heard] = {}
        for site, script in scripts.items():
            try:
                calls[site] = stack.enter_context(_call(site, script))
            except FileNotFoundError:
                heard[site] = Heard("", "ssh is not installed here", SSH_FAILED)
        if until is not None:
            _wait(calls, bound_s, until)
        for call in calls.values():
            call.hang_up()
        _wait(calls, bound_s if until is None else GRACE_S, _all_ended)
        return heard | {site: call.heard() for site, call in calls.items()}


def argv(site: Site) -> tuple[str, ...]:
    """The command that reads a script there from its stdin."""
    return _SHELL if site.ssh is None else (*_SSH, site.ssh, *_SHELL)


def _all_ended(heard: Mapping[Site, Heard]) -> bool:
    return all(each.status is not None for each in heard.values())


def _wait(calls: Mapping[Site, _Call], bound_s: float, until: Until) -> None:
    end = time.monotonic() + bound_s
    while time.monotonic() < end and not until({site: call.heard() for site, call in calls.items()}):
        time.sleep(POLL_S)


@contextmanager
def _call(site: Site, script: str) -> Iterator[_Call]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        # a session of its own: no terminal from which ssh could ask, and a group that can be ended as one
        popen = subprocess.Popen(argv(site), stdin=subprocess.PIPE, stdout=out, stderr=err, start_new_session=True)
        call = _Call(popen, out, err)
        try:
            assert popen.stdin is not None
            with suppress(BrokenPipeError):
                popen.stdin.write(script.encode())
                popen.stdin.flush()
            yield call
        finally:
            call.hang_up()
            _end(popen)


def _end(popen: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if popen.poll() is not None:
            return
        with suppress(ProcessLookupError):
            os.killpg(popen.pid, number)
        with suppress(subprocess.TimeoutExpired):
            popen.wait(GRACE_S)


def _text(file: BinaryIO) -> str:
    """All of it; read at a place, since the child writes on at the one that we share."""
    return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode(errors="replace")
