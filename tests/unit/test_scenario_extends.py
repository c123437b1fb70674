"""How one scenario file is laid over another, and in which file a mistake is said to stand."""

import inspect
from collections.abc import Mapping
from pathlib import Path

import pytest

from locust_agents.errors import ScenarioError
from locust_agents.plugins import files, registry
from locust_agents.scenarios import loader, with_plugins
from locust_agents.scenarios.model import Scenario


def work(reads: int = 8, note: "str | None" = "x") -> None: ...


BEHAVIOURS = {"work": inspect.signature(work).parameters}
BASE = """\
name: the base
server: {launch: {ranks: 2}, options: {prefill-step-size: 512, temp: 0}}
duration: 60s
swarm:
  a: {behaviour: work, agents: 4, with: {reads: 3, note: base}}
  b: {behaviour: work}
limits: {ttft.max: 9s}
listeners: [one, two]
"""


def read(folder: Path, files: Mapping[str, str], *overrides: str) -> Scenario:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    options = [loader.read_override(each) for each in overrides]
    return loader.load(folder / next(iter(files)), BEHAVIOURS, ["opencode"], options)


def mistakes(folder: Path, files: Mapping[str, str], *overrides: str) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        read(folder, files, *overrides)
    return str(caught.value).replace(f"{folder}/", "").splitlines()


def test_mappings_are_laid_over_key_by_key_and_lists_as_a_whole(tmp_path: Path) -> None:
    above = "extends: base.yaml\nswarm: {a: {with: {reads: 5}}, c: {behaviour: work}}\nlisteners: [three]\n"
    found = read(tmp_path, {"s.yaml": above, "base.yaml": BASE})
    assert found.name == "the base"
    assert list(found.swarm) == ["a", "b", "c"]
    assert (found.swarm["a"].agents, found.swarm["a"].parameters) == (4, {"reads": 5, "note": "base"})
    assert list(found.listeners) == ["three"]


def test_null_takes_away_what_is_below_but_may_be_a_parameter(tmp_path: Path) -> None:
    above = """\
extends: base.yaml
duration: null
stages: [{for: 9s, a: 2}]
server: {launch: ~, options: null, attach: "mac1:8080"}
swarm: {a: {agents: null, with: {note: null}}, b: null}
"""
    found = read(tmp_path, {"s.yaml": above, "base.yaml": BASE})
    assert (found.duration_s, found.server.launch, list(found.swarm)) == (None, None, ["a"])
    assert (found.swarm["a"].agents, found.swarm["a"].parameters) == (2, {"reads": 3, "note": None})


def test_over_several_files_in_several_folders(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        {
            "s.yaml": "extends: below/middle.yaml\nseed: 3",
            "below/middle.yaml": "extends: ../base.yaml\nseed: 2\nscale: 5%",
            "base.yaml": BASE,
        },
        "limits.ttft.max=8s",
    )
    assert (found.seed, found.scale, found.duration_s, found.limits[0].bound) == (3, 0.05, 60.0, 8.0)


def test_a_shipped_one_is_extended_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("extends: quickstart\nname: mine\nduration: 5s")
    found = with_plugins.load(tmp_path / "s.yaml")
    assert (found.name, found.duration_s, list(found.swarm)) == ("mine", 5.0, ["fixers", "giant"])


def test_what_is_resolved_extends_nothing(tmp_path: Path) -> None:
    found = read(tmp_path, {"s.yaml": "extends: base.yaml", "base.yaml": BASE})
    assert loader.parse(loader.dump(found), "resolved.yaml", BEHAVIOURS, ["opencode"]) == found


