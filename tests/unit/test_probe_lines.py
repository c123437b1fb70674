"""What `check --probe` prints: whole answers of two hosts, one of them broken in one way each."""

from dataclasses import replace
from pathlib import Path

import pytest

from locust_agents.cluster.hosts.values import Host, Hostfile
from locust_agents.cluster.launch_spec import LaunchSpec
from locust_agents.cluster.probe.across import size
from locust_agents.cluster.probe.answer import Heard, Listener, read
from locust_agents.cluster.probe.course import question
from locust_agents.cluster.probe.report import lines
from locust_agents.cluster.probe.sites import Link, Site, links, ports, sites
from locust_agents.cluster.probe.verdicts import Probed, entries

# of our own making: not seen on a Mac
MAC = """\
Last login: Mon Nov 30 09:00:00 on ttys001
locust-agents-probe
system Darwin
boot BOOT
memory 206158430208
python /Users/bob/mlx/bin/python
python_version 3.12.1
mlx 0.32.4
mlx-lm 0.32.2
model /Users/bob/models/big
weights 9 41200000000
ports 8080 32323
servers listed
sleep 0
low_power 0
firewall 0
rdma rdma_en2 rdma_en3
end
"""
# recorded on Debian 12 in a container
LINUX = """\
locust-agents-probe
system Linux
boot 36d9ad91-9b34-475d-99d8-8b9b8e23e509
memory 25276502016
python /venv/bin/python
python_version 3.11.7
mlx 0.32.4
mlx-lm 0.32.2
model /root/.cache/locust-agents/models/tiny-023290c685ec
weights 1 2428970
ports 8080 22 32323
listener 8080 127.0.0.1:8080 17203 /venv/bin/python -m mlx_lm server --model /root/.cache/locust-agents/models/tiny
servers listed
server 17199 root
server 17203 root
sleep skipped not macOS
firewall skipped not macOS
rdma skipped no ibv_devices
end
"""

RING = Hostfile(
    Path("/home/bob/ring.json"), "ring", ("A=1",), (Host("127.0.0.1", ("10.0.0.1",)), Host("mac2", ("10.0.0.2",)))
)
JACCL = Hostfile(
    Path("/home/bob/jaccl.json"),
    "jaccl",
    (),
    (Host("127.0.0.1", ("10.0.0.1",), (None, "rdma_en2")), Host("mac2", (), (("rdma_en2", "rdma_en4"), None))),
)
SPEC = LaunchSpec("~/models/big", hostfile=RING, python="~/mlx/bin/python", env={"B": "2"}, cwd="~/work")

MAC1_OK = "rank 0  this machine  ok    python 3.12.1, mlx 0.32.4, mlx-lm 0.32.2, model 41.2 GB, memory 206 GB"
MAC2_OK = "rank 1  mac2          ok    python 3.12.1, mlx 0.32.4, mlx-lm 0.32.2, model 41.2 GB, memory 206 GB"


def reached(link: Link) -> str:
    return f", port {link.port} open to rank {link.caller}"


def probed(
    spec: LaunchSpec,
    first: str,
    second: str,
    err: str = "",
    status: int | None = 0,
    trials: dict[Site, Heard] | None = None,
) -> Probed:
    """What was heard of rank 0 and rank 1; unless told otherwise, all ports are open."""
    heard = [Heard(first.replace("BOOT", "one"), "", 0), Heard(second.replace("BOOT", "two"), err, status)]
    hosts, joints = sites(spec), links(spec)
    if trials is None:
        said = "".join(f"bound {link.address}\nreached {link.address}\n" for link in joints)
        trials = dict.fromkeys(hosts, Heard(said, "", 0))
    questions = {site: question(spec, spec.model, ports(site, 8080, joints)) for site in hosts}
    return Probed(spec, questions, dict(zip(hosts, heard, strict=False)), joints, trials, "Darwin", 15.0)


def printed(spec: LaunchSpec, first: str, second: str, err: str = "", status: int | None = 0) -> list[str]:
    return lines(entries(probed(spec, first, second, err, status, {} if status else None)))


def test_two_hosts_that_are_fit() -> None:
    first, second = links(SPEC)
    assert printed(SPEC, MAC, MAC) == [MAC1_OK + reached(first), MAC2_OK + reached(second)]
    assert all(entry.is_ok for entry in entries(probed(SPEC, MAC, MAC)))


