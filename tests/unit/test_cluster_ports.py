"""Which ports count as free, and what is said of one that is not."""

import os
import socket
from collections.abc import Iterator

import psutil
import pytest

from locust_agents.cluster import ports
from locust_agents.errors import ClusterError


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def port_of(server: socket.socket) -> int:
    return int(server.getsockname()[1])


def test_a_listener_holds_its_port(listener: socket.socket) -> None:
    port = port_of(listener)
    assert not ports.port_is_free(port)
    listener.close()
    assert ports.port_is_free(port)


def test_a_listener_on_all_addresses_holds_it_too() -> None:
    with socket.create_server(("0.0.0.0", 0)) as server:
        assert not ports.port_is_free(port_of(server))


def test_a_listener_beside_which_one_can_bind(monkeypatch: pytest.MonkeyPatch, listener: socket.socket) -> None:
    """On macOS that is one on 0.0.0.0."""
    assert ports._answers(port_of(listener))
    free = ports.free_ports(1)
    assert not ports._answers(free)
    monkeypatch.setattr(ports, "_answers", lambda _: True)
    assert not ports.port_is_free(free)


def test_a_connection_that_fades_out_does_not_hold_it(listener: socket.socket) -> None:
    port = port_of(listener)
    client = socket.create_connection(listener.getsockname())
    accepted, _ = listener.accept()
    accepted.close()  # the side that closes first stays behind in TIME_WAIT
    client.close()
    listener.close()
    assert ports.port_is_free(port)


def test_the_holder_is_named(listener: socket.socket) -> None:
    port = port_of(listener)
    with pytest.raises(ClusterError, match=rf"^port {port} is in use by .+ \(pid {os.getpid()}\): end that, or give"):
        ports.demand_free(port)


def test_a_hidden_holder(monkeypatch: pytest.MonkeyPatch, listener: socket.socket) -> None:
    def hide(self: psutil.Process, kind: str) -> None:
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil.Process, "net_connections", hide)
    assert ports.listens(psutil.Process(), port_of(listener)) is None
    with pytest.raises(ClusterError, match="in use by a process of another user"):
        ports.demand_free(port_of(listener))


def test_who_listens(listener: socket.socket) -> None:
    assert ports.listens(psutil.Process(), port_of(listener)) is True
    assert ports.listens(psutil.Process(), 1) is False


def test_free_ports_lie_in_a_row_below_those_of_clients() -> None:
    first = ports.free_ports(4)
    assert all(ports.port_is_free(port) for port in range(first, first + 4))
    assert 10_240 <= first < 32_000 - 4


def test_choose_keeps_what_was_asked_for() -> None:
    wanted = ports.free_ports(1)
    port, starting_port = ports.choose(wanted, 4)
    assert port == wanted
    assert wanted not in range(starting_port, starting_port + 4)


def test_choose_gives_every_rank_another_port() -> None:
    port, starting_port = ports.choose(None, 2)
    assert port not in (starting_port, starting_port + 1)


def test_no_free_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "port_is_free", lambda _: False)
    with pytest.raises(ClusterError, match="no 3 free ports"):
        ports.free_ports(3)
