"""Addresses of servers that run already: how they may be written, and what is said when nobody is there."""

import errno
import socket
from collections.abc import Mapping

import pytest

from locust_agents.cluster.attach import attach, base_url
from locust_agents.cluster.remote.attached_hosts import AttachedHost
from locust_agents.errors import ClusterError, ScenarioError


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("http://mac1:8080", "http://mac1:8080"),
        ("mac1:8080", "http://mac1:8080"),
        ("mac1", "http://mac1"),
        ("Mac1.local:8080/", "http://mac1.local:8080"),
        ("http://mac1:8080/v1", "http://mac1:8080"),
        ("http://mac1:8080/v1/", "http://mac1:8080"),
        ("http://mac1:8080/v1/chat/completions", "http://mac1:8080"),
        ("https://gate.example/Prefix/v1", "https://gate.example/Prefix"),
        ("https://gate.example/prefix/", "https://gate.example/prefix"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("10.0.0.1:8080/v1", "http://10.0.0.1:8080"),
    ],
)
def test_base_url(text: str, base: str) -> None:
    assert base_url(text) == base


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("", "empty"),
        ("http://", "no host"),
        ("ftp://mac1", "another protocol"),
        ("mac1:port", "port is no number"),
        ("mac1:0", "port nobody has"),
        ("mac1:99999", "port too large"),
        ("::1", "IPv6 without brackets"),
        ("http://[::1", "half a bracket"),
        ("mac 1:8080", "space"),
        ("mac1:8080?x=1", "query"),
        ("me:secret@mac1", "credentials"),
    ],
)
def test_nonsense(text: str, remark: str) -> None:
    with pytest.raises(ScenarioError, match=r"^'.*' is not the address of a server.*mac1:8080$"):
        base_url(text)


def test_attach_and_leave() -> None:
    said: list[str] = []
    noted: list[tuple[str, Mapping[str, object]]] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        base = f"http://127.0.0.1:{server.getsockname()[1]}"
        attached = attach(f"{base}/v1", said.append, lambda event, fields: noted.append((event, fields)))
        caller, _ = server.accept()
        with caller:
            assert caller.recv(1) == b""
    assert attached.url == base
    assert noted == [("attach", {"url": base})]
    assert said == [f"looking for the server at {base}"]
    assert (attached.stop(), attached.failure(), attached.processes(), attached.log_tail(0)) == ([], None, [], ())


def test_attach_to_a_server_whose_hosts_are_known() -> None:
    said: list[str] = []
    noted: list[tuple[str, Mapping[str, object]]] = []
    hosts = [AttachedHost("mac1", "mac1", [0]), AttachedHost("mac2", "mac2", [1])]
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        attached = attach(url, said.append, lambda *note: noted.append(note), hosts=hosts, model="org/m")
    assert said[1] == "its hosts: rank 0 on mac1, rank 1 on mac2; their memory and processes are watched"
    assert noted == [("attach", {"url": url, "hosts": ["mac1", "mac2"]})]
    assert [host.name for host in attached.hosts()] == ["mac1", "mac2"]
    assert (attached.model, attached.ranks, attached.failure()) == ("org/m", 2, None)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (socket.gaierror(8, "nodename"), "no machine is known as 'mac1': correct the name"),
        (ConnectionRefusedError(), "nothing listens on mac1:80: start the server there with --host 0.0.0.0"),
        (TimeoutError(), "mac1:80 did not answer within 3 s: "),
        (OSError(errno.EHOSTUNREACH, "No route"), "no route to mac1:80: if curl reaches it, allow this terminal app"),
        (OSError(errno.ENETDOWN, "Network is down"), "mac1:80 cannot be reached (Network is down): correct"),
    ],
)
def test_nobody_there(monkeypatch: pytest.MonkeyPatch, error: OSError, text: str) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(socket, "create_connection", fail)
    with pytest.raises(ClusterError) as raised:
        attach("mac1", lambda _: None, lambda *_: None, timeout_s=3)
    assert str(raised.value).startswith(text)
    assert "\n" not in str(raised.value)
