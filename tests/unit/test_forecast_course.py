"""A run played in advance whose load goes over time: sessions on a clock, stages, and both."""

from collections.abc import Sequence
from math import inf
from pathlib import Path

import pytest

from locust_agents import arrival
from locust_agents.forecast import input, stage_windows
from locust_agents.forecast.prefill_curve import Curve, Speed
from locust_agents.forecast.session_plan import Bounds, Load, Terms
from locust_agents.forecast.timetable import Timetable, timetable
from locust_agents.plugins import registry
from locust_agents.plugins.api import Agent, Session, behaviour
from locust_agents.profile import Profile
from locust_agents.scenarios import loader
from locust_agents.scenarios.course import Arrival
from locust_agents.stages import Plan, Stage

PROFILE = Profile("p", "none", "made up", system_tokens=0, tool_tokens=0, tools=(), max_tokens=None)
TERMS = Terms(answer_tokens=10)
INSTANT = Speed()
# every prompt is read at once, and an answer takes two seconds
WRITES = Speed(Curve((), 0.0, 0.0), 5.0)


@behaviour
def once(agent: Agent) -> Session:
    """One turn is a session."""
    yield agent.user("Begin.", tokens=100)


@behaviour
def each_second(agent: Agent, turns: int = 1000) -> Session:
    """A turn a second."""
    for _ in range(turns):
        yield agent.user("Again.", tokens=100)
        yield agent.pause(1)


def clock(rate: str, **values: object) -> Arrival:
    return Arrival.model_validate({"rate": rate, "process": "constant", **values})


def starts(table: Timetable, entry: str = "a") -> list[float]:
    return [turn.start_s for turn in table.turns if turn.entry == entry]


# remark, entry, bounds, speed, starts
CLOCKS: list[tuple[str, Load, Bounds, Speed, list[float]]] = [
    (
        "one each two seconds, whoever is free",
        Load("a", once, PROFILE, 3, arrival=clock("0.5/s")),
        Bounds(duration_s=7),
        INSTANT,
        [0, 2, 4, 6],
    ),
    (
        "the clock starts with the entry",
        Load("a", once, PROFILE, 2, after_s=3, arrival=clock("0.5/s")),
        Bounds(duration_s=7),
        INSTANT,
        [3, 5],
    ),
    (
        "three at once, and the one agent takes one after the other",
        Load("a", once, PROFILE, 1, arrival=clock("0.3/s", process="burst", burst=3)),
        Bounds(duration_s=12),
        WRITES,
        [0, 2, 4, 10],
    ),
    (
        "three at once, for two agents",
        Load("a", once, PROFILE, 2, arrival=clock("0.3/s", process="burst", burst=3)),
        Bounds(duration_s=10),
        WRITES,
        [0, 0, 2],
    ),
    (
        "agents that come in later take what is due then",
        Load("a", once, PROFILE, 2, arrival=clock("1/s")),
        Bounds(duration_s=4, apart_s=0.5),
        WRITES,
        [0, 1, 2, 3],
    ),
    (
        "each agent has its sessions, and no more",
        Load("a", once, PROFILE, 2, arrival=clock("1/s")),
        Bounds(sessions=2),
        INSTANT,
        [0, 1, 2, 3],
    ),
    ("turns of all", Load("a", once, PROFILE, 2, arrival=clock("1/s")), Bounds(turns=3), INSTANT, [0, 1, 2]),
]


@pytest.mark.parametrize(("load", "bounds", "speed", "at_s"), [pytest.param(*row[1:], id=row[0]) for row in CLOCKS])
def test_sessions_start_on_a_clock(load: Load, bounds: Bounds, speed: Speed, at_s: list[float]) -> None:
    assert starts(timetable([load], TERMS, bounds, speed)) == at_s


def test_a_clock_is_that_of_the_run_and_a_twin_has_the_other_s() -> None:
    poisson = Arrival.model_validate({"rate": "1/s"})
    loads = [Load(name, once, PROFILE, 50, arrival=poisson, twin_of=of) for name, of in (("a", None), ("b", "a"))]
    table = timetable(loads, Terms(seed=7, answer_tokens=1), Bounds(duration_s=60), INSTANT)
    due = arrival.due_until(poisson, arrival.seed_of(7, "a"), 60)
    assert (starts(table), starts(table, "b")) == (due, due)
    assert (table.seconds, table.by_time, table.is_cut) == (60, True, False)


def plan(*stages: tuple[float, int], apart_s: float = 0.0, cuts: bool = False) -> Plan:
    return Plan(tuple(Stage(lasts_s, {"a": agents}) for lasts_s, agents in stages), apart_s, cuts)


# remark, stages, number of the agent, windows
WINDOWS: list[tuple[str, Plan, int, list[tuple[float, float]]]] = [
    ("there from the first on", plan((10, 1), (10, 4)), 0, [(0, 10), (10, 20)]),
    ("comes with the second", plan((10, 1), (10, 4)), 1, [(10, 20)]),
    ("comes in the line of those who come", plan((10, 1), (10, 4), apart_s=3), 3, [(16, 20)]),
    ("its place in the line is after the stage", plan((10, 1), (5, 4), apart_s=3), 3, []),
    ("comes back", plan((10, 4), (10, 1), (10, 4), apart_s=1), 3, [(3, 10), (22, 30)]),
]


