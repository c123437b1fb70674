"""What the README shows is what the product takes, and it leaves out nothing that the product has."""

import re
from pathlib import Path

from locust_agents.cli import COMMANDS
from locust_agents.misses import causes
from locust_agents.outcome import Outcome
from locust_agents.plugins import registry
from locust_agents.plugins.api import Agent, Behaviour, Reply, Turn
from locust_agents.quantities import count
from locust_agents.scenarios import loader

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def named(words: list[str]) -> set[str]:
    """Those of the words that stand there as code."""
    return {word for word in words if f"`{word}`" in README}


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
    assert "why " in text


def test_its_scenario_is_the_quickstart() -> None:
    [scenario] = blocks("yaml")
    shown = loader.parse(scenario, "README.md", registry.parameters(), registry.profiles())
    shipped = loader.load(loader.find("quickstart"), registry.parameters(), registry.profiles())
    assert shown.model_dump(exclude={"limits"}) == shipped.model_dump(exclude={"limits"})
    assert {limit.key for limit in shown.limits} == {limit.key for limit in shipped.limits}


def test_the_keys_of_a_load_over_time_are_read() -> None:
    [keys] = re.findall(r"```\n(stages:.*?)```", README, re.DOTALL)
    swarm = "swarm: {fixers: {behaviour: fix_failing_test}, giant: {behaviour: giant_prompt}}\n"
    found = loader.parse(swarm + keys, "README.md", registry.parameters(), registry.profiles())
    assert found.stages is not None
    assert found.canary is not None


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


def test_its_hand_written_class_says_what_it_needs() -> None:
    [_, written] = blocks("python")
    assert "behaviour = explore" in written
    assert "host = " in written


def test_it_names_every_behaviour_outcome_cause_and_scenario() -> None:
    for words in (registry.behaviours(), Outcome, causes.CAUSES, loader.shipped().keys() - {"quickstart"}):
        every = sorted(map(str, words))
        assert named(every) == set(every)


def test_its_products_are_the_profiles_with_their_sizes_and_patience() -> None:
    rows = {
        row[0].strip("`"): row[1:] for row in re.findall(r"^\| (`\S+`) \| (.*?) \| (.*?) \| (.*?) \|$", README, re.M)
    }
    for name, profile in registry.profiles().items():
        product, size, patience = rows[name]
        first = profile.system_tokens + profile.tool_tokens + profile.few_shot_tokens + profile.first_user_tokens
        assert product.startswith(profile.product)
        assert size.partition(",")[0] == (f"{first / 1000:.1f}k" if first else count(0))
        wait_s = profile.timeouts.headers_s or profile.timeouts.first_token_s
        assert f"after {wait_s:g} s" in patience
        assert ("sent as chat completions" in product) == (profile.sent_as is not None)


def test_every_command_is_told_of_somewhere() -> None:
    guides = (Path(__file__).parents[2] / "docs").glob("*.md")
    texts = [README, *(guide.read_text(encoding="utf-8") for guide in guides)]
    told = {command for text in texts for command in re.findall(r"locust-agents ([a-z-]+)", text)}
    assert COMMANDS.keys() - told == set()
