"""What gets in by entry points and by files, under which names, and what a broken one costs whom."""

import textwrap
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from locust_agents.errors import PluginError
from locust_agents.plugins import door, files, offers, plugins_command, registry
from locust_agents.plugins.api import Agent, Profile, Session, TurnRecord, behaviour

EXPLORE = """\
from locust_agents.plugins.api import Agent, Session, behaviour
from locust_agents.plugins.behaviours.fix_failing_test import fix_failing_test


@behaviour
def explore(agent: Agent, reads: int = 5) -> Session:
    \"\"\"Explores.\"\"\"
    yield agent.user("Look.", tokens=10)


class Worst:
    \"\"\"Keeps the worst.\"\"\"

    def __init__(self, over_s: float = 1.0) -> None:
        self.over_s = over_s

    def on_turn(self, record: object) -> None:
        pass
"""


@pytest.fixture(autouse=True)
def nothing_was_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(files, "_plugins", {})
    monkeypatch.setattr(files, "_profiles", {})
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[metadata.EntryPoint]]:
    """Entry points of this list alone, as long as the test runs."""
    found: list[metadata.EntryPoint] = []

    def entry_points(group: str) -> Sequence[metadata.EntryPoint]:
        return [point for point in found if point.group == group]

    kinds = ("behaviours", "profiles", "listeners", "launchers")
    caches = [getattr(registry, f"installed_{kind}").cache_clear for kind in kinds]
    monkeypatch.setattr(metadata, "entry_points", entry_points)
    for clear in caches:
        clear()
    yield found
    monkeypatch.undo()
    for clear in caches:
        clear()


def point(name: str, value: str, kind: str = "behaviours") -> metadata.EntryPoint:
    return metadata.EntryPoint(name, value, f"locust_agents.{kind}")


def write(text: str, name: str = "mine.py") -> Path:
    Path(name).write_text(textwrap.dedent(text))
    return Path(name)


# -- files


def test_a_file_offers_all_that_it_defines_and_nothing_that_it_imports() -> None:
    files.add(write(EXPLORE))
    (offered,) = files.plugins().values()
    assert {kind: set(names) for kind, names in offered.items()} == {
        "behaviours": {"explore"},
        "profiles": set(),
        "listeners": {"Worst"},
        "launchers": set(),
    }
    assert registry.behaviour("explore").summary == "Explores."
    assert registry.parameters()["explore"]["reads"].default == 5
    assert registry.listener("Worst").parameters["over_s"].default == 1.0
    assert registry.listener("Worst").summary == "Keeps the worst."


def test_a_file_is_loaded_once() -> None:
    path = write(EXPLORE)
    files.add(path)
    made = registry.behaviour("explore")
    files.add(path.resolve())
    assert registry.behaviour("explore") is made


def test_a_file_goes_before_what_is_installed() -> None:
    ours = registry.behaviour("giant_prompt")
    files.add(write(EXPLORE.replace("def explore", "def giant_prompt")))
    assert registry.behaviour("giant_prompt") is not ours


def test_two_files_with_one_name_are_refused() -> None:
    files.add(write(EXPLORE))
    told = r"^other\.py: explore: mine\.py offers behaviours of the same name; rename one$"
    with pytest.raises(PluginError, match=told):
        files.add(write(EXPLORE, "other.py"))
    assert len(files.plugins()) == 1


@pytest.mark.parametrize(
    "text", ["x = 1\n", "class A:\n    pass\n", "from locust_agents.plugins.api import Listener\n"]
)
def test_a_file_that_offers_nothing_says_so(text: str) -> None:
    with pytest.raises(PluginError, match=r"^mine\.py: it offers no behaviour.*docs/plugins\.md"):
        files.add(write(text))


def test_an_annotation_that_means_nothing_is_the_files_fault() -> None:
    with pytest.raises(PluginError, match=r"^mine\.py: NameError: name 'Nothing' is not defined"):
        files.add(
            write("class A:\n    def __init__(self, x: 'Nothing' = 1): ...\n    def on_turn(self, record): ...\n")
        )


# -- profiles by their path


PROFILE = """\
name: patient
product: ours
source: made up
system_tokens: 9
tool_tokens: 8
tools: [read]
max_tokens: null
"""


def test_a_profiles_file_is_known_by_its_full_path_and_its_own_name(tmp_path: Path) -> None:
    path = files.add_profile(write(PROFILE, "patient.yaml"))
    assert path == str(tmp_path / "patient.yaml")
    assert registry.profile(path).system_tokens == registry.profile("patient").system_tokens == 9


def test_a_profiles_file_does_not_replace_what_is_installed() -> None:
    write(PROFILE.replace("patient", "opencode"), "opencode.yaml")
    path = files.add_profile(Path("opencode.yaml"))
    assert registry.profile(path).product == "ours"
    assert registry.profile("opencode").product != "ours"


# -- what an entry point may name


@behaviour
def looks(agent: Agent) -> Session:
    yield agent.user("Look.")


