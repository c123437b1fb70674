"""Which line of a plugin is named: its own innermost one, whoever else was called from it."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

from locust_agents.errors import PluginError
from locust_agents.plugins import door, fault_lines
from locust_agents.plugins.api import Agent, Behaviour, Session, behaviour

HEAD = "from locust_agents.plugins.api import behaviour, Agent, Session\n"


def module(folder: Path, text: str, name: str = "acting.py") -> ModuleType:
    (folder / name).write_text(text)
    return door.from_file(folder / name)


def raised(call: Callable[[], object]) -> BaseException:
    try:
        call()
    except (Exception, SystemExit) as error:  # noqa: BLE001 (any at all)
        here = error.__traceback__
        return error.with_traceback(here and here.tb_next)  # this file is nobody's plugin
    raise AssertionError("it did not raise")


# remark, the file's text, what is told of act()
RAISING: list[tuple[str, str, str]] = [
    ("in its own line", "def act():\n    return 1 / 0\n", "acting.py:2: ZeroDivisionError: division by zero"),
    (
        "in the standard library, called from its line 4",
        "import json\n\ndef act():\n    json.loads('no')\n",
        "acting.py:4: JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
    ),
    (
        "in ours, called from its line 4",
        HEAD + "\ndef act():\n    Agent('a', 'b', '1').pause('soon')\n",
        "acting.py:4: TypeError: seconds is a number, not 'soon'",
    ),
    (
        "the innermost of its own",
        "def act():\n    below()\n\ndef below():\n    raise KeyError('x')\n",
        "acting.py:5: KeyError: 'x'",
    ),
    ("an exit is a fault too", "def act():\n    raise SystemExit(3)\n", "acting.py:2: SystemExit: 3"),
    ("without words", "def act():\n    assert False\n", "acting.py:2: AssertionError"),
    ("in one line", "def act():\n    raise ValueError('a\\n  b')\n", "acting.py:2: ValueError: a b"),
]


@pytest.mark.parametrize(("text", "told"), [pytest.param(*row[1:], id=row[0]) for row in RAISING])
def test_its_own_innermost_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, told: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert fault_lines.told(raised(module(tmp_path, text).act)) == told


def test_a_helper_beside_it_is_its_own_and_what_is_installed_below_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    installed = tmp_path / ".venv" / "lib" / "site-packages"
    installed.mkdir(parents=True)
    (installed / "fault_library.py").write_text("def fail():\n    raise OSError('disk')\n")
    (tmp_path / "fault_helper.py").write_text("import fault_library\n\ndef help():\n    fault_library.fail()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(installed))
    made = module(tmp_path, "import fault_helper\n\ndef act():\n    fault_helper.help()\n")
    assert fault_lines.told(raised(made.act)) == "fault_helper.py:4: OSError: disk"


def test_what_never_ran_a_line_of_a_plugin_names_none() -> None:
    assert fault_lines.line_of(raised(partial(door.from_file, Path("nowhere.py")))) is None
    assert fault_lines.line_of(ValueError("made, not raised")) is None


@behaviour
def takes_reads(agent: Agent, reads: int) -> Session:
    yield agent.pause(inner(reads))


def inner(reads: object) -> float:
    if reads == "wrong":
        raise TypeError("raised in a line of its own")
    return 1.0


@pytest.mark.parametrize(("given", "is_of_a_call"), [({}, True), ({"read": 1}, True), ({"reads": "wrong"}, False)])
def test_a_call_that_does_not_fit(given: dict[str, object], is_of_a_call: bool) -> None:
    error = raised(lambda: list(takes_reads(Agent("a", "a#0", "1"), **given)))
    assert fault_lines.is_of_a_call(error) == is_of_a_call


# -- where a session waits


def outer(agent: Agent) -> Session:
    yield from below(agent)


def below(agent: Agent) -> Session:
    yield agent.pause(1)
    yield 5  # type: ignore[misc]


def test_a_session_waits_at_its_innermost_yield(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parent)
    session = outer(Agent("a", "a#0", "1"))
    next(session)
    first = below.__code__.co_firstlineno
    assert fault_lines.suspended_at(session) == f"{Path(__file__).name}:{first + 1}"
    told = str(fault_lines.no_step("outer", session.send(None), session))
    assert told == f"{Path(__file__).name}:{first + 2}: behaviour 'outer' yielded 5, which is no step"


@pytest.mark.parametrize("session", [None, 5, []])
def test_what_is_no_session_waits_nowhere(session: object) -> None:
    assert fault_lines.suspended_at(session) is None


def test_an_endless_repr_is_cut() -> None:
    told = str(fault_lines.no_session("outer", "x" * 10_000, None))
    assert len(told) < 120
    assert "which is no session" in told


# -- files


# remark, the file's text, what is told
UNLOADABLE: list[tuple[str, str, str]] = [
    ("a name", "x = 1\nbehavior\n", "bad.py:2: NameError: name 'behavior' is not defined"),
    ("syntax", "def f(:\n    pass\n", "bad.py:1: SyntaxError: invalid syntax"),
    ("an import", "\nimport no_such_thing\n", "bad.py:2: ModuleNotFoundError: No module named 'no_such_thing'"),
    ("it exits", "import sys\nsys.exit(0)\n", "bad.py:2: SystemExit: 0"),
    (
        "no generator",
        HEAD + "@behaviour\ndef f(agent: Agent) -> Session:\n    return None\n",
        "bad.py:2: TypeError: f: a behaviour is a generator function that takes the agent first",
    ),
]


@pytest.mark.parametrize(("text", "told"), [pytest.param(*row[1:], id=row[0]) for row in UNLOADABLE])
def test_a_file_that_cannot_be_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, told: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.py").write_text(text)
    before = set(sys.modules)
    with pytest.raises(PluginError) as refused:
        door.from_file(Path("bad.py"))
    assert str(refused.value) == told
    assert not {name for name in set(sys.modules) - before if name.startswith("<plugin>")}


@pytest.mark.parametrize(
    ("name", "told"), [("gone.py", "gone.py: no such file"), ("notes.txt", "notes.txt: not a Python file")]
)
def test_what_is_no_python_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, told: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(PluginError, match=f"^{told}"):
        door.from_file(Path(name))


def test_a_file_stands_in_nobodys_way(tmp_path: Path) -> None:
    text = HEAD + "@behaviour\ndef quiet(agent: Agent) -> Session:\n    yield agent.pause(0)\n"
    assert isinstance(module(tmp_path, text, "json.py").quiet, Behaviour)
    assert "quiet" not in vars(sys.modules["json"])
