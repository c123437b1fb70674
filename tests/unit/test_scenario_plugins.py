"""What a scenario names by its path: plugin files and profile files, and the listeners that it wants."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from locust_agents.errors import LocustAgentsError
from locust_agents.plugins import files, registry
from locust_agents.scenarios import loader, with_plugins
from locust_agents.scenarios.loader import Override
from locust_agents.scenarios.model import Scenario

EXPLORE = """\
from locust_agents.plugins.api import Agent, Session, behaviour


@behaviour
def explore(agent: Agent, reads: int = 5) -> Session:
    yield agent.user("Look.", tokens=reads)
"""
WORST = """\
class worst:
    def __init__(self, over_s: float = 1.0, name: str = "it") -> None:
        self.over_s = over_s

    def on_turn(self, record: object) -> None:
        pass
"""
PROFILE = """\
name: patient
product: ours
source: made up
system_tokens: 9
tool_tokens: 8
tools: [read]
max_tokens: null
"""
SCENARIO = """\
plugins: [explore.py]
swarm:
  a: {behaviour: explore, profile: patient.yaml, with: {reads: 2k}}
"""


@pytest.fixture(autouse=True)
def beside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The scenario and its files lie in a folder that is not the working one."""
    monkeypatch.setattr(files, "_plugins", {})
    monkeypatch.setattr(files, "_profiles", {})
    monkeypatch.delenv(with_plugins.PLUGINS, raising=False)
    folder, here = tmp_path / "beside", tmp_path / "here"
    for one in (folder, here):
        one.mkdir()
    for name, text in (("explore.py", EXPLORE), ("patient.yaml", PROFILE), ("worst.py", WORST), ("s.yaml", SCENARIO)):
        (folder / name).write_text(text)
    monkeypatch.chdir(here)
    return folder


def read(folder: Path, text: str, overrides: Sequence[Override] = (), plugins: Sequence[str] = ()) -> Scenario:
    (folder / "s.yaml").write_text(text)
    return with_plugins.load(folder / "s.yaml", overrides, plugins)


def refused(folder: Path, text: str, plugins: Sequence[str] = ()) -> list[str]:
    with pytest.raises(LocustAgentsError) as error:
        read(folder, text, plugins=plugins)
    return str(error.value).replace(f"{folder}/", "").splitlines()


def test_what_it_names_lies_beside_it(beside: Path) -> None:
    found = with_plugins.load(beside / "s.yaml")
    assert found.plugins == (str(beside / "explore.py"),)
    assert found.swarm["a"].parameters == {"reads": 2000}
    assert found.swarm["a"].profile == str(beside / "patient.yaml")
    assert registry.profile(found.swarm["a"].profile).name == "patient"


def test_the_resolved_one_is_read_again_anywhere(beside: Path) -> None:
    found = with_plugins.load(beside / "s.yaml")
    assert with_plugins.parse(loader.dump(found), "a run's folder") == found
    assert with_plugins.of_plan(loader.dump(found)) == found


