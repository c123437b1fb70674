"""Reading a hostfile: both forms, as the installed mlx.launch reads them, and what is said of files that are none."""

import json
from pathlib import Path

import pytest

from locust_agents.cluster.hosts.hostfile import (
    Host,
    Hostfile,
    backend_of,
    demand,
    rank_0_address,
    read,
    ring_addresses,
    this_host_names,
)
from locust_agents.errors import ScenarioError

FOUR_MACS = """
{
  "backend": "jaccl",
  "envs": ["MLX_METAL_FAST_SYNCH=1"],
  "hosts": [
    {"ssh": "mac1", "ips": ["192.168.1.11"], "rdma": [null, "rdma_en2", "rdma_en3", "rdma_en4"]},
    {"ssh": "mac2", "ips": [], "rdma": ["rdma_en2", null, ["rdma_en4", "rdma_en5"], "rdma_en3"]},
    {"ssh": "bob@Mac3.local", "rdma": ["rdma_en3", "rdma_en4", null, "rdma_en2"]},
    {"ssh": "mac4", "ips": [], "rdma": ["rdma_en4", "rdma_en3", "rdma_en2", null]}
  ]
}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "hosts.json"
    path.write_text(text, encoding="utf-8")
    return path


def test_object_form(tmp_path: Path) -> None:
    path = written(tmp_path, FOUR_MACS)
    hosts = (
        Host("mac1", ("192.168.1.11",), (None, "rdma_en2", "rdma_en3", "rdma_en4")),
        Host("mac2", (), ("rdma_en2", None, ("rdma_en4", "rdma_en5"), "rdma_en3")),
        Host("bob@Mac3.local", (), ("rdma_en3", "rdma_en4", None, "rdma_en2")),
        Host("mac4", (), ("rdma_en4", "rdma_en3", "rdma_en2", None)),
    )
    assert read(path) == Hostfile(path, "jaccl", ("MLX_METAL_FAST_SYNCH=1",), hosts)


def test_list_form(tmp_path: Path) -> None:
    path = written(tmp_path, '[{"ssh": "127.0.0.1", "ips": ["10.0.0.1"]}, {"ssh": "mac2", "ips": ["10.0.0.2"]}]')
    found = read(path)
    assert found == Hostfile(path, None, (), (Host("127.0.0.1", ("10.0.0.1",)), Host("mac2", ("10.0.0.2",))))
    assert (found.hosts[0].is_local, found.hosts[1].is_local, found.remote) == (True, False, ("mac2",))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # mlx.launch leaves the file open
@pytest.mark.parametrize("text", [FOUR_MACS, '[{"ssh": "a", "ips": ["10.0.0.1"]}]', '{"hosts": [{"ssh": "a"}]}'])
def test_mlx_launch_reads_the_same(tmp_path: Path, text: str) -> None:
    common = pytest.importorskip("mlx._distributed_utils.common")
    path = written(tmp_path, text)
    ours, theirs = read(path), common.Hostfile.from_file(path)
    assert (ours.backend or "", list(ours.envs)) == (theirs.backend, theirs.envs)
    plain = [[list(each) if isinstance(each, tuple) else each for each in host.rdma] for host in ours.hosts]
    assert [(host.ssh, list(host.ips)) for host in ours.hosts] == [(h.ssh_hostname, h.ips) for h in theirs.hosts]
    assert plain == [host.rdma for host in theirs.hosts]


@pytest.mark.parametrize(
    ("text", "complaints", "remark"),
    [
        ("[1 2]", [":1:4: is not JSON: Expecting ',' delimiter"], "with line and column"),
        ('"mac1"', [": expected {\"hosts\": […]} or a list of hosts, got 'mac1'"], "JSON, but neither form"),
        ("{}", [": hosts: this key is missing"], "an object without hosts"),
        ('{"hosts": {"ssh": "a"}}', [": hosts: expected a list, got a mapping"], "one host, not in a list"),
        ('{"host": []}', [": host: unknown key; did you mean 'hosts'?", ": hosts: this key is missing"], "two at once"),
        ('{"backend": "jacl", "hosts": []}', [": backend: 'jacl' is none; did you mean 'jaccl'?"], "mistyped"),
        (
            '{"backend": "x", "hosts": []}',
            [": backend: 'x' is none; there are ring, jaccl, jaccl-ring, mpi"],
            "unlike any",
        ),
        (
            '{"envs": "A=1", "hosts": []}',
            [": envs: expected a list of texts such as [\"MLX_METAL_FAST_SYNCH=1\"], got 'A=1'"],
            "one text alone",
        ),
        ('{"envs": ["A"], "hosts": []}', [": envs: 'A' is not of the form NAME=value"], "a name alone"),
        ('{"envs": ["A-B=1"], "hosts": []}', [": envs: 'A-B=1' is not of the form NAME=value"], "mlx would leave it"),
        (
            '[["10.0.0.1:5000"]]',
            [
                ': hosts[0]: expected {"ssh": …, "ips": […]}, got a list; a list of address:port is what MLX_HOSTFILE'
                " holds, not mlx.launch's --hostfile"
            ],
            "the other kind of hostfile",
        ),
        ('["mac1"]', [': hosts[0]: expected {"ssh": …, "ips": […]}, got \'mac1\''], "a name for a host"),
        (
            '[{"hostname": "mac1"}]',
            [
                ': hosts[0]: has no "ssh", the name by which ssh reaches the host',
                ": hosts[0]: hostname: unknown key; the keys here are ssh, ips, rdma",
            ],
            "the wrong key",
        ),
        ('[{"ssh": "-oX=y"}]', [": hosts[0]: ssh: '-oX=y' is no host that ssh could be given"], "ssh: an option"),
        ('[{"ssh": null}]', [": hosts[0]: ssh: nothing is no host that ssh could be given"], "ssh: null"),
        ('[{"ssh": "mac 1"}]', [": hosts[0]: ssh: 'mac 1' is no host that ssh could be given"], "ssh: a blank in it"),
        (
            '[{"ssh": "mac1", "ip": ["10.0.0.1"]}]',
            [": hosts[0] (mac1): ip: unknown key; did you mean 'ips'?"],
            "mlx.launch says nothing of it",
        ),
        (
            '[{"ssh": "mac1", "ips": "10.0.0.1"}]',
            [": hosts[0] (mac1): ips: expected a list of texts such as [\"10.0.0.1\"], got '10.0.0.1'"],
            "mlx.launch would take the IP '1'",
        ),
        (
            '[{"ssh": "mac1", "rdma": "rdma_en2"}]',
            [": hosts[0] (mac1): rdma: expected a list such as [null, \"rdma_en2\"], got 'rdma_en2'"],
            "no row",
        ),
        (
            '[{"ssh": "a"}, {"ssh": "mac2", "rdma": [2, null]}]',
            [": hosts[1] (mac2): rdma[0]: expected null, a device or a list of devices, got 2"],
            "a number for a device",
        ),
        (
            '[{"ssh": "mac1", "ips": ["10.0.0.1"], "ssh": "mac2"}]',
            [": 'ssh' is written twice in one object; is a }, { missing between two hosts?"],
            "two hosts run together",
        ),
    ],
)
def test_not_a_hostfile(tmp_path: Path, text: str, complaints: list[str], remark: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ScenarioError) as caught:
        read(path)
    assert str(caught.value).split("\n") == [f"{path}{complaint}" for complaint in complaints], remark


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"/jaccl\.json: there is no such hostfile; correct the name"):
        read(tmp_path / "jaccl.json")
    with pytest.raises(ScenarioError, match=r"cannot be read: Is a directory"):
        read(tmp_path)


def test_demand_says_all_mistakes_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, '{"backend": "ring", "hosts": [{"ssh": "a"}, {"ssh": "b", "ips": ["x"]}]}')
    with pytest.raises(ScenarioError) as caught:
        demand(path, None, ())
    first, second = str(caught.value).split("\n")
    assert first.startswith(f'{path}: hosts[0] (a): has no "ips"')
    assert second.startswith(f"{path}: hosts[1] (b): ips: 'x' is no IP")
    assert demand(path, "mpi", ()).backend == "ring"


@pytest.mark.parametrize(
    ("ssh", "ips", "address", "remark"),
    [
        ("127.0.0.1", ["10.0.0.1"], "127.0.0.1", "started here, so reached here"),
        ("mac1", ["192.168.1.11", "10.0.0.1"], "192.168.1.11", "its first IP, since ssh may know an alias only"),
        ("bob@192.168.1.11", ["10.0.0.1"], "192.168.1.11", "ssh's own IP surely leads there from here"),
        ("bob@Mac1.local", [], "mac1.local", "nothing but the name"),
    ],
)
def test_rank_0_is_the_first_host(tmp_path: Path, ssh: str, ips: list[str], address: str, remark: str) -> None:
    hosts = [{"ssh": ssh, "ips": ips}, {"ssh": "mac2", "ips": ["10.0.0.2"]}]
    assert rank_0_address(read(written(tmp_path, json.dumps(hosts)))) == address, remark


def test_ring_ports_count_through_all_ips(tmp_path: Path) -> None:
    hosts = [{"ssh": "a", "ips": ["10.0.0.1", "10.0.1.1"]}, {"ssh": "b", "ips": ["10.0.0.2", "10.0.1.2"]}]
    assert ring_addresses(read(written(tmp_path, json.dumps(hosts))), 32323) == (
        ("10.0.0.1:32323", "10.0.1.1:32324"),
        ("10.0.0.2:32325", "10.0.1.2:32326"),
    )


@pytest.mark.parametrize(
    ("of_file", "wanted", "used"),
    [("jaccl", None, "jaccl"), ("jaccl", "ring", "ring"), (None, None, "ring"), (None, "mpi", "mpi")],
)
def test_backend_of_scenario_then_file_then_ring(of_file: str | None, wanted: str | None, used: str) -> None:
    assert backend_of(Hostfile(Path("x"), of_file, (), ()), wanted) == used


def test_this_host_has_its_loopback_names() -> None:
    names = this_host_names()
    assert {"127.0.0.1", "localhost"} < names
    assert all(name == name.lower() for name in names)
