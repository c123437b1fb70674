"""An entry that is a twin: what it takes from the other one, and what it may not do otherwise."""

import pytest

from locust_agents.scenarios import loader, with_plugins
from locust_agents.scenarios.model import Scenario
from locust_agents.scenarios.overrides import read_override
from locust_agents.scenarios.places import ScenarioProblems

ALONE = "swarm:\n  alone: {behaviour: explore_repo, profile: qwen-code, agents: 3, with: {reads: 2}, cap_prompt: 9k}\n"
TWIN = ALONE + "  beside: {twin_of: alone, after: 5s}\n"
STAGES = "stages: [{for: 9s, alone: 3}, {for: 9s, beside: 3}]\n"


def parsed(text: str, *overrides: str) -> Scenario:
    return with_plugins.parse(text, "s.yaml", [read_override(each) for each in overrides])


def test_what_it_leaves_out_is_the_other_ones() -> None:
    scenario = parsed(TWIN)
    alone, beside = scenario.swarm["alone"], scenario.swarm["beside"]
    assert beside == alone.model_copy(update={"twin_of": "alone", "after_s": 5.0})
    assert (scenario.drawn_as("alone"), scenario.drawn_as("beside"), scenario.drawn_as("Own")) == (
        "alone",
        "alone",
        "Own",
    )


def test_it_may_say_the_same_in_other_words() -> None:
    own = "  beside: {behaviour: explore_repo, with: {reads: '2'}, agents: 3, cap_prompt: 9000, twin_of: alone}\n"
    assert parsed(ALONE + own).swarm["beside"].agents == 3


def test_a_dump_is_read_back() -> None:
    scenario = parsed(TWIN + STAGES)
    assert parsed(loader.dump(scenario)) == scenario


def test_it_follows_an_override_and_every_cell_of_a_sweep() -> None:
    assert parsed(TWIN, "swarm.alone.agents=5").swarm["beside"].agents == 5
    assert parsed(TWIN + "sweep: {swarm.alone.agents: [1, 2], swarm.alone.with.reads: [1, 2]}\n").sweep is not None


@pytest.mark.parametrize(
    ("text", "told", "remark"),
    [
        (
            ALONE + "  beside: {twin_of: alon}\n",
            ["s.yaml:3:21: swarm.beside.twin_of: no entry is called 'alon'; did you mean 'alone'?"],
            "nobody's twin; that it has no behaviour either is no second mistake",
        ),
        (
            ALONE + "  beside: {behaviour: explore_repo, twin_of: beside}\n",
            ["s.yaml:3:46: swarm.beside.twin_of: an entry is no twin of itself; the others are alone"],
            "its own",
        ),
        (
            TWIN + "  third: {twin_of: beside}\n",
            ["s.yaml:4:20: swarm.third.twin_of: beside is a twin itself; name the entry that it repeats: 'alone'"],
            "a twin's",
        ),
        (ALONE + "  beside: {twin_of: 3}\n", ["this key is missing", "expected text, got 3"], "no name"),
        (
            ALONE + "  beside: {twin_of: alone, behaviour: giant_prompt, with: {prompt_tokens: 9}}\n",
            [
                "s.yaml:3:39: swarm.beside.behaviour: a twin does the same work as alone, where it is 'explore_repo'; "
                "leave it out here, or write the same"
            ],
            "another behaviour, whose parameters are no second mistake",
        ),
        (
            ALONE + "  beside: {twin_of: alone, profile: opencode, agents: 2, with: {reads: 3}, arrival: 1/s}\n",
            [
                "swarm.beside.profile: a twin does the same work as alone, where it is 'qwen-code'; leave",
                "swarm.beside.agents: a twin does the same work as alone, where it is 3; leave",
                "swarm.beside.with: a twin does the same work as alone, where it is a mapping; leave",
                "swarm.beside.arrival: a twin does the same work as alone, where it is nothing; leave",
            ],
            "other work in all the rest",
        ),
        (
            TWIN + "stages: [{for: 9s, alone: 3}, {for: 9s, beside: 2}]\n",
            [
                "s.yaml:3:11: swarm.beside.agents: a twin does the same work as alone, where it is 3; "
                "let the stages have as many of both"
            ],
            "fewer agents by the stages",
        ),
        (
            "swarm:\n  alone: {behaviour: explore_repo, agents: few}\n  beside: {twin_of: alone}\n",
            ["s.yaml:2:44: swarm.alone.agents: expected a whole number, got 'few'"],
            "what is wrong with the other is told once",
        ),
        (
            "swarm:\n  alone: {behaviour: explore_rep}\n  beside: {twin_of: alone}\n",
            ["s.yaml:2:22: swarm.alone.behaviour: no behaviour is called 'explore_rep'; did you mean 'explore_repo'?"],
            "and a behaviour that nobody registered",
        ),
    ],
)
def test_what_is_wrong_with_a_twin(text: str, told: list[str], remark: str) -> None:
    with pytest.raises(ScenarioProblems) as caught:
        parsed(text)
    found = [str(problem) for problem in caught.value.problems]
    assert len(found) == len(told), (remark, found)
    assert all(part in line for part, line in zip(told, found, strict=True)), (remark, found)
