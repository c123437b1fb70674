"""Code words: each agent has its own, every place another one, and whose a word is can be told from it."""

import pytest

from locust_agents.cluster.tiny import recipe
from locust_agents.right import canary
from locust_agents.right.canary import TASK, Crowd

CROWD = Crowd({"fixers": 300, "giant": 2, "late/comers": 40}, seed=7)
NAMES = [f"{entry}/{number % 2}.{number}" for entry, agents in CROWD.agents.items() for number in range(agents)]


def word(agent: str, session: str = "", place: str = TASK, crowd: Crowd = CROWD) -> str:
    return canary.word(crowd, agent, session or f"{agent}#0", place)


def test_no_two_agents_have_a_word_in_common() -> None:
    pairs = {word(name).rpartition("-")[0] for name in NAMES}
    assert len(pairs) == len(NAMES)


def test_a_word_tells_whose_it_is() -> None:
    for entry, number, name in [
        ("fixers", 299, "fixers/1.299"),
        ("giant", 1, "giant/0.1"),
        ("late/comers", 0, "late/comers/3.0"),
    ]:
        assert canary.owner(CROWD, word(name)) == (entry, number)


def test_a_word_that_nobody_has_is_nobodys() -> None:
    beyond = Crowd({**CROWD.agents, "fixers": 400}, seed=7)
    assert canary.owner(CROWD, word("fixers/0.350", crowd=beyond)) is None
    assert canary.owner(CROWD, "amber-teapot-100") is None
    assert canary.owner(Crowd({}), word("fixers/0.0")) is None


def test_the_word_is_the_same_in_every_process_and_another_in_every_session_place_and_run() -> None:
    words = [
        word("fixers/0.0"),
        word("fixers/0.0", "fixers/0.0#1"),
        word("fixers/0.0", place="step 20"),
        word("fixers/0.0", crowd=Crowd(CROWD.agents, seed=8)),
    ]
    assert words[0] == "hidden-dolphin-501"
    assert len(set(words)) == 4


def test_an_agent_of_a_class_that_no_scenario_lists_has_a_word_too() -> None:
    assert word("ByHand/0.0", crowd=Crowd({})) != word("ByHand/0.1", crowd=Crowd({}))


@pytest.mark.parametrize(
    ("text", "found", "remark"),
    [
        ("amber-otter-417", ["amber-otter-417"], "alone"),
        ("It is `Amber-Otter-417`.", ["amber-otter-417"], "dressed up"),
        ("amber‑otter–417", ["amber-otter-417"], "with dashes that models like"),
        ("amber-otter-417, amber-otter-417", ["amber-otter-417"], "twice is once"),
        ("amber-otter-4170 xamber-otter 417 amber_otter_417", [], "not the form"),
        ("", [], "nothing"),
    ],
)
def test_words_in_a_text(text: str, found: list[str], remark: str) -> None:
    assert canary.words_in(text) == found, remark


def test_what_is_planted_is_found_again_and_names_its_place() -> None:
    for place, named in ((TASK, "this task"), ("step 20", "step 20")):
        said = canary.sentence(place, word("fixers/0.0", place=place))
        assert canary.words_in(said) == [word("fixers/0.0", place=place)]
        assert named in said
        assert f"the code word of {named}" in canary.question([place])
    assert "code words alone" in canary.question([TASK, "step 20"])


@pytest.mark.parametrize(
    ("model", "said", "cannot"),
    [
        ("tiny", None, True),
        ("tiny-long", "anything", True),
        (None, recipe.WITHOUT_CALL, True),
        ("mlx-community/Qwen3-4B", "one, two", False),
        (None, None, False),
    ],
)
def test_a_tiny_model_is_known_by_its_name_or_its_words(model: str | None, said: str | None, cannot: bool) -> None:
    assert canary.cannot_be_asked(model, said) is cannot