SMALL = Profile("small", "ours", "made up", 1, 2, (), None)


class Counts:
    """Counts."""

    def on_turn(self, record: TurnRecord) -> None:
        """Counts one."""


class Starts:
    """Starts."""

    name = "starts"

    def start(self, *_: Any) -> Any:
        """Starts one."""


def makes() -> Profile:
    return SMALL


# remark, kind, what is named, the names that come of it
NAMED: list[tuple[str, str, object, set[str]]] = [
    ("a behaviour", "behaviours", looks, {"looks"}),
    ("a profile", "profiles", SMALL, {"small"}),
    ("a function that makes one", "profiles", makes, {"small"}),
    ("a listener's class, under the point's name", "listeners", Counts, {"point"}),
    ("a listener", "listeners", Counts(), {"point"}),
    ("a launcher", "launchers", Starts(), {"starts"}),
    ("a launcher's class", "launchers", Starts, {"starts"}),
]


@pytest.mark.parametrize(("kind", "made", "names"), [pytest.param(*row[1:], id=row[0]) for row in NAMED])
def test_what_an_entry_point_may_name(kind: str, made: object, names: set[str]) -> None:
    assert set(getattr(offers, f"{kind}_in")(made, "point")) == names


@pytest.mark.parametrize("kind", ["behaviours", "profiles", "listeners", "launchers"])
@pytest.mark.parametrize("made", [5, "text", None])
def test_what_it_may_not(kind: str, made: object) -> None:
    with pytest.raises(PluginError, match=f"^no {kind[:-1]} in "):
        getattr(offers, f"{kind}_in")(made, "point")


# -- broken packages


def broken_package(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> str:
    (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder))
    return name


def test_a_broken_one_costs_only_those_who_name_it(
    points: list[metadata.EntryPoint], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = broken_package(tmp_path, monkeypatch, "door_broken_one", "x = 1\nimprt\n")
    points += [point("bad", name), point("fix", "locust_agents.plugins.behaviours.fix_failing_test")]
    assert list(registry.behaviours()) == ["fix_failing_test"]
    why = "plugin 'bad' of an unknown package (group locust_agents.behaviours): door_broken_one.py:2: NameError: "
    assert [one.why for one in registry.broken()] == [f"{why}name 'imprt' is not defined"]
    with pytest.raises(PluginError, match=r"no behaviour is called 'bad'; .*door_broken_one\.py:2: NameError"):
        registry.behaviour("bad")


# remark, kind, value, why
BROKEN: list[tuple[str, str, str, str]] = [
    (
        "a module that is not there",
        "behaviours",
        "no_such_module",
        "ModuleNotFoundError: No module named 'no_such_module'",
    ),
    ("an object that is not there", "behaviours", "json:nothing", "AttributeError: module 'json' has no attribute"),
    ("a module without any", "behaviours", "json", "no behaviour in json; make one with @behaviour"),
    ("what is no profile", "profiles", "json:__name__", "no profile in 'json'"),
    ("a function that does not make one", "profiles", "time:time", "no profile in <built-in function time>"),
    ("a listener that hears nothing", "listeners", "json:JSONDecoder", "no listener in <class"),
    ("a launcher that starts nothing", "launchers", "json", "no launcher in json"),
]


@pytest.mark.parametrize(("kind", "value", "why"), [pytest.param(*row[1:], id=row[0]) for row in BROKEN])
def test_why_it_is_broken(points: list[metadata.EntryPoint], kind: str, value: str, why: str) -> None:
    points.append(point("bad", value, kind))
    (one,) = registry.broken()
    assert (one.kind, one.name) == (kind, "bad")
    assert f"(group locust_agents.{kind}): {why}" in one.why
    assert f"  {one.why}" in plugins_command.lines()


def test_a_name_that_is_taken_is_not_taken_over(
    points: list[metadata.EntryPoint], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = broken_package(tmp_path, monkeypatch, "door_double", EXPLORE.replace("def explore", "def giant_prompt"))
    points += [point("giant_prompt", "locust_agents.plugins.behaviours.giant_prompt"), point("other", name)]
    assert registry.behaviour("giant_prompt").function.__module__.startswith("locust_agents.")
    assert "'giant_prompt' is taken by" in registry.broken()[0].why


def test_ours_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    packages = {"zebra": "acme", "apple": "locust-agents"}
    monkeypatch.setattr(door, "package_of", lambda point: packages[point.name])
    loaded: list[str] = []

    def load(point: metadata.EntryPoint) -> object:
        loaded.append(point.name)
        return looks

    monkeypatch.setattr(metadata, "entry_points", lambda **_: [point("zebra", "x"), point("apple", "y")])
    monkeypatch.setattr(door, "load", load)
    door.installed("behaviours", offers.behaviours_in)
    assert loaded == ["apple", "zebra"]


def test_nothing_of_ours_is_broken() -> None:
    assert registry.broken() == ()
