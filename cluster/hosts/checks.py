"""Decides what in a hostfile keeps a backend from starting, and what is only worth a word."""

import ipaddress
from collections import Counter
from collections.abc import Collection, Iterator

from locust_agents.cluster.hosts import rdma
from locust_agents.cluster.hosts.values import LOCAL, THIS_MACHINE, Hostfile, is_ip, is_loopback, machine


def check(hostfile: Hostfile, backend: str, this_host_names: Collection[str] = ()) -> list[str]:
    """One sentence for each mistake that would keep the ranks from finding each other; none means that they can try.

    `backend` is the one that will be used; `this_host_names` are in lower case, as `hostfile.this_host_names` has them.
    """
    if not hostfile.hosts:
        return ["hosts: is empty; list the hosts in the order of their ranks, first the one that serves HTTP"]
    if backend == "ring":
        return list(_ring_faults(hostfile, this_host_names))
    if backend in ("jaccl", "jaccl-ring"):
        return list(_jaccl_faults(hostfile, backend, this_host_names))
    return []


def warnings(hostfile: Hostfile, backend: str, this_host_names: Collection[str] = ()) -> list[str]:
    """One sentence for each thing that works on some clusters and is a slip on others."""
    found = list(_twice(hostfile, this_host_names, "share its memory and its processor"))
    if backend != "mpi":  # mpirun knows its own machine
        found = [*_this_host_renamed(hostfile, this_host_names), *found]
    if hostfile.backend not in (None, backend):
        found.append(f"backend: the file says {hostfile.backend}, and the scenario's {backend} is used")
    if backend in ("jaccl", "jaccl-ring"):
        found += _odd_devices(hostfile)
    return found


def _ring_faults(hostfile: Hostfile, this_host_names: Collection[str]) -> Iterator[str]:
    for rank, host in enumerate(hostfile.hosts):
        if not host.ips:
            yield f'{hostfile.label(rank)}: has no "ips": ring needs the IP that its neighbours reach it by'
        yield from (f"{hostfile.label(rank)}: ips: {fault}" for ip in host.ips if (fault := _no_address(ip)))
    yield from _shared_ips(hostfile, this_host_names)
    yield from _only_its_own(hostfile)
    counted = [(rank, len(host.ips)) for rank, host in enumerate(hostfile.hosts) if host.ips]
    for rank, count in counted:
        if count != counted[0][1]:
            first = f"{hostfile.label(counted[0][0])} has {counted[0][1]}"
            yield f"{hostfile.label(rank)}: number of ips is {count}, and {first}: ring needs as many on each host"


def _jaccl_faults(hostfile: Hostfile, backend: str, this_host_names: Collection[str]) -> Iterator[str]:
    first = hostfile.hosts[0]
    if len(hostfile.hosts) == 1:
        yield f"hosts: {backend} needs two hosts or more, and there is {hostfile.label(0)} only: use ring for one"
        return
    if not first.ips:
        yield f'{hostfile.label(0)}: has no "ips": {backend} needs an IP of rank 0 that all other hosts reach'
    elif fault := _no_address(first.ips[0]):
        yield f"{hostfile.label(0)}: ips: {fault}"
    elif is_loopback(first.ips[0]):
        yield f"{hostfile.label(0)}: ips: {_leads_nowhere(first.ips[0])}"
    yield from _twice(hostfile, this_host_names, f"cannot be joined: {backend} needs another machine for each rank")
    yield from rdma.faults(hostfile, is_ring=backend == "jaccl-ring")


def _no_address(ip: str) -> str | None:
    try:
        address = ipaddress.ip_address(ip)
    except ValueError:
        host, colon, port = ip.rpartition(":")
        if colon and port.isdigit():
            return f"{ip!r} has a port, and mlx.launch counts ports itself from its --starting-port: write {host!r}"
        return f"{ip!r} is no IP; hosts can look a name up differently: give the IP"
    if address.version == 6:
        return (
            f"{ip!r} is IPv6, which mlx cannot read here (it takes all after the first colon for the port): give IPv4"
        )
    return f"{ip!r} is no address of one host" if address.is_unspecified or address.is_multicast else None


def _shared_ips(hostfile: Hostfile, this_host_names: Collection[str]) -> Iterator[str]:
    """An IP of two machines. Two ranks of one machine may share theirs: mlx.launch gives each a port of its own."""
    seen: dict[str, int] = {}
    for rank, host in enumerate(hostfile.hosts):
        for ip in dict.fromkeys(host.ips):
            other = seen.setdefault(ip, rank)
            if machine(host, this_host_names) != machine(hostfile.hosts[other], this_host_names):
                yield f"{hostfile.label(rank)}: has the IP {ip} of {hostfile.label(other)}: give each host its own"


def _only_its_own(hostfile: Hostfile) -> Iterator[str]:
    """A loopback IP among others. Where all are, the hosts are names of one machine, as in a test."""
    ips = [(rank, ip) for rank, host in enumerate(hostfile.hosts) for ip in host.ips]
    lost = [(rank, ip) for rank, ip in ips if is_ip(ip) and is_loopback(ip)]
    if len(lost) < len(ips):
        yield from (f"{hostfile.label(rank)}: ips: {_leads_nowhere(ip)}" for rank, ip in lost)


def _leads_nowhere(ip: str) -> str:
    return f"{ip!r} leads every host to itself: give the IP that others reach"


def _twice(hostfile: Hostfile, this_host_names: Collection[str], so: str) -> Iterator[str]:
    first: dict[str, int] = {}
    for rank, host in enumerate(hostfile.hosts):
        other = first.setdefault(machine(host, this_host_names), rank)
        if other != rank:
            yield f"{hostfile.label(rank)}: is the machine of {hostfile.label(other)} again; ranks on one machine {so}"


def _this_host_renamed(hostfile: Hostfile, this_host_names: Collection[str]) -> Iterator[str]:
    """Not a mistake: a file that serves all hosts alike is often written so, and works where ssh to oneself does."""
    for rank, host in enumerate(hostfile.hosts):
        if not host.is_local and machine(host, this_host_names) == THIS_MACHINE:
            yield (
                f"{hostfile.label(rank)}: is this machine, and mlx.launch will ssh to it: write {LOCAL} as its ssh,"
                f" or see that `ssh {host.ssh} true` works without a password"
            )


def _odd_devices(hostfile: Hostfile) -> Iterator[str]:
    for rank, host in enumerate(hostfile.hosts):
        names = Counter(name for entry in host.rdma for name in set(rdma.devices(entry)))
        for name, count in names.items():
            if count > 1:
                yield f"{hostfile.label(rank)}: rdma names {name!r} for {count} hosts, and a cable leads to one"
            if not name.startswith("rdma_"):
                yield f"{hostfile.label(rank)}: rdma: {name!r} is no device as macOS names them, such as rdma_en2"
