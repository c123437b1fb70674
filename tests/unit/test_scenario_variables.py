"""Where `${NAME}` in a scenario is filled in from the environment, and where it must not be."""

import inspect
from pathlib import Path

import pytest

from locust_agents.errors import ScenarioError
from locust_agents.scenarios import environment, loader, with_plugins
from locust_agents.scenarios.model import Scenario


def work(reads: int = 8, is_quick: bool = False) -> None: ...


BEHAVIOURS = {"work": inspect.signature(work).parameters}
ONE = "swarm: {a: {behaviour: work}}\n"
SET = {
    "N": "4",
    "NAME": "mac one",
    "KEY": "sk-secret",
    "ON": "true",
    "EMPTY": "",
    "TIME": "90s",
    "ODD": "${N}",
    "C": "a: b",
}


def parsed(text: str, *overrides: str) -> Scenario:
    options = [loader.read_override(each) for each in overrides]
    return loader.parse(text, "s.yaml", BEHAVIOURS, ["opencode"], options, variables=SET)


def test_any_text_may_ask_for_one() -> None:
    found = parsed(
        "swarm:\n  a:\n    behaviour: work\n    agents: '${N}'\n    with:\n      reads: ${N}k\n      is_quick: ${ON}\n"
        "name: of ${NAME}, ${N} times\nduration: ${TIME}\nserver:\n  options:\n    x: ${N}\n    y: '${N}'\n"
        "sweep: {swarm.a.agents: [1, '${N}']}"
    )
    assert (found.name, found.duration_s, found.swarm["a"].agents) == ("of mac one, 4 times", 90.0, 4)
    assert found.swarm["a"].parameters == {"reads": 4000, "is_quick": True}
    assert found.server.options == {"x": 4, "y": "4"}
    assert found.sweep is not None
    assert found.sweep.axes["swarm.a.agents"] == (1, "4")


def test_an_option_may_too() -> None:
    assert parsed(ONE, "seed=${N}").seed == 4


VERBATIM: list[tuple[str, str, str]] = [
    ("a dollar without braces", "$N", "$N"),
    ("two dollars", "$${N}", "${N}"),
    ("what a variable holds is not looked into", "'${ODD}'", "${N}"),
    ("what a variable holds is no YAML", "${C}", "a: b"),
    ("quotes keep it text", "'${N}'", "4"),
]


@pytest.mark.parametrize(("text", "name"), [pytest.param(*row[1:], id=row[0]) for row in VERBATIM])
def test_what_a_text_comes_to(text: str, name: str) -> None:
    found = parsed(ONE + f"name: {text}")
    assert found.name == name
    assert loader.parse(loader.dump(found), "again.yaml", BEHAVIOURS, ["opencode"], variables=SET) == found


MISTAKES: list[tuple[str, str, list[str]]] = [
    ("not set", "name: ${NOPE}", ["s.yaml:2:7: name: the environment variable NOPE is not set; export NOPE=… first"]),
    ("set to nothing", "name: ${EMPTY}", ["s.yaml:2:1: name: has no value; give it one or remove the key"]),
    (
        "set to nothing, in quotes",
        "name: '${EMPTY}'",
        ["s.yaml:2:7: name: expected text of one line that is not blank"],
    ),
    ("of the wrong form", "seed: ${NAME}", ["s.yaml:2:7: seed: expected a whole number, got 'mac one'"]),
    (
        "with a default as in a shell",
        "name: ${NAME:-x}",
        ["s.yaml:2:7: name: '${NAME:-x}' names no environment variable; for the text itself write $${NAME:-x}"],
    ),
    (
        "a secret that is not set",
        "server: {attach: {url: 'mac1:8080', headers: {x: '${NOPE}'}}}",
        ["s.yaml:2:50: server.attach.headers.x: the environment variable NOPE is not set; export NOPE=… first"],
    ),
    ("within brackets", "sweep: {seed: [1, ${N}]}", ["s.yaml:2:20: not YAML: within brackets, ${NAME} needs quotes"]),
    (
        "in a list",
        "sweep: {swarm.a.agents: [1, '${NOPE}']}",
        ["s.yaml:2:29: sweep.swarm.a.agents[1]: the environment variable NOPE is not set; export NOPE=… first"],
    ),
]


@pytest.mark.parametrize(("text", "lines"), [pytest.param(*row[1:], id=row[0]) for row in MISTAKES])
def test_says_which_one_is_wrong_and_where(text: str, lines: list[str]) -> None:
    with pytest.raises(ScenarioError) as caught:
        parsed(ONE + text)
    assert str(caught.value).splitlines() == lines


SECRET = ONE + "server: {attach: {url: 'http://mac1', api_key: '${KEY}', headers: {x: 'a ${KEY}'}}}"


def test_a_secret_is_not_in_the_resolved_text() -> None:
    found = parsed(SECRET)
    assert found.server.attach is not None
    assert (found.server.attach.api_key, found.server.attach.headers) == ("${KEY}", {"x": "a ${KEY}"})
    assert "sk-secret" not in loader.dump(found)
    assert "api_key: ${KEY}" in loader.dump(found)


def test_the_environment_is_that_of_the_process_that_conducts_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.yaml").write_text("name: ${WHO}\nswarm: {a: {behaviour: explore_repo}}")
    monkeypatch.setenv("WHO", "me")
    found = with_plugins.load(tmp_path / "s.yaml")
    assert found.name == "me"
    assert with_plugins.parse("name: ${WHO}\nswarm: {a: {behaviour: explore_repo}}", "s").name == "me"


def test_a_worker_needs_no_variable_for_what_its_master_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "sk-secret")
    text = SECRET.replace("work", "explore_repo") + "\nname: $${KEY}"
    plan = loader.dump(with_plugins.parse(text, "s.yaml"))
    monkeypatch.delenv("KEY")
    found = with_plugins.of_plan(plan)
    assert found.server.attach is not None
    assert (found.name, found.server.attach.api_key) == ("${KEY}", "${KEY}")


@pytest.mark.parametrize("text", ["${A}", "$${A}", "$$${A}", "a ${b c} d", "${", "}${x}$"])
def test_escaping_is_undone_by_filling_in(text: str) -> None:
    escaped = environment.escaped({"name": [text]})
    assert isinstance(escaped, dict)
    assert environment.complaint(escaped["name"][0], {}) is None
    assert environment.filled(escaped["name"][0], {}) == text
