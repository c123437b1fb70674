"""Which ports between ranks are tried, how, and what is said when somebody is not reached."""

import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import AbstractContextManager, suppress
from pathlib import Path

import psutil
import pytest

from locust_agents.cluster import ports
from locust_agents.cluster.hosts.values import Host, Hostfile
from locust_agents.cluster.launch_spec import LaunchSpec
from locust_agents.cluster.probe import links as probe_links
from locust_agents.cluster.probe import ports as probe_ports
from locust_agents.cluster.probe.answer import Answer, Heard, Listener
from locust_agents.cluster.probe.script import Question
from locust_agents.cluster.probe.sites import Link, Site, links, sites
from locust_agents.cluster.probe.sites import ports as asked_ports
from tests.patience import PATIENCE_S


def spec(*hosts: Host, backend: str = "ring") -> LaunchSpec:
    return LaunchSpec("m", ranks=len(hosts), backend=backend, hostfile=Hostfile(Path("h.json"), None, (), hosts))


def mac(number: int, cables: int = 1) -> Host:
    return Host(f"mac{number}", tuple(f"10.0.{cable}.{number}" for cable in range(cables)))


HERE, MAC2, MAC3 = Site(None, (0,)), Site("mac2", (1,)), Site("mac3", (2,))


def test_a_rank_calls_the_next_one() -> None:
    assert links(spec(mac(1), mac(2), mac(3))) == (
        Link(2, 0, "10.0.0.1:32323"),
        Link(0, 1, "10.0.0.2:32324"),
        Link(1, 2, "10.0.0.3:32325"),
    )


def test_over_every_cable() -> None:
    assert [link.address for link in links(spec(mac(1, 2), mac(2, 2)))] == [
        "10.0.0.1:32323",
        "10.0.1.1:32324",
        "10.0.0.2:32325",
        "10.0.1.2:32326",
    ]


@pytest.mark.parametrize("backend", ["jaccl", "jaccl-ring"])
def test_over_jaccl_all_call_the_coordinator(backend: str) -> None:
    assert links(spec(mac(1), mac(2), mac(3), backend=backend)) == (
        Link(1, 0, "10.0.0.1:32323"),
        Link(2, 0, "10.0.0.1:32323"),
    )


NO_LINKS = [
    ("one host", spec(mac(1))),
    ("mpirun sees to it", spec(mac(1), mac(2), backend="mpi")),
    ("ports that each run draws", LaunchSpec("m", ranks=2)),
]


@pytest.mark.parametrize(("remark", "launch"), NO_LINKS, ids=[row[0] for row in NO_LINKS])
def test_no_links(remark: str, launch: LaunchSpec) -> None:
    assert links(launch) == ()


def test_hosts_are_asked_once() -> None:
    twice = spec(Host("127.0.0.1", ("10.0.0.1",)), Host("mac2", ("10.0.0.2",)), Host("127.0.0.1", ("10.0.0.1",)))
    assert sites(twice) == (Site(None, (0, 2)), MAC2)
    assert Site(None, (0, 2)).label == "rank 0, 2"
    assert sites(LaunchSpec("m", ranks=2)) == (Site(None, (0, 1)),)
    assert asked_ports(Site(None, (0, 2)), 8080, links(twice)) == (8080, 32323, 32325)
    assert asked_ports(MAC2, 8080, links(twice)) == (32324,)


# what stands in the way


def answer(
    system: str = "Darwin",
    python: str | None = "/opt/python",
    listeners: tuple[Listener, ...] = (),
    broken: str | None = None,
) -> Answer:
    return Answer(
        True, "end", frozenset(), {}, {}, system=system, python=python, python_broken=broken, listeners=listeners
    )


RING = Link(0, 1, "10.0.0.2:32324")
TAKEN = (Listener(32324, "*.32324", 1, ""),)
OBSTACLES = [
    ("nothing", {HERE: answer(), MAC2: answer()}, None),
    ("silent listener", {HERE: answer()}, "mac2 did not answer"),
    ("silent caller", {MAC2: answer()}, "this machine did not answer"),
    ("no Python there", {HERE: answer(), MAC2: answer(python=None)}, "no Python on mac2"),
    ("no Python here", {HERE: answer(python=None), MAC2: answer()}, "no Python on this machine"),
    ("a broken one", {HERE: answer(broken="x"), MAC2: answer()}, "no Python on this machine"),
    ("somebody holds it", {HERE: answer(), MAC2: answer(listeners=TAKEN)}, "the port is taken on mac2"),
    (
        "held on another IP",
        {HERE: answer(), MAC2: answer(listeners=(Listener(32324, "127.0.0.1.32324", 1, ""),))},
        None,
    ),
    ("held at the caller's", {HERE: answer(listeners=TAKEN), MAC2: answer()}, None),
]


