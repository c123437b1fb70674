"""Decides which machines a probe asks, which ports each needs, and which rank must reach which address."""

import shlex
from dataclasses import dataclass

from locust_agents.cluster.address import STARTING_PORT
from locust_agents.cluster.hosts.values import THIS_MACHINE, Hostfile, ring_addresses
from locust_agents.cluster.launch_spec import LaunchSpec


@dataclass(frozen=True, slots=True)
class Site:
    """A host as mlx.launch reaches it, with all ranks it gets; `ssh` is None for this machine."""

    ssh: str | None
    ranks: tuple[int, ...]

    @property
    def name(self) -> str:
        """What ssh calls it."""
        return self.ssh or THIS_MACHINE

    @property
    def label(self) -> str:
        """Its ranks in words."""
        return f"rank {', '.join(map(str, self.ranks))}"

    def command(self, words: str) -> str:
        """What a person types on this machine to run `words` there, where `~` is that host's own home."""
        return words if self.ssh is None else f"ssh {self.ssh} {shlex.quote(words)}"


@dataclass(frozen=True, slots=True)
class Link:
    """A connection that mlx makes between two ranks; `address` is the listener's, as IP:port."""

    caller: int
    listener: int
    address: str

    @property
    def ip(self) -> str:
        """Where the listener binds."""
        return self.address.rpartition(":")[0]

    @property
    def port(self) -> int:
        """Where the listener binds."""
        return int(self.address.rpartition(":")[2])


def sites(spec: LaunchSpec) -> tuple[Site, ...]:
    """Each host once, in the order of its first rank; this machine alone where there is no hostfile."""
    if spec.hostfile is None:
        return (Site(None, tuple(range(spec.ranks))),)
    ranks: dict[str | None, list[int]] = {}
    for rank, host in enumerate(spec.hostfile.hosts):
        ranks.setdefault(None if host.is_local else host.ssh, []).append(rank)
    return tuple(Site(ssh, tuple(found)) for ssh, found in ranks.items())


def links(spec: LaunchSpec) -> tuple[Link, ...]:
    """Every connection that mlx (0.32) opens by TCP when it starts; none where its ports are drawn or its own affair.

    In a ring each rank calls the next one. The other way is not asked: with a cable for each pair, the address that a
    rank has for one neighbour is of no network of the other's. Over jaccl every rank calls the coordinator, rank 0.
    """
    hostfile, start = spec.hostfile, spec.starting_port or STARTING_PORT
    if hostfile is None or len(hostfile.hosts) < 2:
        return ()
    if spec.backend == "ring":
        return _ring(hostfile, start)
    if spec.backend.startswith("jaccl") and hostfile.hosts[0].ips:
        coordinator = f"{hostfile.hosts[0].ips[0]}:{start}"
        return tuple(Link(rank, 0, coordinator) for rank in range(1, len(hostfile.hosts)))
    return ()


def ports(site: Site, port: int, links: tuple[Link, ...]) -> tuple[int, ...]:
    """The ports that must be free there: that of HTTP for rank 0, and those at which other ranks call."""
    http = (port,) if 0 in site.ranks else ()
    return tuple(dict.fromkeys([*http, *(link.port for link in links if link.listener in site.ranks)]))


def _ring(hostfile: Hostfile, start: int) -> tuple[Link, ...]:
    addresses = ring_addresses(hostfile, start)
    return tuple(
        Link((rank - 1) % len(addresses), rank, address) for rank, own in enumerate(addresses) for address in own
    )
