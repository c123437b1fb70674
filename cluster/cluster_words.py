"""Decides how the shape of a cluster is told to others: how many ranks and links, and no name or address of a host."""

from pathlib import Path

from locust_agents.cluster.hosts import hostfile
from locust_agents.cluster.hosts.hostfile import Hostfile
from locust_agents.cluster.hosts.rdma import devices
from locust_agents.errors import ScenarioError
from locust_agents.quantities import counted
from locust_agents.scenarios.model import Launch, Server

_NOT_OURS = "its own versions and options are not known here"


def of_server(server: Server) -> str:
    """One line; a hostfile that cannot be read any more is said to be that."""
    if server.launch is not None:
        return f"{_launched(server.launch)}, model {server.launch.model}"
    if server.attach is None:
        return f"by the launcher {server.launcher}"
    hosts = "" if server.attach.hostfile is None else f" ({_of_file(server.attach.hostfile, None)})"
    return f"attached{hosts}: {_NOT_OURS}"


def shape(found: Hostfile, backend: str | None = None) -> str:
    """Ranks, hosts, backend, and what joins them: `4 ranks on 4 hosts, jaccl, 1 address each, 12 of 12 RDMA links`."""
    hosts, ranks = len({host.ssh for host in found.hosts}), len(found.hosts)
    addresses = sorted({len(host.ips) for host in found.hosts})
    each = "/".join(map(str, addresses))
    parts = [
        f"{counted(ranks, 'rank')} on {counted(hosts, 'host')}",
        hostfile.backend_of(found, backend),
        f"{each} address{'' if each == '1' else 'es'} each",
        *([_links(found)] if any(host.rdma for host in found.hosts) else []),
    ]
    return ", ".join(parts)


def _launched(launch: Launch) -> str:
    mode = ", pipeline" if launch.pipeline else ""
    python = ", a Python of its own" if launch.python is not None else ""
    if launch.hostfile is not None:
        return f"{_of_file(launch.hostfile, launch.backend)}{mode}{python}"
    return f"{counted(launch.ranks or 2, 'rank')} on this machine, {launch.backend or 'ring'}{mode}{python}"


def _of_file(path: str, backend: str | None) -> str:
    try:
        return shape(hostfile.read(Path(path)), backend)
    except ScenarioError:
        return "a hostfile that could not be read"


def _links(found: Hostfile) -> str:
    """Directed links with at least one device, of all that a mesh would have."""
    there = sum(bool(devices(entry)) for host in found.hosts for entry in host.rdma)
    return f"{there} of {len(found.hosts) * (len(found.hosts) - 1)} RDMA links"