@pytest.mark.parametrize(("made", "number", "spans"), [pytest.param(*row[1:], id=row[0]) for row in WINDOWS])
def test_windows(made: Plan, number: int, spans: list[tuple[float, float]]) -> None:
    assert list(stage_windows.windows(made, "a", number)) == spans


def test_when_a_window_opens() -> None:
    spans = [(3.0, 10.0), (22.0, 30.0)]
    assert [stage_windows.opens_s(spans, at_s) for at_s in (0, 5, 10, 29, 30)] == [3, 5, 22, 29, None]


def test_who_is_cut() -> None:
    cutting = plan((10, 4), (10, 1), (10, 4), cuts=True)
    assert [stage_windows.cut_s(cutting, "a", number, 5) for number in (0, 3)] == [inf, 10]
    assert stage_windows.cut_s(cutting, "a", 3, 25) == inf  # the end of all is the drain's
    assert stage_windows.cut_s(plan((10, 4), (10, 1)), "a", 3, 5) == inf


def by_agent(loads: Sequence[Load], made: Plan, speed: Speed = INSTANT) -> Timetable:
    return timetable(loads, TERMS, Bounds(stages=made), speed)


def test_parked_agents_start_nothing_and_go_on_where_they_were() -> None:
    table = by_agent([Load("a", each_second, PROFILE, 2)], plan((3, 2), (4, 1), (3, 2)))
    assert starts(table) == [0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 7, 7, 8, 8, 9, 9]
    assert [turn.turn.kind for turn in table.turns].count("first") == 2
    assert (table.seconds, table.agents, table.by_time) == (10, 2, True)


def test_stages_alone_say_who_comes_in_when() -> None:
    bounds = Bounds(apart_s=5, stages=plan((1, 1), (3, 3), apart_s=1))
    table = timetable([Load("a", each_second, PROFILE, 3)], TERMS, bounds, INSTANT)
    assert starts(table) == [0, 1, 1, 2, 2, 2, 3, 3, 3]


def test_nobody_starts_where_a_stage_leaves_an_entry_out() -> None:
    made = Plan((Stage(3, {"a": 1}), Stage(3, {"b": 1})))
    loads = [Load("a", each_second, PROFILE), Load("b", each_second, PROFILE)]
    table = by_agent(loads, made)
    assert (starts(table), starts(table, "b")) == ([0, 1, 2], [3, 4, 5])


def test_a_duration_before_or_after_the_end_of_the_stages() -> None:
    made, load = plan((3, 1), (3, 1)), Load("a", each_second, PROFILE)
    shorter, longer = (timetable([load], TERMS, Bounds(duration_s, stages=made), INSTANT) for duration_s in (2, 60))
    assert (starts(shorter), shorter.seconds) == ([0, 1], 2)
    assert (starts(longer), longer.seconds, longer.by_time) == ([0, 1, 2, 3, 4, 5], 60, True)


def test_a_turn_is_finished_or_cut() -> None:
    load = Load("a", once, PROFILE, 2)
    finished, cut = (by_agent([load], plan((1, 2), (2, 1), cuts=cuts), WRITES) for cuts in (False, True))
    assert [(turn.start_s, turn.end_s) for turn in finished.turns] == [(0, 2), (0, 2), (2, 4)]
    assert [(turn.start_s, turn.end_s) for turn in cut.turns] == [(0, 2), (0, 1), (2, 4)]


def test_on_a_clock_only_those_whom_a_stage_has_take_sessions() -> None:
    load = Load("a", once, PROFILE, 2, arrival=clock("1/s"))
    table = by_agent([load], plan((4, 1), (4, 2), (3, 1)), WRITES)
    # one takes every other; two catch up with what was due, and keep up; one does not
    assert starts(table) == [0, 2, 4, 4, 6, 6, 8, 10]
    nobody_first = Plan((Stage(2.5, {}), Stage(2, {"a": 2})))
    assert starts(by_agent([load], nobody_first)) == [2.5, 2.5, 2.5, 3, 4]


def test_a_free_agent_that_is_parked_takes_no_session_from_one_that_is_not() -> None:
    load = Load("a", once, PROFILE, 3, arrival=clock("0.5/s"))
    assert starts(by_agent([load], plan((3, 3), (4, 1), (2, 3)))) == [0, 2, 4, 6, 8]


SCENARIO = """\
name: n
arrival: {rate: 12/min, process: constant}
stages: [{for: 30s, fixers: 1}, {for: 30s, fixers: 3}]
start: {apart: 2s}
on_retire: cut
swarm:
  fixers: {behaviour: fix_failing_test}
  own: {behaviour: fix_failing_test, arrival: 1/s}
"""


def test_of_a_scenario(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SCENARIO.replace("fixers: 3}", "fixers: 3, own: 1}"))
    scenario = loader.load(tmp_path / "s.yaml", registry.parameters(), registry.profiles())
    fixers, own = input.loads_of(scenario)
    assert (fixers.arrival, own.arrival) == (clock("12/min"), Arrival.model_validate("1/s"))
    bounds = input.bounds_of(scenario)
    wanted = Plan((Stage(30, {"fixers": 1}), Stage(30, {"fixers": 3, "own": 1})), apart_s=2, cuts=True)
    assert (bounds.duration_s, bounds.stages) == (60, wanted)
