"""What `check` prints of a server before it is started."""

import shlex
from pathlib import Path

from locust_agents.cluster.benchmark.job import Ask
from locust_agents.cluster.benchmark.raw import benchmark_command
from locust_agents.cluster.check_lines import attached_lines, benchmark_line, lines, plugin_line
from locust_agents.cluster.command import LaunchSpec, launch_command
from locust_agents.cluster.hosts.hostfile import Host, Hostfile
from locust_agents.scenarios.model import Server

RING = Hostfile(Path("ring.json"), "ring", (), (Host("127.0.0.1", ("10.0.0.1",)), Host("bob@mac2", ("10.0.0.2",))))
JACCL = Hostfile(
    Path("jaccl.json"),
    "jaccl",
    (),
    (
        Host("mac1", ("192.168.1.11",), (None, ("rdma_en2", "rdma_en3"))),
        Host("mac2", (), (("rdma_en2", "rdma_en3"), None)),
    ),
)


def spoken(printed: list[str], name: str) -> str:
    """The text behind a name, found once."""
    (found,) = [line[8:] for line in printed if line[:8].strip() == name]
    return found


def test_the_command_is_the_one_that_run_runs() -> None:
    spec = LaunchSpec("m", hostfile=RING, python="~/my mlx/bin/python")
    printed = lines(spec, "~/m", 8080, 32323, Path("/runs/x"))
    argv = launch_command(spec, "~/m", 8080, 32323, Path("/runs/x"))
    assert tuple(shlex.split(spoken(printed, "runs"))) == argv


def test_ring_hosts_by_rank() -> None:
    printed = lines(LaunchSpec("m", hostfile=RING, python="python3"), "~/m", 8080, 32323, Path("/runs/x"))
    assert printed[:1] + printed[2:] == [
        "server  mlx_lm.server by mlx.launch, 2 ranks over ring, tensor parallel",
        "by hand mlx.launch --hostfile ring.json --backend ring -- python3 -m mlx_lm server --model ~/m"
        " --host 127.0.0.1 --port 8080",
        "address http://127.0.0.1:8080/v1",
        "rank 0  this machine, 10.0.0.1:32323",
        "rank 1  ssh bob@mac2, 10.0.0.2:32324",
    ]


def test_jaccl_hosts_by_rank() -> None:
    spec = LaunchSpec("m", backend="jaccl", hostfile=JACCL, python="python3", pipeline=True)
    printed = lines(spec, "~/m", 8080, 32323, Path("/runs/x"))
    assert spoken(printed, "server") == "mlx_lm.server by mlx.launch, 2 ranks over jaccl, pipeline parallel"
    assert spoken(printed, "address") == "http://192.168.1.11:8080/v1"
    assert spoken(printed, "rank 0") == "ssh mac1, coordinator 192.168.1.11:32323, rdma_en2 + rdma_en3 to rank 1"
    assert spoken(printed, "rank 1") == "ssh mac2, rdma_en2 + rdma_en3 to rank 0"


def test_ports_that_each_run_draws() -> None:
    printed = lines(LaunchSpec("tiny", ranks=1), Path("/m"), 12_000, 12_001, Path("/runs/x"), is_drawn=True)
    assert spoken(printed, "server") == "mlx_lm.server by mlx.launch, 1 rank"
    assert spoken(printed, "address") == (
        "http://127.0.0.1:12000/v1 (a free port; each run draws its own, unless server.port says one)"
    )


def test_the_benchmark_has_the_ranks_and_a_folder_of_its_own() -> None:
    spec = LaunchSpec("m", hostfile=RING, python="python3", options={"prefill-step-size": 512})
    line = benchmark_line(spec, "~/m", Ask(64, 8, 2, 1), 32323, Path("/runs/x"))
    argv = benchmark_command(spec, "~/m", Ask(64, 8, 2, 1), 32323, Path("/runs/x/benchmark"))
    assert line[:8] == "before  "
    assert tuple(shlex.split(line[8:])) == argv
    assert line.endswith("-p 64 -g 8 -b 2 -n 1 --prefill-step-size 512")


def test_a_plugin_s_server() -> None:
    assert plugin_line(Server.model_validate({"launcher": "vllm", "with": {"gpus": 2, "quick": True}})) == (
        "server  by the launcher vllm, with gpus: 2, quick: True"
    )
    assert plugin_line(Server(launcher="vllm")) == "server  by the launcher vllm"


def test_attached() -> None:
    assert attached_lines("http://mac1:8080") == [
        "server  attached to, neither started nor stopped",
        "address http://mac1:8080/v1",
    ]