MISTAKES: list[tuple[str, dict[str, str], list[str]]] = [
    (
        "a wrong value below, a wrong one above, and one that is put right",
        {
            "s.yaml": "extends: base.yaml\nseed: 4\nturns: many\nname: x\nname: y",
            "base.yaml": "seed: x\nseed: 1\n" + BASE + "scale: 0\n",
        },
        [
            "base.yaml:11:8: scale: must be more than 0",
            "s.yaml:3:8: turns: expected a whole number, got 'many'",
            "s.yaml:5:1: name: this key is there twice, first at line 4, column 1; keep one",
        ],
    ),
    (
        "two that exclude each other, one from each",
        {"s.yaml": "extends: base.yaml\nstages: [{for: 9s, a: 4, b: 1}]", "base.yaml": BASE},
        ["base.yaml:3:1: duration: excludes stages, whose times end the run; keep one of the two"],
    ),
    (
        "a key twice below",
        {"s.yaml": "extends: base.yaml", "base.yaml": BASE + "duration: 3s"},
        ["base.yaml:9:1: duration: this key is there twice, first at line 3, column 1; keep one"],
    ),
    (
        "a line half commented out",
        {"s.yaml": "extends: base.yaml\nseed:\nduration:", "base.yaml": BASE},
        [
            "s.yaml:2:1: seed: has no value; give it one or remove the key",
            "s.yaml:3:1: duration: has no value; give it one or remove the key",
        ],
    ),
    (
        "an entry that lacks something",
        {"s.yaml": "extends: base.yaml\nswarm: {c: {agents: 2}}", "base.yaml": BASE},
        ["s.yaml:2:9: swarm.c.behaviour: this key is missing"],
    ),
    (
        "no YAML below",
        {"s.yaml": "extends: base.yaml", "base.yaml": "a: b: c"},
        ["base.yaml:1:5: not YAML: mapping values are not allowed here"],
    ),
    (
        "nothing below",
        {"s.yaml": "extends: base.yaml", "base.yaml": ""},
        ["base.yaml:1:1: the file holds no scenario; see the shipped quickstart.yaml"],
    ),
    (
        "a circle of three",
        {"s.yaml": "extends: b/t.yaml", "b/t.yaml": "extends: u.yaml", "b/u.yaml": "seed: 1\nextends: ../s.yaml"},
        [
            "b/u.yaml:2:10: extends: leads back to a file that extends this one: "
            "s.yaml → t.yaml → u.yaml → s.yaml; remove one of them"
        ],
    ),
    (
        "not there, from a file that is extended",
        {"s.yaml": "extends: base.yaml", "base.yaml": "extends: no/such.yaml\n"},
        [
            "base.yaml:1:10: extends: no/such.yaml: no such file, and no scenario of this name ships; "
            f"the shipped ones are {', '.join(loader.shipped())}"
        ],
    ),
]


@pytest.mark.parametrize(("files", "lines"), [pytest.param(*row[1:], id=row[0]) for row in MISTAKES])
def test_says_in_which_file_it_stands(files: dict[str, str], lines: list[str], tmp_path: Path) -> None:
    assert mistakes(tmp_path, files) == lines


def test_a_folder_and_a_file_of_another_encoding_are_named_where_they_are_extended(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"name: caf\xe9\n")
    for name, why in (("latin.yaml", "not UTF-8 text"), (".", "cannot be read")):
        [line] = mistakes(tmp_path, {"s.yaml": f"extends: {name}"})
        assert line.startswith("s.yaml:1:10: extends: ")
        assert why in line


def test_an_option_extends_nothing(tmp_path: Path) -> None:
    lines = mistakes(tmp_path, {"s.yaml": BASE}, "extends=base.yaml")
    assert lines == ["--set extends: only a file names what it extends"]


PLUGIN = """\
from locust_agents.plugins.api import Agent, Session, behaviour


@behaviour
def look(agent: Agent, reads: int = 5) -> Session:
    yield agent.user("Look.", tokens=reads)
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


def test_what_the_lower_file_names_lies_beside_that_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_plugins", {})
    monkeypatch.setattr(files, "_profiles", {})
    below = tmp_path / "below"
    below.mkdir()
    (below / "look.py").write_text(PLUGIN)
    (below / "patient.yaml").write_text(PROFILE)
    (below / "base.yaml").write_text("plugins: look.py\nswarm: {a: {behaviour: look, profile: patient.yaml}}")
    (tmp_path / "s.yaml").write_text("extends: below/base.yaml\nseed: 2")
    found = with_plugins.load(tmp_path / "s.yaml")
    assert found.plugins == (str(below / "look.py"),)
    assert registry.profile(found.swarm["a"].profile).name == "patient"
