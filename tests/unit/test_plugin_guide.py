"""docs/plugins.md is true: its files do what it says, and it names the whole plugin surface."""

import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from locust_agents import cli
from locust_agents.plugins import api, files, registry
from locust_agents.scenarios import with_plugins

GUIDE = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"`([\w./]+)`[^`\n]*:\n\n```\w+\n(.*?)```", re.DOTALL)


def written(folder: Path) -> dict[str, str]:
    """The guide's files, each after the name that stands before it."""
    found = dict(_BLOCK.findall(GUIDE))
    for name, text in found.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(files, "_plugins", {})
    monkeypatch.setattr(files, "_profiles", {})
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    return tmp_path


def test_every_block_with_a_name_is_found(tmp_path: Path) -> None:
    names = {"review.py", "test_review.py", "swarm.yaml", "patient.yaml", "worst.py", "pyproject.toml"}
    assert set(written(tmp_path)) == names | {"our_agents/__init__.py"}


def test_a_behaviour_takes_25_lines_and_its_test_15(tmp_path: Path) -> None:
    found = written(tmp_path)
    assert len(found["review.py"].splitlines()) <= 25
    assert len(found["test_review.py"].splitlines()) <= 15


def test_the_test_passes_without_a_network(folder: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:locust", "test_review.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_the_scenario_and_the_profile_are_read(folder: Path) -> None:
    found = with_plugins.load(folder / "swarm.yaml")
    assert found.swarm["reviewers"].parameters == {"diff_tokens": 8000}
    assert registry.profile(files.add_profile(folder / "patient.yaml")).timeouts.headers_s == 900


def test_the_listener_hears(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files.add(folder / "worst.py")
    listener = registry.listener("WorstWait").make(over_s=2)
    listener.close()  # type: ignore[attr-defined]
    assert capsys.readouterr().err == "worst: 2.0 s\n" or "worst: 2" in capsys.readouterr().err


def test_its_package_names_the_groups() -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)
    groups = tomllib.loads(text)["project"]["entry-points"]
    assert set(groups) <= {f"locust_agents.{kind}" for kind in ("behaviours", "profiles", "listeners", "launchers")}


def test_it_names_the_whole_surface() -> None:
    assert len(api.__all__) > 25
    unnamed = {name for name in api.__all__ if not re.search(rf"\b{name}\b", GUIDE)}
    assert unnamed == set()


def test_the_surface_holds_nothing_that_it_does_not_promise() -> None:
    public = {name for name, value in vars(api).items() if not name.startswith("_") and not inspect.ismodule(value)}
    assert public == set(api.__all__)


def test_the_commands_it_names_exist() -> None:
    assert set(re.findall(r"locust-agents ([a-z]+)", GUIDE)) <= set(cli.COMMANDS)
