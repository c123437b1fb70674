"""processes.json, written and read."""

import json
from pathlib import Path

import pytest

from locust_agents.cluster import process_list
from locust_agents.cluster.process_list import ProcessRecord
from locust_agents.errors import ScenarioError

LAUNCHER = ProcessRecord("mac1", 70, 1000.25, "launcher")
RANK = ProcessRecord("mac2", 71, 1001.0, "rank", 1, ssh="bob@mac2")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    process_list.write(tmp_path, [LAUNCHER, RANK], {RANK})
    assert process_list.read(tmp_path) == ([LAUNCHER, RANK], {RANK})
    first, second = json.loads((tmp_path / "processes.json").read_text())
    assert first == {"host": "mac1", "pid": 70, "start_time": 1000.25, "role": "launcher", "rank": None, "ssh": None}
    assert second["ended"] is True
    assert [each.name for each in tmp_path.iterdir()] == ["processes.json"]


def test_a_file_of_before_there_were_other_hosts(tmp_path: Path) -> None:
    (tmp_path / "processes.json").write_text('[{"host": "a", "pid": 7, "start_time": 1.5, "role": "rank", "rank": 0}]')
    assert process_list.read(tmp_path) == ([ProcessRecord("a", 7, 1.5, "rank", 0)], set())


def test_no_file(tmp_path: Path) -> None:
    assert process_list.read(tmp_path) == ([], set())


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("[{", "half a file"),
        ("{}x", "no JSON"),
        ('["a"]', "no objects"),
        ("7", "no list"),
        ('[{"pid": 7}]', "half an entry"),
        ('[{"host": "a", "pid": 7, "start_time": 1, "role": "rank", "colour": 1}]', "a key of a later version"),
        ('[{"host": "a", "pid": "7", "start_time": 1, "role": "rank"}]', "pid is a text"),
        ('[{"host": "a", "pid": 7, "start_time": null, "role": "rank"}]', "no start time"),
        ('[{"host": "a", "pid": -1, "start_time": 1, "role": "rank"}]', "kill() would take it for everybody"),
        ('[{"host": "a", "pid": 0, "start_time": 1, "role": "launcher"}]', "kill() would take it for our own group"),
    ],
)
def test_an_odd_file(tmp_path: Path, text: str, remark: str) -> None:
    (tmp_path / "processes.json").write_text(text)
    with pytest.raises(ScenarioError, match=r"processes\.json cannot be read .*: look yourself") as raised:
        process_list.read(tmp_path)
    assert "\n" not in str(raised.value), remark


@pytest.mark.parametrize(
    ("start_time", "is_same", "remark"),
    [
        (1001.0, True, "the very time"),
        (1002.0, True, "ps counted the boot a second later"),
        (999.0, True, "and Linux's clock was set besides"),
        (998.9, False, "another process"),
        (5000.0, False, "long after"),
    ],
)
def test_is_same(start_time: float, is_same: bool, remark: str) -> None:
    assert RANK.is_same(start_time) is is_same, remark


def test_names() -> None:
    assert LAUNCHER.name == "launcher (pid 70)"
    assert RANK.name == "rank 1 (pid 71) on mac2"
