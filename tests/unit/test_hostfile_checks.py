"""A good hostfile for each backend, and each way to spoil it with the sentence that it gets."""

from pathlib import Path

import pytest

from locust_agents.cluster.hosts.hostfile import Device, Host, Hostfile, check, warnings

MESH: list[list[Device]] = [
    [None, "rdma_en2", "rdma_en3", "rdma_en4"],
    ["rdma_en2", None, "rdma_en4", "rdma_en3"],
    ["rdma_en3", "rdma_en4", None, "rdma_en2"],
    ["rdma_en4", "rdma_en3", "rdma_en2", None],
]
NEIGHBOURS: list[list[Device]] = [
    [None, "rdma_en2", None, "rdma_en4"],
    ["rdma_en2", None, "rdma_en4", None],
    [None, "rdma_en4", None, "rdma_en2"],
    ["rdma_en4", None, "rdma_en2", None],
]


def ring(*hosts: tuple[str, list[str]]) -> Hostfile:
    return Hostfile(Path("hosts.json"), None, (), tuple(Host(ssh, tuple(ips)) for ssh, ips in hosts))


def macs(
    rdma: list[list[Device]], ips: tuple[str, ...] = ("192.168.1.11",), spoilt: dict[int, str] | None = None
) -> Hostfile:
    """The guide's form: mac1 … macN, an IP for rank 0; `spoilt` gives hosts another name."""
    names = [(spoilt or {}).get(rank, f"mac{rank + 1}") for rank in range(len(rdma))]
    rows = zip(names, rdma, strict=True)
    hosts = tuple(Host(name, () if rank else ips, tuple(row)) for rank, (name, row) in enumerate(rows))
    return Hostfile(Path("jaccl.json"), "jaccl", (), hosts)


def changed(rdma: list[list[Device]], *entries: tuple[int, int, Device]) -> list[list[Device]]:
    """The matrix with other entries, each (row, column, device)."""
    rows = [list(row) for row in rdma]
    for row, column, device in entries:
        rows[row][column] = device
    return rows


def test_good_ones() -> None:
    assert check(ring(("127.0.0.1", ["10.0.0.1"]), ("mac2", ["10.0.0.2"])), "ring") == []
    assert check(ring(("mac1", ["10.0.0.1", "10.0.1.1"]), ("mac2", ["10.0.0.2", "10.0.1.2"])), "ring") == []
    assert check(ring(("mac2", ["10.0.0.1"])), "ring") == []
    assert check(ring(("127.0.0.1", ["127.0.0.1"]), ("rank1", ["127.0.0.2"])), "ring") == []
    assert check(ring(("mac1", []), ("mac1", []), ("mac2", [])), "mpi") == []
    assert check(macs(MESH), "jaccl") == []
    assert check(macs(MESH), "jaccl-ring") == []
    assert check(macs(NEIGHBOURS), "jaccl-ring") == []
    assert check(macs([[None, "rdma_en2"], ["rdma_en2", None]]), "jaccl-ring") == []
    assert check(macs(changed(MESH, (0, 1, ("rdma_en2", "rdma_en5")), (1, 0, ("rdma_en2", "rdma_en5")))), "jaccl") == []


def test_two_ranks_on_one_host_share_its_ip() -> None:
    # mlx.launch gives each of them a port of its own
    assert check(ring(("mac1", ["10.0.0.1"]), ("mac1", ["10.0.0.1"])), "ring") == []
    assert check(ring(("127.0.0.1", ["10.0.0.1"]), ("mac1.local", ["10.0.0.1"])), "ring", {"mac1.local"}) == []


