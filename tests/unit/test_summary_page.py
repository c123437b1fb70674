"""summary.md, and what it says of machine and cluster without a word of who and where they are."""

import json
import platform
import re
from pathlib import Path
from typing import Any

import psutil
import pytest

from locust_agents.cluster import cluster_words, this_machine
from locust_agents.cluster.hosts.shape import parse
from locust_agents.cluster.this_machine import Machine
from locust_agents.scenarios.model import Server
from locust_agents.summary_page import Told, render

MAC = Machine("Apple M3 Ultra", 32, 512 * 2**30, "macOS 26.1 arm64", {"Python": "3.12.3", "mlx": "0.32.4"})
TOLD = Told("a run", "20261130-a-run", 1_796_000_000.0, 1, "2 ranks on this machine, ring, model tiny")


def test_the_page() -> None:
    assert render(TOLD, MAC, "entry kind\nfixer first").splitlines() == [
        "# a run: a limit was broken (status 1)",
        "",
        "| | |",
        "|---|---|",
        "| run | 20261130-a-run, 2026-11-30 00:53 UTC |",
        "| cluster | 2 ranks on this machine, ring, model tiny |",
        "| client | Apple M3 Ultra, 32 cores, 512 GiB, macOS 26.1 arm64 |",
        "| versions | Python 3.12.3, mlx 0.32.4 |",
        "",
        "```text",
        "entry kind",
        "fixer first",
        "```",
    ]


def test_a_run_that_failed_says_why_and_what_is_not_known() -> None:
    made = render(
        Told("a run", "r", None, 3, "x", ("rank 1 died\nof |", "lag")), Machine(None, None, 2**30, "x", {}), ""
    )
    assert "> rank 1 died of \\|\n\n> lag\n\n```" in made
    assert "| run | r, – |" in made
    assert "| client | unknown chip, 1 GiB, x |" in made


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("x86_64 a_b", "x86_64 a_b"),
        ("_it_ *is* a|b\n# `c`", r"\_it\_ \*is\* a\|b \# \`c\`"),
        ("<b> [x](y)", r"\<b\> \[x\](y)"),
    ],
)
def test_a_name_is_no_markdown(name: str, written: str) -> None:
    assert render(Told(name, "r", None, 0, "x"), MAC, "").startswith(f"# {written}: held (status 0)\n")


@pytest.mark.parametrize(("table", "fence"), [("a", "```"), ("a ``` b", "````"), ("`````", "``````")])
def test_no_name_in_the_table_ends_the_code_block(table: str, fence: str) -> None:
    assert render(TOLD, MAC, table).endswith(f"{fence}text\n{table}\n{fence}\n")


def hosts(count: int, **fields: Any) -> list[dict[str, Any]]:
    return [{"ssh": f"user@secret{rank}", "ips": [f"10.9.8.{rank}"], **fields} for rank in range(count)]


MESH = [{**host, "rdma": [None if to == rank else "rdma_en2" for to in range(3)]} for rank, host in enumerate(hosts(3))]
TWO_HOMED = [{**host, "ips": ["10.9.8.1", "10.9.8.2"][: rank + 1]} for rank, host in enumerate(hosts(2))]


@pytest.mark.parametrize(
    ("data", "backend", "words", "remark"),
    [
        (hosts(2), None, "2 ranks on 2 hosts, ring, 1 address each", "a ring"),
        (hosts(1), "mpi", "1 rank on 1 host, mpi, 1 address each", "the scenario's backend goes before the file's"),
        (TWO_HOMED, None, "2 ranks on 2 hosts, ring, 1/2 addresses each", "not alike"),
        (
            {"backend": "jaccl", "hosts": MESH},
            None,
            "3 ranks on 3 hosts, jaccl, 1 address each, 6 of 6 RDMA links",
            "a mesh",
        ),
        (
            {"backend": "jaccl", "hosts": [MESH[0], MESH[1], {**MESH[2], "rdma": ["rdma_en2", None, None]}]},
            None,
            "3 ranks on 3 hosts, jaccl, 1 address each, 5 of 6 RDMA links",
            "a link is missing",
        ),
        ([hosts(1)[0]] * 2, None, "2 ranks on 1 host, ring, 1 address each", "two ranks on a host"),
    ],
)
def test_the_shape_of_a_hostfile(data: object, backend: str | None, words: str, remark: str) -> None:
    assert cluster_words.shape(parse(json.dumps(data), Path("hosts.json")), backend) == words, remark


def test_a_server_in_words(tmp_path: Path) -> None:
    path = tmp_path / "hosts.json"
    path.write_text(json.dumps(hosts(2)))

    def words(**server: Any) -> str:
        return cluster_words.of_server(Server.model_validate(server))

    assert words(launch={"pipeline": True}) == "2 ranks on this machine, ring, pipeline, model tiny"
    launch = {"hostfile": str(path), "model": "m", "python": "~/py"}
    assert words(launch=launch) == "2 ranks on 2 hosts, ring, 1 address each, a Python of its own, model m"
    assert words(launch={"hostfile": str(tmp_path / "gone.json")}) == "a hostfile that could not be read, model tiny"
    attached = words(attach={"url": "http://secret:8080", "hostfile": str(path)})
    assert attached.startswith("attached (2 ranks on 2 hosts, ring, 1 address each): its own versions")
    assert words(launcher="slurm") == "by the launcher slurm"
    assert not re.search(r"secret|10\.9", attached)


def test_this_machine() -> None:
    found = this_machine.facts()
    assert found.memory == psutil.virtual_memory().total
    assert platform.machine() in found.system
    assert {"Python", "locust-agents", "locust"} <= set(found.versions)
    assert this_machine.facts() is found


@pytest.mark.parametrize(
    ("text", "chip"),
    [
        ("processor\t: 0\nmodel name\t: A Chip: 7 GHz\nmodel name\t: Other\n", "A Chip: 7 GHz"),
        ("model name\t: \n", None),
        ("processor\t: 0\nBogoMIPS\t: 48.00\n", None),
    ],
)
def test_the_chip_of_a_linux_machine(text: str, chip: str | None) -> None:
    assert this_machine.chip_of_cpuinfo(text) == chip
