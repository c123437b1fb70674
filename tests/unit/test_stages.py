"""Which agents may start turns at which moment of a plan of stages."""

import itertools

import pytest

from locust_agents import stages
from locust_agents.plugins import registry
from locust_agents.scenarios import loader
from locust_agents.stages import Plan, Stage

UP_AND_DOWN = Plan(tuple(Stage(10.0, agents) for agents in ({"a": 1}, {"a": 4, "b": 2}, {"a": 1, "b": 1}, {"a": 4})))


@pytest.mark.parametrize(
    ("elapsed_s", "a", "b", "remark"),
    [
        (-0.1, 0, 0, "the load has not begun"),
        (0.0, 1, 0, "the first moment"),
        (9.999, 1, 0, "the last of a stage"),
        (10.0, 4, 2, "a stage begins where the one before ends"),
        (20.0, 1, 1, "fewer"),
        (30.0, 4, 0, "one entry back, the other left out"),
        (40.0, 0, 0, "after the last stage nobody starts"),
    ],
)
def test_how_many_may_start(elapsed_s: float, a: int, b: int, remark: str) -> None:
    for entry, wanted in (("a", a), ("b", b)):
        may = [number for number in range(6) if UP_AND_DOWN.may_start(entry, number, elapsed_s)]
        assert may == list(range(wanted)), remark
        assert UP_AND_DOWN.wanted(entry, elapsed_s) == wanted
    assert not UP_AND_DOWN.may_start("c", 0, elapsed_s)


def test_whom_a_stage_adds_come_in_one_by_one() -> None:
    plan = Plan((Stage(10.0, {"a": 1}), Stage(10.0, {"a": 3, "b": 2}), Stage(10.0, {"a": 3, "b": 2})), apart_s=2.0)
    comes = {("a", 0): 0.0, ("a", 1): 10.0, ("a", 2): 12.0, ("b", 0): 14.0, ("b", 1): 16.0}
    for (entry, number), from_s in comes.items():
        may = [second for second in range(30) if plan.may_start(entry, number, second)]
        assert may == list(range(int(from_s), 30))


@pytest.mark.parametrize(
    ("agent", "elapsed_s", "must", "remark"),
    [
        (("a", 0), 15.0, False, "of the plan"),
        (("a", 3), 15.0, False, "of the plan"),
        (("a", 3), 20.0, True, "a stage has no place for it"),
        (("b", 0), 30.0, True, "its entry is left out"),
        (("a", 0), 40.0, False, "at the end of all the drain decides"),
    ],
)
def test_who_must_go(agent: tuple[str, int], elapsed_s: float, must: bool, remark: str) -> None:
    assert UP_AND_DOWN.must_go(*agent, elapsed_s) is must, remark


def test_who_waits_to_come_in_does_not_have_to_go() -> None:
    plan = Plan((Stage(10.0, {"a": 3}),), apart_s=5.0)
    assert not plan.may_start("a", 2, 1.0)
    assert not plan.must_go("a", 2, 1.0)


def test_leaving_are_agents_and_not_turns() -> None:
    agents = ["a/0.0", "a/1.3", "a/1.3", "b/0.1"]
    assert stages.leaving(UP_AND_DOWN, agents, 15.0) == 0
    assert stages.leaving(UP_AND_DOWN, agents, 25.0) == 2
    assert stages.leaving(None, agents, 25.0) == 0


@pytest.mark.parametrize(
    ("agent", "entry", "number"), [("fixers/0.3", "fixers", 3), ("a/b/12.40", "a/b", 40), ("x.y/1.0", "x.y", 0)]
)
def test_the_number_in_a_name(agent: str, entry: str, number: int) -> None:
    assert stages.numbered(agent) == (entry, number)


@pytest.mark.parametrize(
    ("numbers", "missing", "remark"),
    [
        ({"a": [0, 1, 2, 3], "b": [0]}, 0, "all are there"),
        ({"a": [0, 1, 2, 3, 4, 5], "b": [0, 1]}, 0, "others wait for a later stage"),
        ({"a": [0, 2, 3], "b": [0]}, 1, "one is nobody"),
        ({"a": [4, 5], "b": []}, 5, "those who may not start make up for nobody"),
        ({}, 5, "nobody at all"),
    ],
)
def test_missing(numbers: dict[str, list[int]], missing: int, remark: str) -> None:
    assert stages.missing({"a": 4, "b": 1}, numbers) == missing, remark


def test_a_scenarios_plan() -> None:
    text = (
        "stages: [{for: 1m, a: 1}, {for: 30s, a: 4}]\nstart: {apart: 2s}\nswarm: {a: {behaviour: fix_failing_test}}\n"
    )
    for more, cuts in (("", False), ("on_retire: finish\n", False), ("on_retire: cut\n", True)):
        scenario = loader.parse(text + more, "s.yaml", registry.parameters(), registry.profiles())
        plan = Plan.of(scenario)
        assert plan == Plan((Stage(60.0, {"a": 1}), Stage(30.0, {"a": 4})), 2.0, cuts)
        assert plan is not None
        assert plan.ends_s == (60.0, 90.0)
    plain = loader.parse(loader.default_text(), "s.yaml", registry.parameters(), registry.profiles())
    assert Plan.of(plain) is None


def test_ever_the_lowest_numbers_stay() -> None:
    for before, after in itertools.product(range(5), repeat=2):
        plan = Plan((Stage(1.0, {"a": before}), Stage(1.0, {"a": after})))
        stay = {number for number in range(5) if plan.may_start("a", number, 0.5) and plan.may_start("a", number, 1.5)}
        assert stay == set(range(min(before, after)))
