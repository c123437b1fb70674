"""Whose a sweep's folder is, which cells are done, and what is moved aside."""

import argparse
import json
import os
from pathlib import Path

import pytest

from locust_agents.errors import ScenarioError
from locust_agents.scenarios import with_plugins
from locust_agents.sweep import command
from locust_agents.sweep import folder as sweep_folder
from locust_agents.sweep.cells import Cell
from locust_agents.sweep.run import Sweep

TEXT = "name: a\n"
CELL = Cell(2, {"scale": 0.5}, with_plugins.parse("swarm: {a: {behaviour: giant_prompt}}", "here"), "scale: 0.5\n")


def take(folder: Path, text: str = TEXT) -> None:
    os.close(sweep_folder.take(folder, text, lambda _: None))


def cell(folder: Path, status: int | None, text: str = CELL.text) -> None:
    path = folder / CELL.folder
    path.mkdir()
    (path / "scenario.yaml").write_text(text)
    (path / "cluster.jsonl").write_text('{"event": "machine"}\n{"event": "launch", "time": 1}\n{"event": "ready"}\n')
    if status is not None:
        (path / "summary.json").write_text(json.dumps({"exit_status": status}))


def test_a_folder_is_taken_again_by_the_same_sweep_alone(tmp_path: Path) -> None:
    take(tmp_path / "s")
    take(tmp_path / "s")
    with pytest.raises(ScenarioError, match="holds a sweep of another scenario"):
        take(tmp_path / "s", "name: b\n")
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "turns.jsonl").touch()
    with pytest.raises(ScenarioError, match="something else than a sweep"):
        take(tmp_path / "t")


def test_only_one_sweep_works_in_a_folder(tmp_path: Path) -> None:
    said: list[str] = []
    lock = sweep_folder.take(tmp_path, TEXT, said.append)
    with pytest.raises(ScenarioError, match="still in use"):
        sweep_folder.take(tmp_path, TEXT, said.append, patience_s=0.1)
    os.close(lock)
    assert len(said) == 1
    take(tmp_path)


@pytest.mark.parametrize(
    ("status", "text", "done"),
    [
        (0, CELL.text, True),
        (1, CELL.text, True),  # a broken limit is a result
        (3, CELL.text, True),  # so is a server that died
        (130, CELL.text, False),  # interrupted: half a cell
        (None, CELL.text, False),  # killed
        (0, "scale: 1\n", False),  # of another scenario
    ],
)
def test_a_cell_is_done_that_ended_by_itself(tmp_path: Path, status: int | None, text: str, done: bool) -> None:
    cell(tmp_path, status, text)
    assert sweep_folder.is_done(tmp_path, CELL) is done


def test_half_a_cell_is_moved_aside_and_its_server_is_counted(tmp_path: Path) -> None:
    assert sweep_folder.make_room(tmp_path, CELL) is None
    for number in (1, 2):
        cell(tmp_path, None)
        assert sweep_folder.make_room(tmp_path, CELL) == tmp_path / "halves" / f"cell-002-0.5-{number}"
    assert sweep_folder.server_starts(tmp_path) == 2


def test_an_unfinished_sweep_of_the_same_scenario_is_gone_on_with(tmp_path: Path) -> None:
    first = sweep_folder.choose(None, "A b", TEXT, tmp_path)
    assert first.name.endswith("-sweep-a-b")
    take(first)
    assert sweep_folder.choose(None, "A b", TEXT, tmp_path) == first
    assert sweep_folder.choose(None, "A b", "name: b\n", tmp_path) != first
    sweep_folder.write_result(first, {"finished": True})
    assert sweep_folder.choose(None, "A b", TEXT, tmp_path) != first
    assert sweep_folder.choose(tmp_path / "x", "A b", TEXT, tmp_path) == tmp_path / "x"


def test_the_command_that_goes_on_is_one_for_a_shell() -> None:
    options = argparse.Namespace(scenario="my night.yaml", set=["sweep={seed: [1, 2]}"], plugin=["a.py"])
    again = command._again(Sweep(Path("runs/s"), ()), options)
    assert again == ("locust-agents sweep 'my night.yaml' --out runs/s --set 'sweep={seed: [1, 2]}' --plugin a.py")
