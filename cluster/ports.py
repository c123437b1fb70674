"""Decides which TCP ports of this machine a launch may take, and who holds one that it may not."""

import random
import socket

import psutil

from locust_agents.errors import ClusterError

RANGE = range(10_240, 32_000)
"""Below the ports that Linux (32768) and macOS (49152) give to clients, so that no load connection sits on one."""

_random = random.SystemRandom()  # a scenario that seeds `random` must not send two runs to the same port


def port_is_free(port: int) -> bool:
    """Whether a server could listen on 127.0.0.1:port; connections that are only fading out do not count."""
    with socket.socket() as ours:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            ours.bind(("127.0.0.1", port))
        except OSError:
            return False
    return not _answers(port)


def free_ports(count: int) -> int:
    """The first of `count` free ports in a row; raises ClusterError when a thousand draws find none."""
    for _ in range(1000):
        first = _random.choice(RANGE[: len(RANGE) - count])
        if all(port_is_free(port) for port in range(first, first + count)):
            return first
    raise ClusterError(f"no {count} free ports in a row between {RANGE.start} and {RANGE.stop}: end some servers")


def choose(wanted: int | None, ranks: int) -> tuple[int, int]:
    """The port that will serve HTTP, and the first of the ports between ranks; raises ClusterError."""
    if wanted is None:
        first = free_ports(ranks + 1)
        return first, first + 1
    demand_free(wanted)
    starting_port = free_ports(ranks)
    while wanted in range(starting_port, starting_port + ranks):
        starting_port = free_ports(ranks)
    return wanted, starting_port


def demand_free(port: int) -> None:
    """Raises ClusterError, with the process that holds the port where the system lets us see it."""
    if port_is_free(port):
        return
    who = holder(port)
    end_it = f"by {who}: end that" if who else "by a process of another user: end it"
    raise ClusterError(f"port {port} is in use {end_it}, or give the server another port")


def holder(port: int) -> str | None:
    """Name and pid of the process that listens on the port, None when it is hidden from us."""
    holders = (process for process in psutil.process_iter(["name"]) if listens(process, port))
    return next((f"{process.info['name']} (pid {process.pid})" for process in holders), None)


def listens(process: psutil.Process, port: int) -> bool | None:
    """Whether this process holds a listening socket on the port; None when the system hides it."""
    try:
        # per process, since macOS shows the table of all connections to root only
        connections = process.net_connections("tcp")
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return None
    return any(c.status == psutil.CONN_LISTEN and c.laddr.port == port for c in connections)


def _answers(port: int) -> bool:
    """Finds a listener on 0.0.0.0, beside which macOS would still let us bind 127.0.0.1."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=0.5) as caller:
            # a socket can be given the very port that it calls, and then answers itself
            return bool(caller.getsockname() != caller.getpeername())
    except OSError:
        return False