PIP = "`ssh mac2 '~/mlx/bin/python -m pip install"
WALL = "/usr/libexec/ApplicationFirewall/socketfilterfw"
OPEN = MAC2_OK[28:] + ", port 32324 open to rank 0"

# remark, what mac2 answers otherwise (one line for another), what is printed of it
BROKEN = [
    (
        "an older mlx",
        ("mlx 0.32.4", "mlx 0.31.0"),
        [f"FIX   mlx 0.31.0, but 0.32.4 on rank 0: {PIP} mlx==0.32.4'`"],
    ),
    (
        "another mlx-lm",
        ("mlx-lm 0.32.2", "mlx-lm 0.33.0"),
        [f"FIX   mlx-lm 0.33.0, but 0.32.2 on rank 0: {PIP} mlx-lm==0.32.2'`"],
    ),
    (
        "no mlx-lm",
        ("mlx-lm 0.32.2", "mlx-lm missing"),
        [f"FIX   mlx-lm is not installed for ~/mlx/bin/python: {PIP} mlx-lm==0.32.2'`"],
    ),
    (
        "both older: two lines",
        ("mlx 0.32.4\nmlx-lm 0.32.2", "mlx 0.31.0\nmlx-lm 0.31.0"),
        [
            f"FIX   mlx 0.31.0, but 0.32.4 on rank 0: {PIP} mlx==0.32.4'`",
            f"FIX   mlx-lm 0.31.0, but 0.32.2 on rank 0: {PIP} mlx-lm==0.32.2'`",
        ],
    ),
    (
        "another Python",
        ("python_version 3.12.1", "python_version 3.11.7"),
        [
            f"ok    {OPEN.replace('3.12.1', '3.11.7')}",
            "note  python 3.11.7, but 3.12.1 on rank 0: make them the same, since ranks send each other"
            " pickled requests",
        ],
    ),
    (
        "no Python",
        ("python /Users/bob/mlx/bin/python\npython_version 3.12.1\nmlx 0.32.4\nmlx-lm 0.32.2", "python missing"),
        [
            "FIX   no Python at ~/mlx/bin/python: make the same virtual environment there, or correct"
            " server.launch.python",
            "skip  10.0.0.2:32324 from rank 0 (no Python on mac2)",
        ],
    ),
    (
        "a broken Python",
        ("python_version 3.12.1\nmlx 0.32.4\nmlx-lm 0.32.2", "python_broken dyld: no libpython"),
        [
            "FIX   ~/mlx/bin/python does not run (dyld: no libpython): make that virtual environment there anew",
            "skip  10.0.0.2:32324 from rank 0 (no Python on mac2)",
        ],
    ),
    (
        "no folder to run in",
        ("system Darwin", "folder missing\nsystem Darwin"),
        ["FIX   no folder ~/work: make it there, or correct server.launch.cwd"],
    ),
    (
        "no model",
        ("model /Users/bob/models/big\nweights 9 41200000000", "model missing"),
        ["FIX   no model folder ~/models/big: copy it there (rsync -a), or correct server.launch.model"],
    ),
    (
        "no config",
        ("weights 9", "model_config missing\nweights 9"),
        ["FIX   no config.json in /Users/bob/models/big: copy the model there again (rsync -a)"],
    ),
    (
        "no weights",
        ("weights 9 41200000000", "weights 0 0"),
        ["FIX   no model*.safetensors in /Users/bob/models/big: copy the model there again (rsync -a)"],
    ),
    (
        "part of a model",
        ("weights 9 41200000000", "weights 8 38000000001"),
        [
            "FIX   model of 38,000,000,001 bytes in 8 files, but 41,200,000,000 in 9 on rank 0: copy it from there"
            " again (rsync -a --delete)"
        ],
    ),
    (
        "not the memory for half of it",
        ("memory 206158430208", "memory 17179869184"),
        [
            "FIX   memory 17.2 GB, and 26.7 GB are needed (41.2 GB of weights ÷ 2 ranks × 1.2 for what a rank keeps"
            " whole, prompts and caches, + 2.0 GB for the system): add hosts, or take a smaller quantization"
        ],
    ),
    (
        "a server of bob's",
        ("servers listed", "servers listed\nserver 4711 bob\nserver 4712 anna"),
        [
            "FIX   mlx_lm server runs there already (pid 4711 of bob, pid 4712 of anna) and has its memory: end it,"
            " `ssh mac2 'kill 4711 4712'`, or with `locust-agents stop` where a run of ours left it"
        ],
    ),
    (
        "many servers",
        ("servers listed", "servers listed\n" + "\n".join(f"server {pid} bob" for pid in range(1, 7))),
        [
            "FIX   mlx_lm server runs there already (pid 1 of bob, pid 2 of bob, pid 3 of bob, pid 4 of bob and 2 more)"
            " and has its memory: end it, `ssh mac2 'kill 1 2 3 4 5 6'`, or with `locust-agents stop` where a run of"
            " ours left it"
        ],
    ),
    (
        "a rank's port",
        ("servers listed", "listener 32324 *.32324 812 /usr/bin/python3 ring.py\nservers listed"),
        [
            "FIX   port 32324, for the ranks, is taken by /usr/bin/python3 ring.py (pid 812): end that, or give another"
            " server.launch.starting_port",
            "skip  10.0.0.2:32324 from rank 0 (the port is taken on mac2)",
        ],
    ),
    (
        "that port on an address that nobody calls",
        ("servers listed", "listener 32324 127.0.0.1.32324 812 x\nservers listed"),
        [f"ok    {OPEN}"],
    ),
    (
        "may sleep",
        ("sleep 0", "sleep 10"),
        [f"ok    {OPEN}", "note  it may sleep after 10 min without a user: `ssh mac2 'sudo pmset -a sleep 0'`"],
    ),
    (
        "saves power",
        ("low_power 0", "low_power 1"),
        [
            f"ok    {OPEN}",
            "note  low power mode is on, and slows every token: `ssh mac2 'sudo pmset -a lowpowermode 0'`",
        ],
    ),
    (
        "a firewall through which we came",
        ("firewall 0", "firewall 1"),
        [f"ok    {OPEN}"],
    ),
    (
        "a firewall for everybody",
        ("firewall 0", "firewall 2"),
        [
            f"FIX   its firewall lets nobody in: `ssh mac2 'sudo {WALL} --setblockall off'`, or in System Settings,"
            " Network, Firewall"
        ],
    ),
    (
        "the same machine",
        ("boot BOOT", "boot one"),
        [
            f"ok    {OPEN}",
            "note  is the machine of rank 0 (this machine) under another name: they share its memory and its processor",
        ],
    ),
    (
        "two things, the worse one first",
        ("sleep 0\nlow_power 0\nfirewall 0", "sleep 5\nlow_power 0\nfirewall 2"),
        [
            f"FIX   its firewall lets nobody in: `ssh mac2 'sudo {WALL} --setblockall off'`, or in System Settings,"
            " Network, Firewall",
            "note  it may sleep after 5 min without a user: `ssh mac2 'sudo pmset -a sleep 0'`",
        ],
    ),
    (
        "what does not tell",
        (
            "firewall 0\nrdma rdma_en2 rdma_en3",
            "firewall skipped socketfilterfw does not tell\nrdma skipped no ibv_devices",
        ),
        [f"ok    {OPEN}", "skip  firewall (socketfilterfw does not tell); RDMA devices (no ibv_devices)"],
    ),
]


