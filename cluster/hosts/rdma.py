"""Decides whether the `rdma` matrix of a hostfile joins its hosts: to a mesh for jaccl, to a ring for jaccl-ring.

What mlx cannot join it does not always refuse: a group that was not formed makes every host serve alone.
"""

from collections.abc import Iterator

from locust_agents.cluster.hosts.values import Device, Hostfile

MOST_DEVICES = 4
"""RING_MAX_CONNS of mlx 0.32.4's jaccl/ring_impl.h: connections to one neighbour."""

Pair = tuple[int, int]


def faults(hostfile: Hostfile, is_ring: bool) -> Iterator[str]:
    """A sentence for each row that has the wrong size, entry that should be null, and pair that is not joined."""
    sizes = list(_wrong_sizes(hostfile))
    if sizes:  # entries of such rows cannot be told to be for one host or another
        yield from sizes
        return
    twisted = {rank for rank, host in enumerate(hostfile.hosts) if host.rdma[rank] is not None}
    yield from (_not_null(hostfile, rank) for rank in sorted(twisted))
    pairs = [pair for pair in _pairs(len(hostfile.hosts), is_ring) if not twisted & set(pair)]
    unjoined = [fault for pair in pairs if (fault := _unjoined(hostfile, pair, is_ring))]
    yield from unjoined
    if is_ring and not unjoined:
        yield from _unequal(hostfile, pairs)


def devices(entry: Device) -> tuple[str, ...]:
    """The names in an entry, none for null."""
    return () if entry is None else (entry,) if isinstance(entry, str) else entry


def _wrong_sizes(hostfile: Hostfile) -> Iterator[str]:
    count = len(hostfile.hosts)
    for rank, host in enumerate(hostfile.hosts):
        if not host.rdma:
            yield f'{hostfile.label(rank)}: has no "rdma": give an entry for each of the {count} hosts, null for itself'
        elif len(host.rdma) != count:
            entries = f"{len(host.rdma)} {'entry' if len(host.rdma) == 1 else 'entries'}"
            yield f"{hostfile.label(rank)}: rdma has {entries} for {count} hosts: give one for each, null for itself"


def _not_null(hostfile: Hostfile, rank: int) -> str:
    row = hostfile.hosts[rank].rdma
    text = f"{hostfile.label(rank)}: rdma[{rank}] is {_said(row[rank])} but stands for the host itself: it must be null"
    elsewhere = [place for place, entry in enumerate(row) if entry is None]
    return text + (
        f"; the null is at rdma[{elsewhere[0]}], are the entries in the order of hosts?" if elsewhere else ""
    )


def _pairs(count: int, is_ring: bool) -> list[Pair]:
    """Those that must be joined, lower rank first."""
    if is_ring:
        return sorted({(min(rank, (rank + 1) % count), max(rank, (rank + 1) % count)) for rank in range(count)})
    return [(one, other) for one in range(count) for other in range(one + 1, count)]


def _unjoined(hostfile: Hostfile, pair: Pair, is_ring: bool) -> str | None:
    missing = [(one, other) for one, other in (pair, pair[::-1]) if not devices(hostfile.hosts[one].rdma[other])]
    if not missing:
        return None
    one, other = missing[0]
    here, there = hostfile.label(one), hostfile.label(other)
    if len(missing) == 1:
        back = _said(hostfile.hosts[other].rdma[one])
        return f"{here}: rdma[{other}] names no device to {there}, which names {back} for the way back"
    whom = "neighbours" if is_ring else "each two hosts"
    places = f"rdma[{other}] and rdma[{one}]"
    return f"{here} and {there}: {places} name no device: a cable and its device are needed between {whom}"


def _unequal(hostfile: Hostfile, pairs: list[Pair]) -> Iterator[str]:
    wanted = len(devices(hostfile.hosts[0].rdma[1]))
    if wanted > MOST_DEVICES:
        yield f"{hostfile.label(0)}: rdma[1] names {wanted} devices, and jaccl-ring takes {MOST_DEVICES} at most"
    for one, other in (way for pair in pairs for way in (pair, pair[::-1])):
        count = len(devices(hostfile.hosts[one].rdma[other]))
        if count != wanted:
            names = f"{hostfile.label(one)}: rdma[{other}] names {count} to {hostfile.label(other)}"
            first = f"{hostfile.label(0)} names {wanted} to {hostfile.label(1)}"
            yield f"{names}, and {first}: jaccl-ring needs as many devices between all neighbours"


def _said(entry: Device) -> str:
    return " and ".join(map(repr, devices(entry))) or "an empty list"
