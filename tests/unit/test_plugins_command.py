"""`locust-agents plugins` and `locust-agents init`, as their user sees them."""

import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from locust_agents import cli
from locust_agents.plugins import files, init_command, plugins_command, registry, starter
from locust_agents.scenarios import with_plugins

PLUGIN = '''\
from locust_agents.plugins.api import Agent, Session, behaviour


@behaviour
def explore(agent: Agent, repo: str, reads: int = 5, deep: bool = False, most: int | None = None) -> Session:
    """Explores.

    In two parts.
    """
    yield agent.user("Look.")
'''


@pytest.fixture(autouse=True)
def nothing_was_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(files, "_plugins", {})
    monkeypatch.setattr(files, "_profiles", {})
    monkeypatch.chdir(tmp_path)


def test_every_plugin_has_a_line_of_80_columns() -> None:
    lines = plugins_command.lines()
    assert all(cell_len(line) <= 80 for line in lines)
    kinds = [line for line in lines if not line.startswith(" ")]
    assert kinds == ["behaviours", "profiles", "listeners", "launchers"]
    told = {line.split()[0] for line in lines if line.startswith(" ")}
    there_are = (registry.behaviours(), registry.profiles(), registry.listeners(), registry.launchers())
    assert {name for names in there_are for name in names} <= told


def test_parameters_with_their_defaults() -> None:
    (line,) = [line for line in plugins_command.lines() if line.startswith("  fix_failing_test ")]
    assert "reads: 8, attempts: 3  Reads" in line


def test_what_stands_before_the_first_word_is_all_of_it() -> None:
    (line,) = [line for line in plugins_command.lines() if line.startswith("  qwen-code ")]
    assert "14 tools, 17.0k tokens" in line, "system text, tools, and what is put before the human's first text"


def test_a_file_is_told_with_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.py").write_text(PLUGIN)
    assert cli.main(["plugins", "--plugin", "mine.py"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  explore ")]
    assert "  [mine.py]  repo: (needed), reads: 5, deep: false" in line


def test_one_by_its_name_is_told_wholly(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.py").write_text(PLUGIN)
    assert cli.main(["plugins", "explore", "--plugin", "mine.py"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "behaviour explore (mine.py)",
        "  Explores.",
        "",
        "  In two parts.",
        "    repo: (needed)",
        "    reads: 5",
        "    deep: false",
        "    most: null",
    ]


def test_a_profile_that_speaks_another_api_says_so() -> None:
    differ = [name for name, profile in registry.profiles().items() if profile.sent_as is not None]
    assert differ
    for name in differ:
        (line,) = [line for line in plugins_command.lines() if line.startswith(f"  {name} ")]
        assert "sent as" in line
        assert any("speaks" in line for line in plugins_command.details(name))


def test_an_unknown_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plugins", "fix_failing_tset"]) == 2
    assert capsys.readouterr().err == ("no plugin is called 'fix_failing_tset'; did you mean 'fix_failing_test'?\n")


# -- init


def test_what_init_writes_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["init", "new/mine"]) == 0
    assert "python -m pytest new/mine/test_my_agent.py" in capsys.readouterr().out
    scenario = with_plugins.load(Path("new/mine/swarm.yaml"))
    assert scenario.swarm["mine"].behaviour == "my_agent"
    checked = [
        [sys.executable, "-m", "pytest", "-q", "-p", "no:locust", "new/mine"],
        [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E,F,B", "--line-length", "120", "new"],
        [sys.executable, "-m", "mypy", "--strict", "my_agent.py", "test_my_agent.py"],
    ]
    for command in checked:
        done = subprocess.run(
            command, cwd="new/mine" if "mypy" in command else ".", capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", starter.FILES)
def test_init_overwrites_nothing(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(name).write_text("mine\n")
    assert cli.main(["init"]) == 2
    assert capsys.readouterr().err == f"{name}: already there, and nothing was written; name another folder\n"
    assert [path.name for path in Path().iterdir()] == [name]
    assert Path(name).read_text() == "mine\n"


def test_init_where_it_may_not_write(capsys: pytest.CaptureFixture[str]) -> None:
    Path("file").write_text("")
    assert cli.main(["init", "file"]) == 2
    assert capsys.readouterr().err == "file: cannot be written: File exists\n"


def test_init_says_what_comes_next(capsys: pytest.CaptureFixture[str]) -> None:
    assert init_command.main([]) == 0
    assert "locust-agents check swarm.yaml, then locust-agents run swarm.yaml" in capsys.readouterr().out