@pytest.mark.parametrize(("remark", "change", "expected"), BROKEN, ids=[row[0] for row in BROKEN])
def test_one_that_is_broken(remark: str, change: tuple[str, str], expected: list[str]) -> None:
    assert MAC.count(change[0]) == 1
    everything = printed(SPEC, MAC, MAC.replace(*change))
    (start,) = [number for number, line in enumerate(everything) if line.startswith("rank 1  mac2          ")]
    of_mac2 = everything[start:]
    assert [line[22:] for line in of_mac2] == expected
    assert all(not line[:22].strip() for line in of_mac2[1:])


def test_it_is_not_fit_exactly_where_something_must_be_mended() -> None:
    for _, change, expected in BROKEN:
        is_ok = all(entry.is_ok for entry in entries(probed(SPEC, MAC, MAC.replace(*change))))
        assert is_ok == expected[0].startswith("ok")


def test_ssh_that_fails_is_a_line_too() -> None:
    assert printed(SPEC, MAC, "", "bob@mac2: Permission denied (publickey).\n", 255) == [
        MAC1_OK,
        "                      skip  10.0.0.1:32323 from rank 1 (mac2 did not answer)",
        "rank 1  mac2          FIX   ssh: bob@mac2: Permission denied (publickey): run `ssh-copy-id mac2`, and"
        " `ssh-add` where the key has a passphrase, since nobody can type it here",
        "                      skip  10.0.0.2:32324 from rank 0 (mac2 did not answer)",
    ]


