"""Decides how a replay server is held: started as a child, read back, ended with its owner. Works under gevent too."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from locust_agents.cluster.replay.scripts import Script
from locust_agents.errors import ClusterError

_STOP_S = 5.0


@dataclass(frozen=True, slots=True)
class Received:
    """A request as the server read it, its last byte at `at_s` on `time.monotonic`; header names are in lower case."""

    at_s: float
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class ReplayServer:
    """A server in a process of its own on 127.0.0.1 that answers request k with `scripts[k]`; the last one repeats.

    `with ReplayServer([chat_stream(["a", "b"], 0.1, 0.02)]) as server:` and then `server.url`. Scripts that name a path
    count apart, each path for itself; a GET that no script names gets `{"status": "ok"}` and uses none up.

    With `stamp`, each `STAMP` in a script's bytes becomes `time.monotonic_ns()` of the server at the moment of that
    write, padded with blanks to 20 bytes (right in JSON and for `int`). On Linux and macOS that clock is one for all
    processes, and `time.perf_counter_ns` reads the same one (CLOCK_MONOTONIC, mach_absolute_time: see
    `time.get_clock_info`), so a client may subtract. A send waits until the kernel has taken the one before; of a send
    larger than the socket's buffer, the stamp is the time of its first bytes.

    Neither threads nor sockets of this process are used; the child quits when this process ends, however it ends.
    """

    def __init__(self, scripts: Sequence[Script], stamp: bool = False) -> None:
        self.url = ""
        self._scripts = scripts
        self._stamp = stamp
        self._child: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self._received: list[Received] = []

    def __enter__(self) -> "ReplayServer":
        """Starts it."""
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        """Stops it, whatever was raised."""
        self.stop()

    def start(self) -> None:
        """Returns when the server listens and `url` is known. Raises ClusterError when it does not come up."""
        # files without a name: nothing is left behind even when both processes are killed
        self._log = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  (closed in stop)
        with tempfile.TemporaryFile() as scripts, tempfile.TemporaryFile() as complaints:
            scripts.write(json.dumps([script.to_json() for script in self._scripts]).encode())
            scripts.seek(0)
            self._child = _spawn(scripts, self._log, complaints, self._stamp)
            assert self._child.stdout is not None
            self.url = self._child.stdout.readline().decode().strip()
            if not self.url:
                self.stop()
                complaints.seek(0)
                lines = complaints.read().decode(errors="replace").splitlines() or ["it said nothing"]
                raise ClusterError(f"the replay server did not start: {lines[-1]}", tuple(lines))

    def requests(self) -> list[Received]:
        """Everything asked so far, in the order in which it was read; also after `stop`."""
        if self._log is None:
            return self._received
        size = os.fstat(self._log.fileno()).st_size
        return list(_parse(os.pread(self._log.fileno(), size, 0)))

    def stop(self) -> None:
        """Ends the child and its connections; a second call does nothing."""
        if self._child is not None:
            _end(self._child)
        if self._log is not None:
            self._received = self.requests()
            self._log.close()
        self._child = self._log = None


def _spawn(scripts: IO[bytes], log: IO[bytes], complaints: IO[bytes], stamp: bool) -> "subprocess.Popen[bytes]":
    files = (scripts.fileno(), log.fileno())
    options = ["--owned", "--log", f"/dev/fd/{log.fileno()}", *(["--stamp"] if stamp else [])]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "locust_agents.cluster.replay.server", f"/dev/fd/{scripts.fileno()}", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=complaints,
        pass_fds=files,
        start_new_session=True,  # Ctrl-C is for the owner; the child ends with its standard input
    )


def _end(child: "subprocess.Popen[bytes]") -> None:
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()
    try:
        child.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _parse(log: bytes) -> Iterator[Received]:
    start = 0
    while (newline := log.find(b"\n", start)) >= 0:
        at_ns, method, path, headers, length = json.loads(log[start:newline])
        start = newline + 1 + length
        if start > len(log):  # still being written
            return
        yield Received(at_ns / 1e9, method, path, headers, log[newline + 1 : start])
