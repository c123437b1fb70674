"""Decides what a hostfile is once it is read: frozen hosts in the order of their ranks, and what follows from them."""

import ipaddress
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

LOCAL = "127.0.0.1"
"""The one `ssh` name that mlx.launch (0.32.4) starts without ssh."""

THIS_MACHINE = "this machine"

Device = str | tuple[str, ...] | None
"""An entry of `rdma`: the device that leads to a host, several of them, or null."""


@dataclass(frozen=True, slots=True)
class Host:
    """Where one rank runs: `ssh` is what ssh is given, `rdma` has an entry for each host of the file."""

    ssh: str
    ips: tuple[str, ...] = ()
    rdma: tuple[Device, ...] = ()

    @property
    def is_local(self) -> bool:
        """Whether mlx.launch starts it without ssh."""
        return self.ssh == LOCAL

    @property
    def name(self) -> str:
        """The machine's name in lower case, without the user in front of it."""
        return self.ssh.rpartition("@")[2].lower()


@dataclass(frozen=True, slots=True)
class Hostfile:
    """`backend` is None where the file names none; `envs` are KEY=VALUE, which mlx.launch exports on each host."""

    path: Path
    backend: str | None
    envs: tuple[str, ...]
    hosts: tuple[Host, ...]

    def label(self, rank: int) -> str:
        """How messages name a host: its place in the file and what ssh calls it."""
        return f"hosts[{rank}] ({self.hosts[rank].ssh})"

    @property
    def remote(self) -> tuple[str, ...]:
        """The ssh names of the hosts that are reached by ssh, each once, in the order of the file."""
        return tuple(dict.fromkeys(host.ssh for host in self.hosts if not host.is_local))


def rank_0_address(hostfile: Hostfile) -> str:
    """What agents put into the URL: rank 0 alone serves HTTP, and it is the first host of the file.

    Its ssh name if that is an IP, as this machine's 127.0.0.1 is; else its first IP, since only ssh may know the name.
    """
    first = hostfile.hosts[0]
    return first.ips[0] if first.ips and not is_ip(first.name) else first.name


def ring_addresses(hostfile: Hostfile, starting_port: int) -> tuple[tuple[str, ...], ...]:
    """The address:port that each rank listens on: mlx.launch counts on through the IPs of all hosts."""
    ports = iter(range(starting_port, starting_port + sum(len(host.ips) for host in hostfile.hosts)))
    return tuple(tuple(f"{ip}:{next(ports)}" for ip in host.ips) for host in hostfile.hosts)


def machine(host: Host, this_host_names: Collection[str]) -> str:
    """Equal for two hosts that are the same machine, as far as names tell."""
    return THIS_MACHINE if is_loopback(host.name) or host.name in this_host_names else host.name


def is_ip(text: str) -> bool:
    """Whether it is an address and not a name."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def is_loopback(text: str) -> bool:
    """Whether every machine would take it for itself."""
    return text == "localhost" or (is_ip(text) and ipaddress.ip_address(text).is_loopback)
