"""Which run is meant."""

import os
from pathlib import Path

import pytest

from locust_agents import find_run
from locust_agents.errors import ScenarioError

NAMES = ("20261130-100000-a-run", "20261130-110000-a-run", "20261130-110000-a-run-2", "mine")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Runs that began in the order of their names, and what is no run."""
    for number, name in enumerate(NAMES):
        (tmp_path / "runs" / name).mkdir(parents=True)
        for file in ("scenario.yaml", "turns.jsonl"):
            (tmp_path / "runs" / name / file).touch()
            os.utime(tmp_path / "runs" / name / file, (1000 + number, 1000 + number))
    (tmp_path / "runs" / "110000-no-run").mkdir()
    (tmp_path / "runs" / "110000-a-file").touch()
    return tmp_path / "runs"


@pytest.mark.parametrize(
    ("name", "found", "remark"),
    [
        ("20261130-100000-a-run", 0, "its name"),
        ("100000", 0, "a part of it"),
        ("20261130-110000-a-run", 1, "a whole name goes before a part of another"),
        ("run-2", 2, "the end"),
        ("last", 3, "the last to begin"),
    ],
)
def test_a_name(runs: Path, name: str, found: int, remark: str) -> None:
    assert find_run.find(name, runs) == runs / NAMES[found], remark


def test_last_is_the_last_to_begin_though_an_older_one_still_writes(runs: Path) -> None:
    os.utime(runs / NAMES[0] / "turns.jsonl", (9999, 9999))
    assert find_run.find("last", runs).name == "mine"


def test_a_folder_anywhere(runs: Path, tmp_path: Path) -> None:
    assert find_run.find(str(runs / "mine"), tmp_path / "elsewhere") == runs / "mine"


@pytest.mark.parametrize(
    ("name", "words", "remark"),
    [
        ("110000", ["2 runs", "110000-a-run-2, ", "110000-a-run)", "name more"], "several"),
        ("", ["none below", "mine"], "nothing named"),
        ("nope", ["nope: no run's folder", "none below", "mine"], "none, and which there are"),
        ("110000-no-run", ["none below"], "a folder without turns"),
    ],
)
def test_no_name(runs: Path, name: str, words: list[str], remark: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        find_run.find(name, runs)
    assert all(word in str(caught.value) for word in words), f"{remark}: {caught.value}"
    assert len(str(caught.value).splitlines()) == 1


def test_a_sweep_is_a_folder_of_runs(runs: Path, tmp_path: Path) -> None:
    (runs / "sweep.json").touch()
    with pytest.raises(ScenarioError, match=r"is a sweep; name one of its cells: .*/runs/2026\d+-100000-a-run, "):
        find_run.find(str(runs), tmp_path / "elsewhere")


def test_where_there_are_no_runs_at_all(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="holds none; name a folder, or run one first"):
        find_run.find("last", tmp_path / "runs")
