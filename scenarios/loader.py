"""How a scenario file becomes a frozen `Scenario`, or an error that names every mistake in it with its place."""

from collections.abc import Collection, Sequence
from pathlib import Path

import yaml

from locust_agents.scenarios import checks, environment, layers, variation
from locust_agents.scenarios.judging import Known, judge
from locust_agents.scenarios.model import Scenario
from locust_agents.scenarios.overrides import Override, read_override
from locust_agents.scenarios.places import Problem, Reading, ScenarioProblems
from locust_agents.scenarios.shelf import find, shipped

__all__ = [
    "Known",
    "Override",
    "Problem",
    "Scenario",
    "ScenarioProblems",
    "default_text",
    "dump",
    "find",
    "judged",
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
    path: Path,
    behaviours: checks.Behaviours,
    profiles: Collection[str],
    overrides: Sequence[Override] = (),
    launchers: Collection[str] | None = None,
    listeners: checks.Behaviours | None = None,
    variables: layers.Variables = None,
) -> Scenario:
    """Read a file; raises ScenarioError when it cannot be read, ScenarioProblems with all that is wrong in it."""
    opened = layers.open_file(path, overrides, variables)
    return judged(opened, str(path), Known(behaviours, profiles, launchers, listeners))


def parse(
    text: str,
    file: str,
    behaviours: checks.Behaviours,
    profiles: Collection[str],
    overrides: Sequence[Override] = (),
    launchers: Collection[str] | None = None,
    listeners: checks.Behaviours | None = None,
    variables: layers.Variables = None,
) -> Scenario:
    """Read a text; `file` is what places are called after, and what it extends lies beside it.

    `behaviours` gives the parameters of each by name. `launchers` and `listeners` None leave open which there are,
    `variables` None the texts that ask for one.
    """
    opened = layers.open_text(text, file, overrides, variables)
    return judged(opened, file, Known(behaviours, profiles, launchers, listeners))


def judged(opened: Reading, file: str, known: Known) -> Scenario:
    """Return what is to be run of a reading that was opened; raises ScenarioProblems with all that is wrong in it."""
    is_varied = not opened.data.keys().isdisjoint(variation.VARIES)
    untouched = opened.copy() if is_varied else opened
    scenario = judge(opened, file, known)
    if is_varied:
        variation.check(untouched, opened, lambda reading: judge(reading, file, known))
    if scenario is None or opened.problems:
        raise ScenarioProblems(opened.problems)
    return scenario


def dump(scenario: Scenario) -> str:
    """Return YAML with every default written out, which `parse` reads back to an equal scenario."""
    plain = environment.escaped(scenario.model_dump(by_alias=True, exclude_none=True))
    return yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=120)


def default_text() -> str:
    """Return the scenario of a run that names none: four opencode agents on the embedded tiny model, 90 s."""
    return _DEFAULT