def test_what_an_option_names_lies_in_the_working_folder(beside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(beside)
    (beside / "below").mkdir()
    text = "swarm: {a: {behaviour: explore}}"
    found = read(beside / "below", text, [Override("swarm.a.profile", "patient.yaml")], ["explore.py"])
    assert found.plugins == (str(beside / "explore.py"),)
    assert found.swarm["a"].profile == str(beside / "patient.yaml")
    other = read(beside / "below", text, [Override("plugins", "explore.py")])
    assert other.plugins == found.plugins


def test_the_variable_holds_several(beside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(with_plugins.PLUGINS, f"{beside / 'explore.py'}:{beside / 'worst.py'}:")
    found = read(beside, "swarm: {a: {behaviour: explore}}")
    assert [Path(path).name for path in found.plugins] == ["explore.py", "worst.py"]


# remark, scenario, plugins named besides, what is told
MISTAKES: list[tuple[str, str, tuple[str, ...], list[str]]] = [
    (
        "no such plugin",
        "plugins: gone.py\nswarm: {}",
        (),
        ["gone.py: no such file; --plugin and `plugins:` take the path of"],
    ),
    (
        "no such plugin of an option",
        "swarm: {}",
        ("gone.py",),
        ["gone.py: no such file; --plugin and `plugins:` take the"],
    ),
    (
        "no such profile",
        "swarm:\n  a: {behaviour: giant_prompt, profile: gone.yaml}",
        (),
        ["s.yaml:2:41: swarm.a.profile: no such file: gone.yaml"],
    ),
    (
        "its place is kept, and all are told",
        "plugins: explore.py\nswarm:\n  a: {behaviour: exlore}\n  b: {behaviour: explore, with: {read: 1}}",
        (),
        [
            "s.yaml:3:18: swarm.a.behaviour: no behaviour is called 'exlore'; did you mean 'explore'?",
            "s.yaml:4:34: swarm.b.with.read: unknown parameter; explore takes reads; did you mean 'reads'?",
        ],
    ),
    (
        "paths are a list",
        "plugins: 5\nswarm: {a: {behaviour: giant_prompt}}",
        (),
        ["s.yaml:1:10: plugins: expected a list of"],
    ),
    (
        "no such listener",
        "listeners: [wurst]\nplugins: worst.py\nswarm: {a: {behaviour: giant_prompt}}",
        (),
        ["s.yaml:1:13: listeners[0]: no listener is called 'wurst'; did you mean 'worst'?"],
    ),
    (
        "a listener's parameters",
        "listeners: {worst: {over_s: lots, nme: x}}\nplugins: worst.py\nswarm: {a: {behaviour: giant_prompt}}",
        (),
        [
            "s.yaml:1:29: listeners.worst.over_s: expected a duration such as 90s",
            "s.yaml:1:35: listeners.worst.nme: unknown parameter; worst takes over_s, name",
        ],
    ),
    (
        "listeners are names",
        "listeners: 5\nswarm: {a: {behaviour: giant_prompt}}",
        (),
        ["s.yaml:1:12: listeners: expected a mapping"],
    ),
    ("not YAML", "swarm: [", (), ["s.yaml:1:9: not YAML"]),
    ("no scenario", "", (), ["s.yaml:1:1: the file holds no scenario"]),
]


@pytest.mark.parametrize(("text", "plugins", "told"), [pytest.param(*row[1:], id=row[0]) for row in MISTAKES])
def test_mistakes(beside: Path, text: str, plugins: tuple[str, ...], told: list[str]) -> None:
    lines = refused(beside, text, plugins)
    assert [line[: len(start)] for line, start in zip(lines, told, strict=True)] == told


# remark, what the scenario says, what it means
WANTED: list[tuple[str, str, dict[str, dict[str, object]]]] = [
    ("one name", "worst", {"worst": {}}),
    ("names", "[worst]", {"worst": {}}),
    ("with parameters", "{worst: {over_s: 2m}}", {"worst": {"over_s": 120.0}}),
    ("without parameters", "{worst: {}}", {"worst": {}}),
]


@pytest.mark.parametrize(("said", "meant"), [pytest.param(*row[1:], id=row[0]) for row in WANTED])
def test_listeners(beside: Path, said: str, meant: dict[str, dict[str, object]]) -> None:
    text = f"listeners: {said}\nplugins: worst.py\nswarm: {{a: {{behaviour: giant_prompt}}}}"
    assert read(beside, text).listeners == meant


# -- a worker


def plan(beside: Path) -> str:
    """A master's plan, whose files then go."""
    text = loader.dump(with_plugins.load(beside / "s.yaml", plugins=[str(beside / "worst.py")]))
    (beside / "worst.py").unlink()
    files._plugins.clear()
    return text


def test_a_worker_does_not_need_what_it_does_not_use(beside: Path) -> None:
    assert set(with_plugins.of_plan(plan(beside)).swarm) == {"a"}


def test_a_worker_may_have_a_file_elsewhere(beside: Path) -> None:
    text = plan(beside)
    (beside / "explore.py").rename(Path("explore.py"))
    with_plugins.add_files(["explore.py"])
    assert with_plugins.of_plan(text).swarm["a"].behaviour == "explore"


def test_a_worker_says_which_file_it_lacks(beside: Path) -> None:
    text = plan(beside)
    (beside / "explore.py").unlink()
    with pytest.raises(
        LocustAgentsError, match=r"'explore'.*explore\.py.*is not on this machine; give this worker --plugin"
    ):
        with_plugins.of_plan(text)