@pytest.mark.parametrize(
    ("hosts", "complaints", "remark"),
    [
        (
            [],
            ["hosts: is empty; list the hosts in the order of their ranks, first the one that serves HTTP"],
            "nobody",
        ),
        (
            [("mac1", ["10.0.0.1"]), ("mac2", [])],
            ['hosts[1] (mac2): has no "ips": ring needs the IP that its neighbours reach it by'],
            "no IP",
        ),
        (
            [("mac1", ["mac1.local"]), ("mac2", ["10.0.0.2"])],
            ["hosts[0] (mac1): ips: 'mac1.local' is no IP; hosts can look a name up differently: give the IP"],
            "a name",
        ),
        (
            [("mac1", ["10.0.0.1:5000"]), ("mac2", ["10.0.0.2"])],
            [
                "hosts[0] (mac1): ips: '10.0.0.1:5000' has a port, and mlx.launch counts ports itself from its"
                " --starting-port: write '10.0.0.1'"
            ],
            "a port",
        ),
        (
            [("mac1", ["10.0.0.1"]), ("mac2", ["fe80::2"])],
            [
                "hosts[1] (mac2): ips: 'fe80::2' is IPv6, which mlx cannot read here (it takes all after the first"
                " colon for the port): give IPv4"
            ],
            "IPv6; seen with mlx 0.32.4: Can't parse address",
        ),
        (
            [("mac1", ["10.0.0.1"]), ("mac2", ["0.0.0.0"])],
            ["hosts[1] (mac2): ips: '0.0.0.0' is no address of one host"],
            "everywhere",
        ),
        (
            [("mac1", ["10.0.0.1"]), ("mac2", ["10.0.0.2"]), ("mac3", ["10.0.0.2"])],
            ["hosts[2] (mac3): has the IP 10.0.0.2 of hosts[1] (mac2): give each host its own"],
            "copied",
        ),
        (
            [("127.0.0.1", ["127.0.0.1"]), ("mac2", ["10.0.0.2"])],
            ["hosts[0] (127.0.0.1): ips: '127.0.0.1' leads every host to itself: give the IP that others reach"],
            "its own ssh name as its IP",
        ),
        (
            [("mac1", ["10.0.0.1", "10.0.1.1"]), ("mac2", ["10.0.0.2"])],
            ["hosts[1] (mac2): number of ips is 1, and hosts[0] (mac1) has 2: ring needs as many on each host"],
            "two cables, and one",
        ),
    ],
)
def test_spoilt_ring(hosts: list[tuple[str, list[str]]], complaints: list[str], remark: str) -> None:
    assert check(ring(*hosts), "ring") == complaints, remark


@pytest.mark.parametrize(
    ("hostfile", "complaints", "remark"),
    [
        (
            macs([[None]]),
            ["hosts: jaccl needs two hosts or more, and there is hosts[0] (mac1) only: use ring for one"],
            "one host",
        ),
        (
            macs(MESH, ips=()),
            ['hosts[0] (mac1): has no "ips": jaccl needs an IP of rank 0 that all other hosts reach'],
            "no coordinator",
        ),
        (
            macs(MESH, ips=("mac1.local",)),
            ["hosts[0] (mac1): ips: 'mac1.local' is no IP; hosts can look a name up differently: give the IP"],
            "a name for the coordinator",
        ),
        (
            macs(MESH, ips=("127.0.0.1",)),
            ["hosts[0] (mac1): ips: '127.0.0.1' leads every host to itself: give the IP that others reach"],
            "loopback for the coordinator",
        ),
        (
            macs([MESH[0], MESH[1], [], MESH[3]]),
            ['hosts[2] (mac3): has no "rdma": give an entry for each of the 4 hosts, null for itself'],
            "no row",
        ),
        (
            macs([MESH[0], MESH[1], MESH[2][:3], MESH[3]]),
            ["hosts[2] (mac3): rdma has 3 entries for 4 hosts: give one for each, null for itself"],
            "a short row",
        ),
        (
            macs(changed(MESH, (1, 1, "rdma_en5"))),
            ["hosts[1] (mac2): rdma[1] is 'rdma_en5' but stands for the host itself: it must be null"],
            "no null",
        ),
        (
            macs(changed(MESH, (1, 1, "rdma_en2"), (1, 0, None))),
            [
                "hosts[1] (mac2): rdma[1] is 'rdma_en2' but stands for the host itself: it must be null; the null is at"
                " rdma[0], are the entries in the order of hosts?"
            ],
            "the null at another place",
        ),
        (
            macs(changed(MESH, (1, 1, ()))),
            ["hosts[1] (mac2): rdma[1] is an empty list but stands for the host itself: it must be null"],
            "an empty list is not null to mlx.launch",
        ),
        (
            macs(changed(MESH, (1, 2, None))),
            ["hosts[1] (mac2): rdma[2] names no device to hosts[2] (mac3), which names 'rdma_en4' for the way back"],
            "one way only",
        ),
        (
            macs(changed(MESH, (1, 3, None), (3, 1, ()))),
            [
                "hosts[1] (mac2) and hosts[3] (mac4): rdma[3] and rdma[1] name no device: a cable and its device are"
                " needed between each two hosts"
            ],
            "a pair without a cable",
        ),
        (
            macs(NEIGHBOURS),
            [
                "hosts[0] (mac1) and hosts[2] (mac3): rdma[2] and rdma[0] name no device: a cable and its device are"
                " needed between each two hosts",
                "hosts[1] (mac2) and hosts[3] (mac4): rdma[3] and rdma[1] name no device: a cable and its device are"
                " needed between each two hosts",
            ],
            "a ring is no mesh",
        ),
        (
            macs(MESH, spoilt={3: "bob@MAC2"}),
            [
                "hosts[3] (bob@MAC2): is the machine of hosts[1] (mac2) again; ranks on one machine cannot be joined:"
                " jaccl needs another machine for each rank"
            ],
            "the same host, written otherwise",
        ),
        (
            macs(MESH, spoilt={0: "127.0.0.1", 3: "here"}),
            [
                "hosts[3] (here): is the machine of hosts[0] (127.0.0.1) again; ranks on one machine cannot be joined:"
                " jaccl needs another machine for each rank"
            ],
            "this machine under two names",
        ),
    ],
)
def test_spoilt_jaccl(hostfile: Hostfile, complaints: list[str], remark: str) -> None:
    assert check(hostfile, "jaccl", {"here"}) == complaints, remark


