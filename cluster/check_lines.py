"""Decides what `check` prints of a server before anything starts: its kind, its commands, its address, its hosts."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from locust_agents.cluster.address import base_url
from locust_agents.cluster.benchmark.job import Ask
from locust_agents.cluster.benchmark.raw import FOLDER, benchmark_command
from locust_agents.cluster.command import launch_command, plain_line, shell_line
from locust_agents.cluster.hosts.rdma import devices
from locust_agents.cluster.hosts.values import Hostfile, ring_addresses
from locust_agents.cluster.launch_spec import LaunchSpec
from locust_agents.cluster.remote.attached_hosts import AttachedHost, described
from locust_agents.scenarios.model import Server

_WIDTH = 8


def lines(
    spec: LaunchSpec, model: Path | str, port: int, starting_port: int, log_folder: Path, is_drawn: bool = False
) -> list[str]:
    """A launch, one line for each thing, under the arguments that `run` would give `launch_command`.

    `is_drawn`: the ports are free ones that each run draws anew. Raises what `launch_command` raises.
    """
    argv = launch_command(spec, model, port, starting_port, log_folder)
    how = "pipeline" if spec.pipeline or spec.options.get("pipeline") else "tensor"
    ranks = "1 rank" if spec.ranks == 1 else f"{spec.ranks} ranks over {spec.backend}, {how} parallel"
    drawn = " (a free port; each run draws its own, unless server.port says one)" if is_drawn else ""
    return [
        _line("server", f"mlx_lm.server by mlx.launch, {ranks}"),
        _line("runs", shell_line(argv)),
        _line("by hand", plain_line(spec, model, port, starting_port)),
        _line("address", f"{base_url(spec, port)}/v1{drawn}"),
        *(_hosts(spec.hostfile, spec.backend, starting_port) if spec.hostfile else ()),
    ]


def benchmark_line(spec: LaunchSpec, model: Path | str, ask: Ask, starting_port: int, run_folder: Path) -> str:
    """What runs before the server; raises what `launch_command` raises."""
    argv = benchmark_command(spec, model, ask, starting_port, run_folder / FOLDER)
    return _line("before", shell_line(argv))


def attached_lines(url: str, hosts: Sequence[AttachedHost] = ()) -> list[str]:
    """A server that is already there."""
    return [
        _line("server", "attached to, neither started nor stopped"),
        _line("address", f"{url}/v1"),
        *([_line("hosts", f"{described(hosts)}, where memory and processes are watched")] if hosts else ()),
    ]


def plugin_line(server: Server) -> str:
    """A server that a plugin leads to: only that knows what it will do."""
    given = ", ".join(f"{name}: {value}" for name, value in server.parameters.items())
    return _line("server", f"by the launcher {server.launcher}" + (f", with {given}" if given else ""))


def _hosts(hostfile: Hostfile, backend: str, starting_port: int) -> Iterator[str]:
    for rank, host in enumerate(hostfile.hosts):
        where = "this machine" if host.is_local else f"ssh {host.ssh}"
        links = ", ".join(_links(hostfile, rank, backend, starting_port))
        yield _line(f"rank {rank}", f"{where}{f', {links}' if links else ''}")


def _links(hostfile: Hostfile, rank: int, backend: str, starting_port: int) -> Iterator[str]:
    if backend == "ring":
        yield from ring_addresses(hostfile, starting_port)[rank]
    if backend.startswith("jaccl"):
        if rank == 0:
            yield f"coordinator {hostfile.hosts[0].ips[0]}:{starting_port}"
        for other, entry in enumerate(hostfile.hosts[rank].rdma):
            if entry is not None:
                yield f"{' + '.join(devices(entry))} to rank {other}"


def _line(name: str, text: str) -> str:
    return f"{name:{_WIDTH}}{text}"
