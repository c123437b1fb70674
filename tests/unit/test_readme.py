"""What the README shows is what the product takes."""

import re
from pathlib import Path

from locust_agents.cli import COMMANDS
from locust_agents.outcome import Outcome
from locust_agents.plugins import registry
from locust_agents.plugins.api import Agent, Behaviour, Reply, Turn
from locust_agents.scenarios import loader

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_first_screen_has_two_commands_a_ten_line_scenario_and_its_table() -> None:
    first_screen = README.splitlines()[:52]
    text = "\n".join(first_screen)
    assert "make swarm" in text
    assert "make test" in text
    [scenario] = blocks("yaml")
    assert len(scenario.splitlines()) <= 10
    assert scenario in text
    assert "entry  kind" in text
    assert "held" in text


def test_its_scenario_is_the_quickstart() -> None:
    [scenario] = blocks("yaml")
    shown = loader.parse(scenario, "README.md", registry.parameters(), registry.profiles())
    shipped = loader.load(loader.find("quickstart"), registry.parameters(), registry.profiles())
    assert shown.model_dump(exclude={"limits"}) == shipped.model_dump(exclude={"limits"})
    assert {limit.key for limit in shown.limits} == {limit.key for limit in shipped.limits}


def test_its_behaviour_runs() -> None:
    names: dict[str, object] = {}
    exec(blocks("python")[0], names)
    explore = names["explore"]
    assert isinstance(explore, Behaviour)
    session = explore(Agent("a", "a#0", "1"), reads=1)
    steps = [next(session)]
    for _ in range(2):
        steps.append(session.send(Reply("", (), Outcome.OK)))
    assert [isinstance(step, Turn) for step in steps] == [True, False, True]


def test_the_commands_it_names_exist() -> None:
    named = set(re.findall(r"locust-agents ([a-z-]+)", README)) - {"run"}
    assert named <= set(COMMANDS)