TWO: Device = ("rdma_en2", "rdma_en3")
FIVE: Device = ("rdma_en2", "rdma_en3", "rdma_en4", "rdma_en5", "rdma_en6")


@pytest.mark.parametrize(
    ("rdma", "complaints", "remark"),
    [
        (
            changed(NEIGHBOURS, (2, 3, None)),
            ["hosts[2] (mac3): rdma[3] names no device to hosts[3] (mac4), which names 'rdma_en2' for the way back"],
            "a neighbour missing",
        ),
        (
            changed(NEIGHBOURS, (0, 3, None), (3, 0, None)),
            [
                "hosts[0] (mac1) and hosts[3] (mac4): rdma[3] and rdma[0] name no device: a cable and its device are"
                " needed between neighbours"
            ],
            "the ring is not closed",
        ),
        (
            [[None, TWO, "rdma_en5"], [TWO, None, TWO], [TWO, TWO, None]],
            [
                "hosts[0] (mac1): rdma[2] names 1 to hosts[2] (mac3), and hosts[0] (mac1) names 2 to hosts[1] (mac2):"
                " jaccl-ring needs as many devices between all neighbours"
            ],
            "two cables, and one",
        ),
        (
            [[None, FIVE], [FIVE, None]],
            ["hosts[0] (mac1): rdma[1] names 5 devices, and jaccl-ring takes 4 at most"],
            "RING_MAX_CONNS",
        ),
    ],
)
def test_spoilt_jaccl_ring(rdma: list[list[Device]], complaints: list[str], remark: str) -> None:
    assert check(macs(rdma), "jaccl-ring") == complaints, remark


@pytest.mark.parametrize(
    ("hostfile", "backend", "words", "remark"),
    [
        (macs(MESH), "jaccl", [], "nothing odd"),
        (
            macs(MESH, spoilt={1: "me@Here"}),
            "jaccl",
            [
                "hosts[1] (me@Here): is this machine, and mlx.launch will ssh to it: write 127.0.0.1 as its ssh, or see"
                " that `ssh me@Here true` works without a password"
            ],
            "under its own name",
        ),
        (
            ring(("localhost", ["10.0.0.1"]), ("mac2", ["10.0.0.2"])),
            "ring",
            [
                "hosts[0] (localhost): is this machine, and mlx.launch will ssh to it: write 127.0.0.1 as its ssh, or"
                " see that `ssh localhost true` works without a password"
            ],
            "localhost is not 127.0.0.1 to mlx.launch",
        ),
        (ring(("here", []), ("mac2", [])), "mpi", [], "mpirun knows its own machine"),
        (
            ring(("mac1", ["10.0.0.1"]), ("mac1", ["10.0.0.1"])),
            "ring",
            [
                "hosts[1] (mac1): is the machine of hosts[0] (mac1) again; ranks on one machine share its memory and"
                " its processor"
            ],
            "two ranks on one host are legal",
        ),
        (
            macs(MESH),
            "jaccl-ring",
            ["backend: the file says jaccl, and the scenario's jaccl-ring is used"],
            "one file for both, as mlx.launch --backend allows",
        ),
        (
            macs([[None, "rdma_en2", "rdma_en2"], ["rdma_en2", None, "en3"], ["rdma_en2", "rdma_en3", None]]),
            "jaccl",
            [
                "hosts[0] (mac1): rdma names 'rdma_en2' for 2 hosts, and a cable leads to one",
                "hosts[1] (mac2): rdma: 'en3' is no device as macOS names them, such as rdma_en2",
            ],
            "odd devices",
        ),
    ],
)
def test_warnings(hostfile: Hostfile, backend: str, words: list[str], remark: str) -> None:
    assert warnings(hostfile, backend, {"here", "127.0.0.1"}) == words, remark