def test_the_first_host_that_told_is_the_measure() -> None:
    no_python = MAC.replace("python_version 3.12.1\nmlx 0.32.4\nmlx-lm 0.32.2", "python_broken x")
    assert [line for line in printed(SPEC, no_python, MAC) if "but" in line] == []
    assert printed(SPEC, MAC.replace("mlx 0.32.4", "mlx missing"), MAC)[0].endswith(
        "mlx is not installed for ~/mlx/bin/python: `~/mlx/bin/python -m pip install mlx==0.32.4`"
    )


def test_nobody_has_mlx() -> None:
    bare = MAC.replace("mlx 0.32.4", "mlx missing")
    assert [line[28:] for line in printed(SPEC, bare, bare)] == [
        "mlx is not installed for ~/mlx/bin/python: `~/mlx/bin/python -m pip install mlx`",
        "mlx is not installed for ~/mlx/bin/python: `ssh mac2 '~/mlx/bin/python -m pip install mlx'`",
    ]


def test_a_server_on_the_port_of_rank_0() -> None:
    taken = MAC.replace(
        "servers",
        "listener 8080 *.8080 ? \nlistener 8080 127.0.0.1.8080 77 nginx: master\nlistener 8080 *.8080 ? \nservers",
    )
    assert [line[22:] for line in printed(SPEC, taken, MAC)[:-1]] == [
        "FIX   port 8080 is taken by a process that is hidden from us: end that, or give another server.port",
        "FIX   port 8080 is taken by nginx: master (pid 77): end that, or give another server.port",
    ]


def test_two_ranks_on_one_machine_share_its_memory() -> None:
    small = MAC.replace("memory 206158430208", "memory 34359738368")
    assert printed(SPEC, small, small)[0].startswith("rank 0  this machine  ok ")
    shared = printed(SPEC, small, small.replace("boot BOOT", "boot one"))
    assert shared[0][28:] == (
        "memory 34.4 GB, and 51.4 GB are needed (41.2 GB of weights ÷ 2 ranks × 2 of them there × 1.2 for what a rank"
        " keeps whole, prompts and caches, + 2.0 GB for the system): add hosts, or take a smaller quantization"
    )


def test_all_ranks_on_this_machine() -> None:
    alone = LaunchSpec("/models/tiny", ranks=2, python="python3")
    assert printed(alone, LINUX, "") == [
        "rank 0, 1  this machine  FIX   port 8080 is taken by /venv/bin/python -m mlx_lm server --model"
        " /root/.cache/locust-agents/models/tiny (pid 17203): end that, or give another server.port",
        "                         FIX   mlx_lm server runs there already (pid 17199 of root, pid 17203 of root) and has"
        " its memory: end it, `kill 17199 17203`, or with `locust-agents stop` where a run of ours left it",
        "                         skip  sleep settings, firewall (not macOS); RDMA devices (no ibv_devices)",
    ]


HUB = replace(SPEC, model="org/Big-4bit")
CACHED = MAC.replace("/Users/bob/models/big", "/Users/bob/hub/models--org--Big-4bit/snapshots/1")


def test_a_model_of_the_hub_that_is_not_there_yet() -> None:
    fresh = CACHED.replace(
        "model /Users/bob/hub/models--org--Big-4bit/snapshots/1\nweights 9 41200000000", "model missing"
    )
    assert printed(HUB, CACHED, fresh)[2][22:] == (
        "note  org/Big-4bit is not in its Hugging Face cache, and would be downloaded at the start:"
        " `hf download org/Big-4bit` there"
    )


def test_half_a_download() -> None:
    half = CACHED.replace("weights 9 41200000000", "weights 0 0")
    assert printed(HUB, CACHED, half)[1][22:] == (
        "FIX   no model*.safetensors in /Users/bob/hub/models--org--Big-4bit/snapshots/1: `hf download"
        " org/Big-4bit` there"
    )


@pytest.mark.parametrize("spec", [replace(HUB, pipeline=True), replace(HUB, options={"pipeline": True})])
def test_pipeline_downloads_each_rank_its_own_part(spec: LaunchSpec) -> None:
    part = CACHED.replace("weights 9 41200000000", "weights 5 21000000000").replace("206158430208", "17179869184")
    assert [line[22:24] for line in printed(spec, CACHED, part)] == ["ok", "ok"]


