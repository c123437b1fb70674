"""Decides whether a hostfile can be launched: reads it as mlx.launch does, and checks it before anything starts."""

import socket
from collections.abc import Collection
from pathlib import Path

import psutil

from locust_agents.cluster.hosts.checks import check, warnings
from locust_agents.cluster.hosts.shape import BACKENDS, parse, refuse
from locust_agents.cluster.hosts.values import LOCAL, Device, Host, Hostfile, rank_0_address, ring_addresses
from locust_agents.errors import ScenarioError

__all__ = [
    "BACKENDS",
    "LOCAL",
    "Device",
    "Host",
    "Hostfile",
    "backend_of",
    "check",
    "demand",
    "rank_0_address",
    "read",
    "ring_addresses",
    "this_host_names",
    "warnings",
]


def read(path: Path) -> Hostfile:
    """Reads the file; raises ScenarioError, one line for each mistake of its form, all at once."""
    try:
        text = path.expanduser().read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ScenarioError(f"{path}: there is no such hostfile; correct the name, or write the file") from None
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from None
    return parse(text, path)


def demand(path: Path, backend: str | None, this_host: Collection[str]) -> Hostfile:
    """Reads and checks; raises ScenarioError, one line for each mistake, all at once."""
    hostfile = read(path)
    refuse(path, check(hostfile, backend_of(hostfile, backend), this_host))
    return hostfile


def backend_of(hostfile: Hostfile | None, wanted: str | None) -> str:
    """The scenario's backend, else the file's, else ring: as mlx.launch has it where there is no CUDA."""
    return wanted or (hostfile.backend if hostfile else None) or "ring"


def this_host_names() -> frozenset[str]:
    """What this machine is called, in lower case: its host name, that name on the local link, and its addresses."""
    name = socket.gethostname().lower()
    short = name.partition(".")[0]
    addresses = {each.address.lower() for found in psutil.net_if_addrs().values() for each in found}
    return frozenset({name, short, f"{short}.local", "localhost", LOCAL} | addresses)
