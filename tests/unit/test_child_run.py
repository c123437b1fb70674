"""A run in a child process: its command, what is made of how it ended. Real runs are in tests/integration."""

import json
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
import yaml

import locust_agents
from locust_agents import child_run
from locust_agents.errors import ClusterError, ScenarioError


def test_importing_the_door_loads_nothing_behind_it() -> None:
    code = "import sys, locust_agents; print(*sorted(sys.modules))"
    names = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "locust_agents.run_scenario" in names
    assert not {"locust", "gevent", "mlx", "pydantic", "yaml", "rich", "subprocess"} & set(names)


def test_the_function_keeps_its_name_when_its_module_is_imported() -> None:
    __import__("locust_agents.run_scenario")
    assert callable(locust_agents.run_scenario)


def test_the_command() -> None:
    made = child_run.command("--odd", Path("out"), ["turns=3", "seed=2"], "http://mac1:8080")
    assert made[:5] == [sys.executable, "-m", "locust_agents", "run", "--json"]
    assert made[5:] == [*"--out out --attach http://mac1:8080 --set turns=3 --set seed=2 -- --odd".split()]
    assert child_run.command({}, None, (), None)[5:] == ["--", "-"]


def test_a_mapping_is_written_as_yaml() -> None:
    shared = {"behaviour": "fix_failing_test"}
    given = OrderedDict(name="é: #1", plugins=(Path("a.py"),), swarm={"a": shared, "b": shared}, scale=1e-06, cap=None)
    text = child_run.text_of(given)
    assert text is not None
    assert "&" not in text
    read = {"name": "é: #1", "plugins": ["a.py"], "swarm": {"a": shared, "b": shared}, "scale": 1e-06, "cap": None}
    assert yaml.safe_load(text) == read
    assert child_run.text_of("quickstart") is child_run.text_of(Path("s.yaml")) is None


def test_a_value_that_is_none_of_a_scenario() -> None:
    with pytest.raises(ScenarioError, match="neither text, number, list nor mapping"):
        child_run.text_of({"name": object()})


def says(status: int, document: Any) -> list[str]:
    """A command that prints the document and ends so."""
    text = document if isinstance(document, str) else json.dumps(document)
    return [sys.executable, "-c", f"import sys; sys.stdout.write({text!r}); sys.exit({status})"]


@pytest.mark.parametrize(
    ("status", "document", "error", "words"),
    [
        (2, {"folder": None, "error": "s.yaml:1:1: what"}, ScenarioError, "s.yaml:1:1: what"),
        (3, {"folder": None, "error": "nothing listens"}, ClusterError, "nothing listens"),
        (3, "", ClusterError, "status 3 and no summary"),
        (-9, '{"folder": nu', ClusterError, "status -9 and no summary"),
    ],
)
def test_a_run_that_never_began(status: int, document: object, error: type[Exception], words: str) -> None:
    command = says(status, document) if status >= 0 else [sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]
    with pytest.raises(error, match=words):
        child_run.run(command, None, quiet=True)


def test_the_summary_is_of_the_folder_that_the_run_names(tmp_path: Path) -> None:
    line = {"outcome": "ok", "entry": "a", "kind": "first", "wall_time": 5.0, "sent_s": 0.0, "first_token_s": 2.0}
    (tmp_path / "turns.jsonl").write_text(json.dumps({**line, "end_s": 3.0}) + "\n")
    (tmp_path / "scenario.yaml").write_text("limits: {ttft.max: 1s}\n")
    found = child_run.run(says(1, {"folder": str(tmp_path), "error": None}), "unread", quiet=True)
    assert (found.status, found.folder, found.error, found.turns) == (1, tmp_path, None, 1)
    assert [judgement.held for judgement in found.judgements] == [False]
