"""Decides where rank 0 listens, by which address agents reach it, and which ports a launch from a hostfile takes."""

from locust_agents.cluster.hosts.values import LOCAL, is_loopback, rank_0_address
from locust_agents.cluster.launch_spec import LaunchSpec

EVERYWHERE = "0.0.0.0"
SERVER_PORT = 8080
"""mlx_lm.server's --port when it is not given (mlx-lm 0.32.2)."""
STARTING_PORT = 32323
"""mlx.launch's --starting-port when it is not given (mlx 0.32.4)."""


def listen_host(spec: LaunchSpec) -> str:
    """The server's --host: the user's own, else 127.0.0.1 as long as rank 0 and all agents are on this machine."""
    if given := _given(spec):
        return given
    return LOCAL if _is_rank_0_local(spec) and spec.reached_as is None else EVERYWHERE


def base_url(spec: LaunchSpec, port: int) -> str:
    """The URL of rank 0 for the agents: by the user's own --host where that is one address, else by the hostfile."""
    address = _address(spec)
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"


def fixed_ports(spec: LaunchSpec) -> tuple[int, int] | None:
    """The port for HTTP and the first between ranks of a launch from a hostfile; None where free ones are drawn here.

    Which ports of another machine are free is not ours to see, its firewall may know them, and `check` prints them.
    """
    if spec.hostfile is None:
        return None
    return spec.port or SERVER_PORT, spec.starting_port or STARTING_PORT


def _address(spec: LaunchSpec) -> str:
    given, is_here = _given(spec), _is_rank_0_local(spec)
    if given not in ("", EVERYWHERE, "::") and (is_here or not is_loopback(given)):
        return given
    if spec.hostfile is not None and not is_here:
        return rank_0_address(spec.hostfile)
    return spec.reached_as or LOCAL


def _given(spec: LaunchSpec) -> str:
    return str(spec.options.get("host") or "")


def _is_rank_0_local(spec: LaunchSpec) -> bool:
    return spec.hostfile is None or spec.hostfile.hosts[0].is_local
