"""Decides what the address of a server that already runs may look like, and whether anybody listens there."""

import errno
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from locust_agents.cluster.benchmark.output import Result
from locust_agents.cluster.crew import ProcessRecord
from locust_agents.cluster.remote import attached_hosts
from locust_agents.cluster.remote.attached_hosts import AttachedHost
from locust_agents.cluster.vitals.memory_sample import Host
from locust_agents.errors import ClusterError, ScenarioError
from locust_agents.telling import Note, Say

_PORTS = {"http": 80, "https": 443}
_PASTED = ("/chat/completions", "/v1")


class Attached:
    """A server that somebody else started: nothing here ever stops or loads it."""

    def __init__(
        self,
        url: str,
        log: Path | None = None,
        known_hosts: Sequence[AttachedHost] = (),
        model: str | None = None,
    ) -> None:
        self.url = url
        self.epoch = 1
        self.model = model
        self.culprit: int | None = None
        self.ranks = sum(len(host.ranks) for host in known_hosts) or None
        self.benchmark: Result | None = None
        self._log = log
        self._known_hosts = known_hosts

    def failure(self) -> str | None:
        """That one of its ranks has ended, where a hostfile tells on which hosts to look."""
        return next((text for host in self._known_hosts if (text := host.failure())), None)

    def hosts(self) -> list[Host]:
        """Those of its hostfile."""
        return [host.host() for host in self._known_hosts]

    def logs(self) -> dict[int, Path]:
        """Rank 0's log, where it was named."""
        return {} if self._log is None else {0: self._log}

    def runs(self) -> dict[str, Callable[[str], str]]:
        """We are on none of its hosts."""
        return {}

    def processes(self) -> list[ProcessRecord]:
        """None of them is ours."""
        return []

    def log_tail(self, rank: int | None) -> tuple[str, ...]:
        """Its logs are not ours either."""
        del rank
        return ()

    def stop(self) -> list[str]:
        """Leaves it as it is, and hangs up."""
        for host in self._known_hosts:
            host.close()
        return []


def base_url(text: str) -> str:
    """The server's address without /v1 and without a slash at its end: `mac1:8080` becomes `http://mac1:8080`.

    Raises ScenarioError.
    """
    parts = _split(text)
    path = parts.path.rstrip("/")
    for pasted in _PASTED:
        path = path.removesuffix(pasted).rstrip("/")
    return f"{parts.scheme}://{parts.netloc.lower()}{path}"


def attach(
    url: str,
    say: Say,
    note: Note,
    timeout_s: float = 10.0,
    log: Path | None = None,
    hosts: Sequence[AttachedHost] = (),
    model: str | None = None,
) -> Attached:
    """Makes sure that somebody accepts connections there, and sends nothing; raises ClusterError or ScenarioError."""
    base = base_url(url)
    parts = urlsplit(base)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    say(f"looking for the server at {base}")
    try:
        socket.create_connection((host, port), timeout_s).close()
    except OSError as error:
        raise ClusterError(_advice(error, host, port, timeout_s)) from error
    if hosts:
        say(f"its hosts: {attached_hosts.described(hosts)}; their memory and processes are watched")
    note("attach", {"url": base} | ({"hosts": [host.name for host in hosts]} if hosts else {}))
    return Attached(base, log, hosts, model)


def _split(text: str) -> SplitResult:
    example = "give it as http://mac1:8080 or mac1:8080"
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        port = parts.port
    except ValueError as error:
        raise ScenarioError(f"{text!r} is not the address of a server ({error}): {example}") from error
    odd = any(character.isspace() for character in text) or parts.query or parts.fragment or parts.username or port == 0
    if parts.scheme not in _PORTS or not parts.hostname or odd:
        raise ScenarioError(f"{text!r} is not the address of a server: {example}")
    return parts


def _advice(error: OSError, host: str, port: int, timeout_s: float) -> str:
    if isinstance(error, socket.gaierror):
        return f"no machine is known as {host!r}: correct the name, or use its IP address"
    if isinstance(error, ConnectionRefusedError):
        return (
            f"nothing listens on {host}:{port}: start the server there with --host 0.0.0.0 (by default mlx_lm.server"
            " is heard on its own machine only), or correct the port"
        )
    if isinstance(error, TimeoutError):
        return (
            f"{host}:{port} did not answer within {timeout_s:g} s: see whether it sleeps, or a firewall is in the way"
        )
    if error.errno == errno.EHOSTUNREACH:
        return (
            f"no route to {host}:{port}: if curl reaches it, allow this terminal app under System Settings, Privacy &"
            " Security, Local Network (Apple TN3179)"
        )
    return f"{host}:{port} cannot be reached ({error.strerror or error}): correct the address or the network"
