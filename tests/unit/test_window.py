"""What of a run its figures are of: the window, who was late, and what was not as cold as it should be."""

import json
from typing import Any

import pytest

from locust_agents import cold, course_lines, lateness, window
from locust_agents.figures import Wait
from locust_agents.limits import parse_limit
from locust_agents.outcome import Outcome
from locust_agents.plugins import registry
from locust_agents.records import TurnRecord, from_line
from locust_agents.scenarios import loader
from locust_agents.scenarios.model import Scenario
from locust_agents.setting import Setting
from locust_agents.summary import summarise
from locust_agents.window import Window


def turn(at_s: float, lasts_s: float = 2.0, **values: Any) -> TurnRecord:
    """An ok turn that starts so long after UNIX second 1000; each is a session of its own."""
    base: dict[str, Any] = {"outcome": "ok", "run": "r", "wall_time": 1000 + at_s, "sent_s": 0.0, "end_s": lasts_s}
    base |= {"entry": "a", "agent": "a/0.0", "session": f"at {at_s}", "turn": 0, "kind": "later", "attempt": 1}
    return from_line(json.dumps({**base, "first_token_s": 1.0, "epoch": 1, "profile": "p", **values}))


TURNS = [turn(at_s) for at_s in (0, 10, 20, 29.999, 30, 58, 59)]


@pytest.mark.parametrize(
    ("setting", "measured", "wanted", "remark"),
    [
        (Setting(), 7, Window(0, 61, 0, 0, 0), "nothing is known: from the first start to the last end"),
        (Setting(990.0), 7, Window(0, 71, 0, 0, 0), "the load began before its first turn"),
        (Setting(1000.0, 1060.0), 7, Window(0, 60, 0, 1, 0), "one was open at the end, and counts"),
        (Setting(1000.0, 1060.0, warm_up_s=30.0), 3, Window(30, 60, 4, 1, 0), "what starts before is left out whole"),
        (Setting(1000.0, 1060.0, warm_up_turns=5), 2, Window(58, 60, 5, 1, 0), "by turns: from the next one's start"),
        (Setting(1000.0, 1060.0, warm_up_turns=7), 0, Window(61, 61, 7, 1, 0), "all was warm-up"),
        (Setting(1000.0, 1060.0, warm_up_s=90.0), 0, Window(90, 90, 7, 1, 0), "a warm-up that was not over"),
        (Setting(warm_up_s=30.0), 3, Window(30, 61, 4, 0, 0), "of a killed run: from its first turn"),
    ],
)
def test_the_window(setting: Setting, measured: int, wanted: Window, remark: str) -> None:
    for turns in (TURNS, TURNS[::-1]):
        assert len(window.measured(turns, setting)) == measured, remark
        assert window.of(turns, setting) == wanted, remark
    assert window.measured(TURNS, setting) == TURNS[len(TURNS) - measured :]


def test_no_turn_has_no_window() -> None:
    assert window.of([], Setting(1.0, 2.0, 3.0)) is None
    assert window.measured([], Setting(1.0, 2.0, 3.0)) == []


def test_attempts_of_one_turn_stay_together() -> None:
    tries = [turn(at_s, session="s", attempt=number) for number, at_s in enumerate((0, 15, 40), start=1)]
    later = turn(31, session="s", turn=1)
    assert window.measured([*tries, later], Setting(1000.0, warm_up_s=30.0)) == [later]
    assert window.measured([*tries, later], Setting(1000.0, warm_up_turns=1)) == [later]


def test_a_turn_that_was_capped_does_not_take_the_next_one_with_it() -> None:
    capped = turn(0, session="s", turn=3, outcome=Outcome.CAPPED)
    sent = turn(31, session="s", turn=3)
    assert window.measured([capped, sent], Setting(1000.0, warm_up_s=30.0)) == [sent]