@pytest.mark.parametrize(("remark", "answers", "why"), OBSTACLES, ids=[row[0] for row in OBSTACLES])
def test_obstacles(remark: str, answers: dict[Site, Answer], why: str | None) -> None:
    assert probe_links.obstacle(RING, (HERE, MAC2), answers) == why


# what is said afterwards

BOUND, CALLED = "bound 10.0.0.2:32324\n", "unreached 10.0.0.2:32324 "
# remark, systems of caller and listener, what each printed, the line
TRIALS = [
    ("reached", ("Darwin", "Darwin"), "reached 10.0.0.2:32324\n", BOUND, None),
    (
        "an IP of somebody else",
        ("Darwin", "Darwin"),
        f"{CALLED}60 timed out\n",
        "unbound 10.0.0.2:32324 49 Can't assign requested address\n",
        "cannot listen on 10.0.0.2:32324: Can't assign requested address (errno 49): correct the ips of mac2 in h.json",
    ),
    (
        "taken in the meantime",
        ("Linux", "Linux"),
        "",
        "unbound 10.0.0.2:32324 98 Address already in use\n",
        "cannot listen on 10.0.0.2:32324: Address already in use (errno 98): end what holds it",
    ),
    (
        "macOS's firewall",
        ("Darwin", "Darwin"),
        f"{CALLED}60 timed out\n",
        BOUND,
        "10.0.0.2:32324 is not reached from rank 0 (this machine): timed out (errno 60): allow its Python in the"
        " firewall there, `ssh mac2 'sudo /usr/libexec/ApplicationFirewall/socketfilterfw --add /opt/python'`, and"
        " see that the cable leads there",
    ),
    (
        "another firewall",
        ("Linux", "Linux"),
        f"{CALLED}111 Connection refused\n",
        BOUND,
        "10.0.0.2:32324 is not reached from rank 0 (this machine): Connection refused (errno 111): see the firewall"
        " there, and that the address is one of the network between the two",
    ),
    (
        "errno 65",
        ("Darwin", "Darwin"),
        f"{CALLED}65 No route to host\n",
        BOUND,
        "10.0.0.2:32324 is not reached from rank 0 (this machine): No route to host (errno 65): on macOS this is"
        " errno 65: allow the terminal app under System Settings, Privacy & Security, Local Network (Apple TN3179), or"
        " correct the address",
    ),
    (
        "no route on Linux",
        ("Linux", "Darwin"),
        f"{CALLED}113 No route to host\n",
        BOUND,
        "10.0.0.2:32324 is not reached from rank 0 (this machine): No route to host (errno 113): correct the address,"
        " or the interface that leads to it",
    ),
    (
        "the trial itself failed",
        ("Linux", "Linux"),
        "",
        BOUND,
        "10.0.0.2:32324 could not be tried from rank 0 (this machine): Killed",
    ),
]


@pytest.mark.parametrize(("remark", "systems", "called", "bound", "said"), TRIALS, ids=[row[0] for row in TRIALS])
def test_what_came_of_it(remark: str, systems: tuple[str, str], called: str, bound: str, said: str | None) -> None:
    answers = {HERE: answer(systems[0]), MAC2: answer(systems[1])}
    trials = {HERE: Heard(called, "Traceback\nKilled\n", 0), MAC2: Heard(bound, "", None)}
    found = list(probe_links.of_link(RING, (HERE, MAC2), answers, trials, "h.json"))
    assert [finding.text for finding in found] == ([] if said is None else [said])
    assert all(finding.is_fault for finding in found)


SETTLED = [
    ("nothing yet", "", "", None, False),
    ("the listener is there", "", BOUND, None, False),
    ("somebody got through", "reached 10.0.0.2:32324\n", BOUND, None, True),
    ("through to another", "reached 10.0.0.2:3232\n", BOUND, None, False),
    ("gave up", f"{CALLED}60 timed out\n", BOUND, None, True),
    ("nobody will listen", "", "unbound 10.0.0.2:32324 49 no\n", None, True),
    ("the caller ended", "", BOUND, 1, True),
]


@pytest.mark.parametrize(("remark", "called", "bound", "status", "settled"), SETTLED, ids=[row[0] for row in SETTLED])
def test_when_no_more_will_be_heard(remark: str, called: str, bound: str, status: int | None, settled: bool) -> None:
    trials = {HERE: Heard(called, "", status), MAC2: Heard(bound, "", None)}
    assert probe_links.is_settled(RING, (HERE, MAC2), trials) is settled


