"""docs/scenarios.md is true: it has every key as the model has it, and the loader takes its examples."""

import re
from pathlib import Path

import pytest

from locust_agents.limits import KINDS, METRICS
from locust_agents.plugins import registry
from locust_agents.scenarios import loader
from locust_agents.scenarios.key_help import KEY_HELP
from locust_agents.scenarios.model import Scenario
from tests.unit import print_scenario_keys as tables

PATH = Path(__file__).parents[2] / "docs" / "scenarios.md"
GUIDE = PATH.read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)
SWARM = EXAMPLES[0]


def whole(example: str) -> str:
    """The guide says which swarm is meant where an example has none."""
    return example if re.search(r"^(swarm|extends):", example, re.MULTILINE) else f"{SWARM}{example}"


def read(example: str) -> Scenario:
    return loader.parse(
        whole(example), "scenario.yaml", registry.parameters(), registry.profiles(), variables={"KEY": "k"}
    )


def test_every_key_has_its_row() -> None:
    listed = [
        f"{section}.{key.rpartition('.')[2]}"
        for group, parts in tables.GROUPS.items()
        for prefix, section, _ in parts
        for key, *_ in tables.rows(group)
        if key.rpartition(".")[0] == prefix.removesuffix(".")
    ]
    assert set(listed) == set(KEY_HELP)


@pytest.mark.parametrize("group", tables.GROUPS)
def test_a_table_is_what_the_model_says(group: str) -> None:
    assert tables.table(group) in GUIDE, "run python -m tests.unit.print_scenario_keys, and put the table in"


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_is_read(example: str) -> None:
    assert read(example).swarm


def test_the_examples_use_every_part_of_the_language() -> None:
    read_all = [read(example) for example in EXAMPLES]
    plain = Scenario.model_fields
    used = {key for found in read_all for key in plain if getattr(found, key) != plain[key].default}
    assert set(plain) - used <= {"plugins", "listeners", "turns", "sessions", "seed", "replies", "cache", "curve"}


def test_it_names_every_kind_and_metric_of_the_limits() -> None:
    section = GUIDE.partition("## Limits")[2].partition("\n## ")[0]
    assert {word for word in (*KINDS, *METRICS) if f"`{word}`" not in section} == set()
    stats = {stat for metric in METRICS.values() for stat in metric.stats}
    assert {stat for stat in stats if f"`{stat}`" not in section} == set()