# the hosts that jaccl joins

JACCL_SPEC = replace(SPEC, hostfile=JACCL, backend="jaccl")
RDMA = [
    ("all are there", "rdma rdma_en2 rdma_en3 rdma_en4", None),
    (
        "one is missing",
        "rdma rdma_en2 rdma_en3",
        "no RDMA device rdma_en4, there are rdma_en2, rdma_en3: correct the rdma of mac2 in jaccl.json",
    ),
    (
        "not enabled",
        "rdma ",
        "RDMA is not enabled: run `rdma_ctl enable` in macOS Recovery, then restart (Apple TN3205)",
    ),
    (
        "an older macOS",
        "rdma skipped no ibv_devices",
        "RDMA devices cannot be listed (no ibv_devices), and jaccl needs rdma_en2, rdma_en4: RDMA over Thunderbolt is"
        " for macOS 26.2 or later and Thunderbolt 5 (Apple TN3205)",
    ),
]


@pytest.mark.parametrize(("remark", "rdma", "said"), RDMA, ids=[row[0] for row in RDMA])
def test_rdma_devices(remark: str, rdma: str, said: str | None) -> None:
    of_mac2 = printed(JACCL_SPEC, MAC, MAC.replace("rdma rdma_en2 rdma_en3", rdma))[1]
    assert of_mac2[22:] == (f"FIX   {said}" if said else f"ok    {MAC2_OK[28:]}")


def test_a_firewall_that_nobody_has_come_through_yet() -> None:
    walled = MAC.replace("firewall 0", "firewall 1")
    assert printed(JACCL_SPEC, MAC, walled.replace("rdma_en3", "rdma_en3 rdma_en4"))[2][22:] == (
        f"note  its firewall is on and asks by program: allow the ranks' Python, `ssh mac2 'sudo {WALL} --add"
        " /Users/bob/mlx/bin/python'`"
    )


def test_a_firewall_means_nothing_to_one_machine_alone() -> None:
    alone = replace(SPEC, ranks=1, hostfile=replace(RING, hosts=RING.hosts[:1]))
    assert [line[22:24] for line in printed(alone, MAC.replace("firewall 0", "firewall 2"), "")] == ["ok"]


# the answers themselves


def test_the_answer_of_linux() -> None:
    answer = read(LINUX)
    assert answer is not None
    assert answer.versions == {"python": "3.11.7", "mlx": "0.32.4", "mlx-lm": "0.32.2"}
    assert answer.listeners[0].pid == 17203
    assert answer.servers == ((17199, "root"), (17203, "root"))
    assert (answer.sleep_min, answer.firewall, answer.rdma) == (None, None, None)


def test_no_answer() -> None:
    assert read("Welcome to mac2\n") is None
    cut = read("locust-agents-probe\nsystem Darwin\nmemo")
    assert cut is not None
    assert (cut.is_whole, cut.last) == (False, "memo")


BLOCKS = [
    ("*.8080", True),
    ("0.0.0.0:8080", True),
    ("[::]:8080", True),
    ("*:8080", True),
    ("10.0.0.2:8080", True),
    ("10.0.0.2.8080", True),
    ("10.0.0.22.8080", False),
    ("127.0.0.1:8080", False),
    ("[::1]:8080", False),
]


@pytest.mark.parametrize(("address", "blocks"), BLOCKS)
def test_whom_a_listener_blocks(address: str, blocks: bool) -> None:
    assert Listener(8080, address, None, "").blocks("10.0.0.2") is blocks


SIZES = [
    (0, "0 bytes"),
    (999, "999 bytes"),
    (2_428_970, "2.4 MB"),
    (41_200_000_000, "41.2 GB"),
    (206_158_430_208, "206 GB"),
    (1_005_000_000_000, "1005 GB"),
]


@pytest.mark.parametrize(("count", "text"), SIZES)
def test_sizes(count: int, text: str) -> None:
    assert size(count) == text


def test_the_ranks_words_and_environment_are_asked_for() -> None:
    asked = question(SPEC, Path("models"), (8080,))
    assert (asked.python, asked.folder, asked.ports) == ("~/mlx/bin/python", "~/work", (8080,))
    assert asked.here == str(Path.cwd())
    assert asked.model == str(Path("models").absolute())
    assert asked.env == {"A": "1", "B": "2"}
