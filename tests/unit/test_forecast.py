"""What is said of a run before it: turns in time on a server that reads one prompt after another, tokens, minutes."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from locust_agents.forecast import input
from locust_agents.forecast.outlook import Forecast, forecast, lines, sizes_to_time
from locust_agents.forecast.prefill_curve import Curve, Speed
from locust_agents.forecast.session_plan import Bounds, Load, Terms
from locust_agents.forecast.timetable import Timetable, timetable
from locust_agents.plugins import registry
from locust_agents.plugins.api import Agent, Behaviour, Session, behaviour
from locust_agents.profile import Profile
from locust_agents.prompts.sizing import Calibration
from locust_agents.quantities import WIDTH
from locust_agents.scenarios import loader

PROFILE = Profile("p", "none", "made up", system_tokens=1000, tool_tokens=0, tools=("read",), max_tokens=None)
TERMS = Terms(answer_tokens=10)
# a token takes a millisecond to read, and a hundredth of a second to write
EVEN = Speed(Curve(((1000, 1.0),), 1e-3, 0.0), 100.0)
INSTANT = Speed()


@behaviour
def two_turns(agent: Agent, tokens: int = 1000, rest_s: float = 5.0) -> Session:
    """Says something twice, and rests between."""
    reply = yield agent.user("Begin.", tokens=tokens)
    yield agent.pause(rest_s)
    yield agent.tool_results(reply, tokens=tokens)


@behaviour
def rests(agent: Agent) -> Session:
    """Sends nothing."""
    yield agent.pause(0)


@behaviour
def thinks(agent: Agent) -> Session:
    """Is never done."""
    while True:
        yield agent.user("Again.", tokens=100)


@behaviour
def breaks(agent: Agent) -> Session:
    """Is wrong."""
    yield agent.user("Once.", tokens=100)
    raise KeyError("answer")


@behaviour
def leaves(agent: Agent) -> Session:
    """Goes after a second."""
    yield agent.user("Read all this.", tokens=9000).leave(after_s=1)


def load(made: Behaviour = two_turns, agents: int = 1, after_s: float = 0.0, **parameters: float) -> Load:
    return Load(made.name, made, PROFILE, agents, parameters, after_s)


def played(loads: Sequence[Load], bounds: Bounds, speed: Speed = EVEN, terms: Terms = TERMS) -> Timetable:
    return timetable(loads, terms, bounds, speed)


def spans(table: Timetable) -> list[tuple[float, float]]:
    return [(round(turn.start_s, 3), round(turn.end_s, 3)) for turn in table.turns]


def test_one_session_in_time() -> None:
    table = played([load()], Bounds(sessions=1))
    # 2,000 tokens and 10 of an answer; 5 s later 1,000 new ones, all before them cached
    assert spans(table) == [(0.0, 2.1), (7.1, 8.2)]
    assert [turn.cached_tokens for turn in table.turns] == [0, 2010]
    assert table.seconds == pytest.approx(8.2)
    assert not table.by_time
    assert not table.is_cut


def test_prompts_queue_for_the_server() -> None:
    table = played([load(agents=3)], Bounds(sessions=1))
    # the three start together: nobody finds the preamble, and each reads after the one before
    assert spans(table)[:3] == [(0.0, 2.1), (0.0, 4.1), (0.0, 6.1)]
    assert [turn.cached_tokens for turn in table.turns][:3] == [0, 0, 0]


def test_agents_come_one_by_one_and_find_the_preamble() -> None:
    table = played([load(agents=2), load(after_s=20, tokens=500)], Bounds(sessions=1, apart_s=3))
    firsts = [(turn.start_s, turn.cached_tokens) for turn in table.turns if turn.turn.kind == "first"]
    assert firsts == [(0.0, 0), (3.0, 1000), (20.0, 1000)]


# remark, behaviour, bounds, speed, turns, seconds, ended by time, cut
ENDS: list[tuple[str, Behaviour, Bounds, Speed, int, float, bool, bool]] = [
    ("sessions of each agent", two_turns, Bounds(sessions=2), INSTANT, 4, 10, False, False),
    ("turns of all", two_turns, Bounds(turns=3), INSTANT, 3, 5, False, False),
    ("the duration: what starts in it goes on", two_turns, Bounds(duration_s=8, drain_s=30), EVEN, 2, 8.2, True, False),
    (
        "the duration: a drain bounds what goes on",
        two_turns,
        Bounds(duration_s=1, drain_s=0.5),
        EVEN,
        1,
        1.5,
        True,
        False,
    ),
    ("the duration: nobody is done before", two_turns, Bounds(duration_s=4), EVEN, 1, 4, True, False),
    ("the first of them", two_turns, Bounds(duration_s=100, turns=90, sessions=1), INSTANT, 2, 5, False, False),
    ("a session that never ends, by time", thinks, Bounds(duration_s=9.5), EVEN, 43, 9.71, True, False),
    ("a session that never ends, by turns", thinks, Bounds(turns=7), INSTANT, 7, 0, False, False),
    ("nothing ends it", thinks, Bounds(), INSTANT, 10_000, 0, False, True),
    ("nothing ends it, and it costs no time", two_turns, Bounds(), INSTANT, 10_000, 25_000, False, True),
    ("sessions without a turn", rests, Bounds(duration_s=60), INSTANT, 0, 60, True, False),
    ("who leaves does not wait for the answer", leaves, Bounds(sessions=1), EVEN, 1, 1, False, False),
]


@pytest.mark.parametrize(
    ("made", "bounds", "speed", "turns", "seconds", "by_time", "is_cut"),
    [pytest.param(*row[1:], id=row[0]) for row in ENDS],
)
def test_what_ends_a_run(
    made: Behaviour, bounds: Bounds, speed: Speed, turns: int, seconds: float, by_time: bool, is_cut: bool
) -> None:
    table = played([load(made)], bounds, speed)
    assert (len(table.turns), table.by_time, table.is_cut) == (turns, by_time, is_cut)
    assert table.seconds == pytest.approx(seconds, abs=0.25 if made is thinks else 1e-6)


def test_a_behaviour_that_raises_is_named_once_and_its_agents_stop() -> None:
    table = played([load(breaks, agents=3), load()], Bounds(duration_s=60), INSTANT)
    assert table.faults == ("behaviour 'breaks' raised on made-up answers: KeyError: 'answer'",)
    assert [turn.entry for turn in table.turns].count("breaks") == 3
    assert [turn.entry for turn in table.turns].count("two_turns") > 3


def test_tokens_and_prices() -> None:
    made = forecast([load(agents=2)], TERMS, Bounds(sessions=1, apart_s=3), EVEN)
    # each: 2,000 and 3,010 tokens; the second agent finds the preamble of 1,000
    assert (made.turns, made.agents, made.largest_tokens) == (4, 2, 3010)
    assert made.tokens_cold == 2 * (2000 + 3010)
    assert made.tokens_cached == 2000 + 1000 + 1000 + 1000
    assert made.new_tokens == 4000
    assert made.cold_s == pytest.approx(10.02)
    assert made.cached_s == pytest.approx(5.0)
    assert made.worst_miss_s == pytest.approx(3.01)
    assert made.minutes == pytest.approx(played([load(agents=2)], Bounds(sessions=1, apart_s=3)).seconds / 60)


def test_without_a_curve_no_time_is_told() -> None:
    made = forecast([load()], TERMS, Bounds(duration_s=60), INSTANT)
    assert made.at_most
    assert (made.minutes, made.cold_s, made.cached_s, made.worst_miss_s) == (None, None, None, None)
    assert not forecast([load()], TERMS, Bounds(sessions=3), INSTANT).at_most


def test_the_same_each_time() -> None:
    loads = [Load("f", registry.behaviour("fix_failing_test"), PROFILE, 3)]
    terms = Terms(seed=7, scale=0.1, gap_scale=0.1)
    first, second = (forecast(loads, terms, Bounds(duration_s=600), EVEN) for _ in range(2))
    assert first == second
    assert first != forecast(loads, Terms(seed=8, scale=0.1, gap_scale=0.1), Bounds(duration_s=600), EVEN)


# remark, loads, sizes
SIZES: list[tuple[str, list[Load], tuple[int, ...]]] = [
    ("first, median and largest turn", [load(tokens=100), load(tokens=3000)], (1100, 4000, 7510)),
    ("the first is small, and the median below the largest", [load(tokens=3000)], (2048, 5007, 7510)),
    ("nothing is sent", [load(rests)], ()),
    ("one size, so that smaller ones are taken", [load(leaves)], (2048, 6667, 10_000)),
]


@pytest.mark.parametrize(("loads", "sizes"), [pytest.param(*row[1:], id=row[0]) for row in SIZES])
def test_sizes_to_time(loads: list[Load], sizes: tuple[int, ...]) -> None:
    table = played([*loads], Bounds(sessions=1), INSTANT, Terms(answer_tokens=510))
    assert sizes_to_time(table) == sizes


def made(**changes: object) -> Forecast:
    values = {
        "turns": 1234,
        "tokens_cold": 1_800_000,
        "tokens_cached": 165_000,
        "new_tokens": 160_000,
        "minutes": 21.4,
        "agents": 12,
        "at_most": False,
        "is_cut": False,
        "largest_tokens": 65_536,
        "cold_s": 5400.0,
        "cached_s": 512.0,
        "worst_miss_s": 41.2,
        "faults": (),
    }
    return Forecast(**{**values, **changes})  # type: ignore[arg-type]


UNKNOWN = {"minutes": None, "cold_s": None, "cached_s": None, "worst_miss_s": None}
SAID: list[tuple[str, Forecast, list[str]]] = [
    (
        "all is known",
        made(),
        [
            "forecast: about 1,234 turns by 12 agents in about 21 min",
            "to prefill: 1.8M tokens (90 min) cold, 165k tokens (8.5 min) with a kept cache",
            "a lost cache costs up to 41 s: the largest prompt, 65.5k tokens, read again",
        ],
    ),
    (
        "no curve, and time ends the run",
        made(**UNKNOWN, at_most=True),
        [
            "forecast: at most 1,234 turns by 12 agents (no run has timed this server)",
            "to prefill: 1.8M tokens cold, 165k tokens with a kept cache",
        ],
    ),
    (
        "nothing is sent",
        made(turns=0, agents=1),
        ["forecast: about 0 turns by 1 agent in about 21 min"],
    ),
    (
        "no end is in sight",
        made(turns=10_000, is_cut=True, **UNKNOWN),
        [
            "forecast: more than 10,000 turns by 12 agents, too many to foresee an end",
            "to prefill: 1.8M tokens cold, 165k tokens with a kept cache",
        ],
    ),
    (
        "a behaviour raised",
        made(turns=1, faults=("behaviour 'b' raised",), minutes=600.0, **{"worst_miss_s": None}),
        [
            "forecast: about 1 turn by 12 agents in about 10.0 h",
            "to prefill: 1.8M tokens (90 min) cold, 165k tokens (8.5 min) with a kept cache",
            "not in the forecast: behaviour 'b' raised",
        ],
    ),
]


@pytest.mark.parametrize(("known", "said"), [pytest.param(*row[1:], id=row[0]) for row in SAID])
def test_lines(known: Forecast, said: list[str]) -> None:
    assert lines(known) == said
    assert all(len(line) <= WIDTH for line in lines(known))


def test_a_scenario_is_foreseen_as_it_says(tmp_path: Path) -> None:
    scenario = loader.load(loader.find("quickstart"), registry.parameters(), registry.profiles())
    loads, terms = input.loads_of(scenario), input.terms_of(scenario, Calibration("", 0.3))
    assert [(one.entry, one.agents, one.after_s) for one in loads] == [("fixers", 4, 0.0), ("giant", 1, 20.0)]
    assert dict(loads[1].parameters) == {"prompt_tokens": 65536}
    assert (terms.scale, terms.gap_scale, terms.gap_cap_s, terms.calibration.tokens_per_char) == (0.05, 0.02, 1.0, 0.3)
    assert terms.answer_tokens == 19  # what the tiny model always says
    assert input.bounds_of(scenario) == Bounds(60, None, None, 2, 30)
    assert input.bounds_of(scenario, 10).duration_s == 10
    foreseen = forecast(loads, terms, input.bounds_of(scenario), Speed(Curve((), 2e-4, 1e-8), 150))
    assert foreseen.largest_tokens == round(65536 * 0.05)
    assert 100 < foreseen.turns < 600
    assert foreseen.minutes == pytest.approx(1.0, abs=0.1)
