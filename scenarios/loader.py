"""How a scenario file becomes a frozen `Scenario`, or an error that names every mistake in it with its place."""

from collections.abc import Collection, Sequence
from importlib import resources
from pathlib import Path

import yaml
from pydantic import ValidationError

from locust_agents.errors import ScenarioError
from locust_agents.scenarios import checks, suggest, wording
from locust_agents.scenarios.model import Scenario
from locust_agents.scenarios.overrides import Override, apply_overrides, read_override
from locust_agents.scenarios.places import Problem, Reading, ScenarioProblems
from locust_agents.scenarios.reading import read_text

__all__ = [
    "Override",
    "Problem",
    "Scenario",
    "ScenarioProblems",
    "default_text",
    "dump",
    "find",
    "load",
    "parse",
    "read_override",
    "shipped",
]

# The tiny model reads about a thousand tokens a second on two cores: full-size prompts would take minutes each.
_DEFAULT = """\
name: four opencode agents
server:
  launch: {model: tiny, ranks: 2, backend: ring}
duration: 90s
scale: 0.05
gaps: {scale: 0.05, cap: 10s}
swarm:
  fixers: {behaviour: fix_failing_test, profile: opencode, agents: 4}
"""


def load(
    path: Path, behaviours: checks.Behaviours, profiles: Collection[str], overrides: Sequence[Override] = ()
) -> Scenario:
    """Read a file; raises ScenarioError when it cannot be read, ScenarioProblems with all that is wrong in it."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from None
    return parse(text, str(path), behaviours, profiles, overrides)


def parse(
    text: str,
    file: str,
    behaviours: checks.Behaviours,
    profiles: Collection[str],
    overrides: Sequence[Override] = (),
) -> Scenario:
    """Read a text; `file` is only what places are called after. `behaviours` gives the parameters of each by name."""
    reading = read_text(text, file)
    apply_overrides(reading, overrides)
    checks.drop_empty(reading)
    checks.fill_defaults(reading, file)
    checks.check_server(reading)
    checks.check_swarm(reading, behaviours, profiles)
    checks.check_limits(reading)
    scenario = _validated(reading)
    if scenario is None or reading.problems:
        raise ScenarioProblems(reading.problems)
    return scenario


def _validated(reading: Reading) -> Scenario | None:
    try:
        return Scenario.model_validate(reading.data)
    except ValidationError as error:
        wording.report(error, reading)
        return None


def dump(scenario: Scenario) -> str:
    """Return YAML with every default written out, which `parse` reads back to an equal scenario."""
    plain = scenario.model_dump(by_alias=True, exclude_none=True)
    return yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=120)


def default_text() -> str:
    """Return the scenario of a run that names none: four opencode agents on the embedded tiny model, 90 s."""
    return _DEFAULT


def shipped() -> dict[str, Path]:
    """Return the scenarios that come with the package, by name."""
    folder = Path(str(resources.files("locust_agents.scenarios")))
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def find(name_or_path: str) -> Path:
    """Return the file that is meant: a path if there is one, else a shipped name; raises ScenarioError for neither."""
    path, names = Path(name_or_path), shipped()
    if path.is_file():
        return path
    if name_or_path in names:
        return names[name_or_path]
    if path.is_dir():
        raise ScenarioError(f"{name_or_path}: is a folder; name a scenario file in it")
    tail = suggest.instead(path.stem, names, "the shipped ones are")
    raise ScenarioError(f"{name_or_path}: no such file, and no scenario of this name ships; {tail}")