# the trial itself, by real processes


class Player(AbstractContextManager["Player"]):
    """A host's part: the real script in a real shell."""

    def __init__(self, site: Site, *links: Link) -> None:
        script = probe_links.trial(site, Question(sys.executable, "m"), links)
        assert script is not None
        argv = [str(shutil.which("sh")), "-s"]
        self.popen = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.popen.stdin
        self.popen.stdin.write(script)
        self.popen.stdin.flush()

    def says(self, lines: int) -> list[str]:
        assert self.popen.stdout
        return sorted(self.popen.stdout.readline().strip() for _ in range(lines))

    def hang_up(self) -> tuple[str, str]:
        return self.popen.communicate(timeout=PATIENCE_S)

    def __exit__(self, *_: object) -> None:
        self.popen.kill()
        self.popen.communicate()


def left(group: int) -> list[psutil.Process]:
    """Who of a process group still runs: not the dead whom nobody has collected yet, such as dash's here-document."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, ProcessLookupError):
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def wait_until_none_is_left(group: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while found := left(group):
        assert time.monotonic() < deadline, found
        time.sleep(0.02)


@pytest.fixture
def pair() -> tuple[Link, Link]:
    first = ports.free_ports(2)
    return Link(1, 0, f"127.0.0.1:{first}"), Link(0, 1, f"127.0.0.2:{first + 1}")


@pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 is an address of Linux alone")
def test_two_hosts_reach_each_other_and_end_when_nobody_needs_them(
    pair: tuple[Link, Link], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe_links, "LISTEN_S", 600.0)
    with Player(HERE, *pair) as here, Player(MAC2, *pair) as there:
        assert here.says(2) == [f"bound {pair[0].address}", f"reached {pair[1].address}"]
        assert there.says(2) == [f"bound {pair[1].address}", f"reached {pair[0].address}"]
        assert (here.popen.poll(), there.popen.poll()) == (None, None)
        for player in (here, there):
            assert player.hang_up() == ("", "")
            assert player.popen.returncode == 0
            wait_until_none_is_left(player.popen.pid)


def test_an_address_of_another_machine() -> None:
    with Player(HERE, Link(1, 0, "192.0.2.1:9")) as player:  # RFC 5737: nobody's
        (line,) = player.says(1)
    assert line.startswith("unbound 192.0.2.1:9 ")
    assert "assign requested address" in line


def test_somebody_else_who_listens_is_not_taken_for_the_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_links, "CALL_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with Player(HERE, Link(0, 1, address)) as player:
            (line,) = player.says(1)
    assert line.startswith(f"unreached {address} ")


def test_nor_is_somebody_who_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_links, "CALL_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        with Player(HERE, Link(0, 1, address)) as player:
            caller, _ = other.accept()
            with caller:
                caller.sendall(b"220 mail ready")
            (line,) = player.says(1)
    assert line.startswith(f"unreached {address} ")


def test_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_links, "CALL_S", 0.5)
    address = f"127.0.0.1:{ports.free_ports(1)}"
    with Player(HERE, Link(0, 1, address)) as player:
        (line,) = player.says(1)
    assert line.startswith(f"unreached {address} ")
    assert line.endswith("Connection refused")


def test_one_who_begins_later_is_reached(pair: tuple[Link, Link]) -> None:
    link = Link(0, 1, pair[0].address)
    with Player(HERE, link) as caller:
        time.sleep(0.3)
        with Player(MAC2, link) as listener:
            assert listener.says(1) == [f"bound {pair[0].address}"]
            assert caller.says(1) == [f"reached {pair[0].address}"]


def test_it_ends_by_itself(monkeypatch: pytest.MonkeyPatch, pair: tuple[Link, Link]) -> None:
    monkeypatch.setattr(probe_links, "LISTEN_S", 0.3)
    with Player(HERE, pair[0]) as player:
        assert player.popen.wait(PATIENCE_S) == 0
        wait_until_none_is_left(player.popen.pid)


def test_a_part_in_nothing_needs_no_script(pair: tuple[Link, Link]) -> None:
    assert probe_links.trial(MAC3, Question("python", "m"), pair) is None


def test_the_program_is_as_old_as_it_says() -> None:
    text = Path(probe_ports.__file__).read_text(encoding="utf-8")
    compile(text, "probe_ports.py", "exec", dont_inherit=True)
    assert "locust_agents." not in text
    assert text.isascii()