def test_a_canary_is_no_turn_of_the_warm_up() -> None:
    turns = [turn(0), turn(1, kind="canary"), turn(2), turn(3), turn(4, kind="canary")]
    setting = Setting(1000.0, warm_up_turns=2)
    assert window.measured(turns, setting) == turns[3:]
    found = window.of(turns, setting)
    assert found is not None
    assert found.warm_up_turns == 2


def test_cut_at_the_end_is_not_cut_before_it() -> None:
    turns = [turn(10, outcome="cut"), turn(50, 9.0), turn(58.5, outcome="cut"), turn(59, 30.0), turn(59.5)]
    found = window.of(turns, Setting(1000.0, 1060.0))
    assert found is not None
    assert (found.open_at_end, found.cut_at_end) == (3, 1)


def test_figures_and_limits_are_of_the_window() -> None:
    slow = [turn(at_s, 60.0, first_token_s=50.0) for at_s in (0, 1)]
    limits = [parse_limit("ttft.max", "2s", ())]
    found = summarise([*slow, turn(40)], limits, setting=Setting(1000.0, 1050.0, warm_up_s=30.0))
    assert (found.turns, found.rows[0].ttft_max, found.judgements[0].held) == (1, Wait(1.0), True)
    assert summarise([*slow, turn(40)], limits).judgements[0].held is False


# -- sessions on a clock


def first(at_s: float, late_s: float, **values: Any) -> TurnRecord:
    return turn(at_s, kind="first", late_s=late_s, **values)


def test_late_are_also_those_that_never_started() -> None:
    setting = Setting(1000.0, 1010.0, due={"a": [0.0, 2.0, 4.0, 9.0]}, clocked=frozenset("a"))
    turns = [first(0, 0.0), first(5, 3.0), turn(6, late_s=99.0), first(8, 9.0, attempt=2)]
    turns += [first(8, 70.0, entry="closed")]
    assert lateness.of(turns, turns, setting) == lateness.Lateness(4, 2, None, Wait(6.0, is_more=True))
    assert lateness.of(turns, turns, Setting(1000.0, 1010.0)) is None


def test_a_session_may_begin_beside_or_below_itself() -> None:
    setting = Setting(1000.0, 1010.0, due={"a": [0.0, 2.0, 4.0, 9.0]}, clocked=frozenset("a"))
    title = turn(3, late_s=1.0, session="a/0.0#1.1", parent="a/0.0#1", kind="side")
    turns = [first(0, 0.0, session="a/0.0#0"), title, first(5, 1.1, session="a/0.0#1")]
    below: dict[str, Any] = {"session": "a/0.0#2.1.3", "parent": "a/0.0#2.1", "kind": "sub"}
    turns += [turn(8, late_s=4.0, **below), turn(8.5, **{**below, "turn": 1})]
    for some in (turns, turns[::-1]):
        assert lateness.of(some, some, setting) == lateness.Lateness(4, 1, None, Wait(4.0)), "title calls, sub-agents"
    assert [lateness.is_due(one, setting) for one in turns] == [True, True, True, True, False]


def test_nothing_is_due_after_the_last_stage() -> None:
    stages = SCENARIO.replace("duration: 60s", "stages: [{for: 20s, a: 1}, {for: 10s, a: 2, b: 1}]")
    assert Setting.of(scenario(stages), 1000.0, 1030.9).until == 1030.0, "the end of the load is seen a moment later"
    assert Setting.of(scenario(stages), 1000.0, 1012.0).until == 1012.0, "stopped before"


def test_all_on_time() -> None:
    setting = Setting(1000.0, 1020.0, due={"a": [float(second) for second in range(20)]}, clocked=frozenset("a"))
    turns = [first(second, 0.01 * second) for second in range(20)]
    assert lateness.of(turns, turns, setting) == lateness.Lateness(20, 0, Wait(0.18), Wait(0.19))


SCENARIO = """\
duration: 60s
warm_up: 10s
arrival: {rate: 1/s, process: constant}
swarm:
  a: {behaviour: fix_failing_test, after: 2s}
  b: {behaviour: fix_failing_test, arrival: {rate: 6/min, process: constant}}
"""


def scenario(text: str) -> Scenario:
    return loader.parse(text, "s.yaml", registry.parameters(), registry.profiles())


@pytest.mark.parametrize(
    ("text", "due", "remark"),
    [
        (SCENARIO, {"a": [2.0, 3.0, 4.0], "b": [0.0]}, "each entry has a clock of its own, from its start"),
        (SCENARIO + "sessions: 1\n", {}, "the agents have done their sessions: nobody waits"),
        (SCENARIO.replace("arrival: {rate: 1/s, process: constant}\n", ""), {"b": [0.0]}, "a closed loop has none"),
    ],
)
def test_a_scenarios_setting(text: str, due: dict[str, list[float]], remark: str) -> None:
    found = Setting.of(scenario(text), 1000.0, 1005.0)
    assert found.due == due, remark
    assert (found.began, found.until, found.warm_up_s, found.warm_up_turns) == (1000.0, 1005.0, 10.0, None)
    assert found.is_cold
    assert found.clocked == ({"b"} if due == {"b": [0.0]} else {"a", "b"}), "their sessions wait for the server"
    assert Setting.of(scenario(text), 1000.0, None).due == {}, "the end is not known"


# -- cold


@pytest.mark.parametrize(
    ("turns", "found", "remark"),
    [
        ([(0, 0, 0)], [], "cold"),
        ([(0, 50, 0)], [], "what every prompt of a template begins with"),
        ([(0, 3000, 0)], [0], "the very first was in the cache: of an earlier run, or another client's"),
        ([(0, 0, 0), (1, 2000, 2000)], [], "the shared start, as expected"),
        ([(0, 0, 0), (1, 2030, 2000)], [], "near enough"),
        ([(0, 0, 0), (1, 2000, 0), (2, 2000, 2000)], [], "a twin was ready a moment before it was expected"),
        ([(0, 0, 0), (1, 3500, 2000)], [1], "more than the shared start"),
        ([(0, 0, None), (1, 2000, None)], [], "nobody knows how long the shared start is"),
        ([(0, None, 0)], [], "no usage"),
    ],
)
def test_came_cached(turns: list[tuple[int, int | None, int | None]], found: list[int], remark: str) -> None:
    made = [
        first(at_s, 0.0, cached_tokens=cached, expected_tokens=expected, prompt_tokens=4000)
        for at_s, cached, expected in turns
    ]
    sessions = [cached.session for cached in cold.came_cached(made, Setting(is_cold=True))]
    assert sessions == [f"at {at_s}" for at_s in found], remark
    assert cold.came_cached(made, Setting(is_cold=False)) == ()


def test_the_first_turn_after_a_restart() -> None:
    turns = [turn(0), turn(20, epoch=2, session="b"), turn(10, epoch=2, session="c"), turn(30, epoch=3, session="d")]
    assert [found.session for found in cold.first_after_restart(turns)] == ["c", "d"]


# -- what is said of it


def test_nothing_is_said_of_an_ordinary_run() -> None:
    assert course_lines.parts(summarise(TURNS, setting=Setting(1000.0, 1062.0, is_cold=True))) == []
    assert course_lines.parts(summarise([])) == []


def test_what_is_said() -> None:
    turns = [*TURNS, turn(57, outcome="cut", lasts_s=3.1), first(31, 4.0, cached_tokens=3000, prompt_tokens=4000)]
    turns += [turn(58.5, epoch=2, session="z")]
    setting = Setting(1000.0, 1060.0, warm_up_s=30.0, due={"a": [27.0, 58.0]}, clocked=frozenset("a"), is_cold=True)
    assert course_lines.parts(summarise(turns, setting=setting)) == [
        "window 30–60 s, 4 turns of warm-up left out",
        "3 turns open at the end, 1 of them cut",
        "sessions late max 4.00 s, 1 of 2 never started",
        "first after restart: z turn 0",
        "NOT COLD: 1 first turn came back cached (at 31 had 3.0k of 4.0k tokens)",
    ]
