"""What the keys of a run's course, of its questions and of its answers' rightness are read to."""

import inspect
from pathlib import Path

import pytest

from locust_agents.plugins import registry
from locust_agents.scenarios import loader, rates
from locust_agents.scenarios.course import Arrival, Canary, WarmUp
from locust_agents.scenarios.model import Scenario
from locust_agents.scenarios.questions import Capacity


def work(reads: int = 8) -> None: ...


BEHAVIOURS = {"work": inspect.signature(work).parameters}
ONE = "swarm: {a: {behaviour: work}}\n"
TWO = "swarm: {a: {behaviour: work}, b: {behaviour: work}}\n"
STAGES = TWO + "stages:\n- {for: 1m, a: 1}\n- {for: 30s, a: 4, b: 1}\n- {for: 10s, a: 1}\n"


def parsed(text: str, *overrides: str) -> Scenario:
    options = [loader.read_override(each) for each in overrides]
    return loader.parse(text, "s.yaml", BEHAVIOURS, ["opencode"], options)


def test_a_scenario_that_asks_for_nothing_gets_nothing_of_it() -> None:
    found = parsed(ONE)
    asked = (found.stages, found.on_retire, found.warm_up, found.arrival, found.canary, found.sweep, found.capacity)
    assert set(asked) == {None}
    assert (found.stop_on_breach, found.identity, found.load_s) == (False, False, 90.0)
    assert found.arrival_of("a") is None


def test_stages_give_each_entry_the_most_that_one_of_them_has() -> None:
    found = parsed(STAGES)
    assert found.stages is not None
    assert [(stage.for_s, dict(stage.agents)) for stage in found.stages] == [
        (60.0, {"a": 1}),
        (30.0, {"a": 4, "b": 1}),
        (10.0, {"a": 1}),
    ]
    assert {name: entry.agents for name, entry in found.swarm.items()} == {"a": 4, "b": 1}
    assert (found.duration_s, found.turns, found.sessions) == (None, None, None)
    assert (found.load_s, found.on_retire) == (100.0, "finish")


def test_a_stage_may_be_one_of_rest() -> None:
    found = parsed(ONE + "stages: [{for: 5s, a: 2}, {for: 9s}, {for: 5s, a: 0}, {for: 5s, a: 2}]\non_retire: cut")
    assert (found.load_s, found.swarm["a"].agents, found.on_retire) == (24.0, 2, "cut")


def test_stages_say_how_many_and_a_clock_says_when() -> None:
    found = parsed(ONE + "arrival: 1/s\nstages: [{for: 9s, a: 1}, {for: 9s, a: 3}]")
    assert (found.swarm["a"].agents, found.arrival_of("a")) == (3, Arrival.model_validate("1/s"))


def test_turns_or_sessions_alone_are_no_length() -> None:
    assert parsed(ONE + "turns: 20").load_s is None


ARRIVALS: list[tuple[str, str, dict[str, object]]] = [
    ("short", "0.2/s", {"rate": "0.2/s"}),
    ("by the minute", "{rate: 12/min}", {"rate": "0.2/s", "process": "poisson"}),
    ("by the hour", "{rate: 3.6k/h, process: constant}", {"rate": "1/s", "process": "constant"}),
    ("bursts", "{rate: 1 / m, process: burst, burst: 4}", {"rate": "1/min", "process": "burst", "burst": 4}),
]


@pytest.mark.parametrize(("text", "arrival"), [pytest.param(*row[1:], id=row[0]) for row in ARRIVALS])
def test_arrivals(text: str, arrival: dict[str, object]) -> None:
    assert parsed(ONE + f"arrival: {text}").arrival == Arrival.model_validate(arrival)


def test_an_entry_may_have_arrivals_of_its_own() -> None:
    found = parsed("swarm: {a: {behaviour: work, arrival: 1/s}, b: {behaviour: work}}\narrival: 2/s")
    rates_of = {name: found.arrival_of(name) for name in found.swarm}
    assert {name: arrival and arrival.per_s for name, arrival in rates_of.items()} == {"a": 1.0, "b": 2.0}


@pytest.mark.parametrize("per_s", [0.2, 40 / 3600, 1e-5, 3.0])
def test_a_rate_is_written_so_that_it_reads_back_the_same(per_s: float) -> None:
    assert rates.rate(rates.rate_text(per_s)) == per_s


WARM_UPS: list[tuple[str, WarmUp]] = [
    ("30s", WarmUp.model_validate({"for": 30})),
    ("30", WarmUp.model_validate({"for": 30})),
    ("20 turns", WarmUp(turns=20)),
    ("1 turn", WarmUp(turns=1)),
    ("1k turns", WarmUp(turns=1000)),
    ("{turns: 20}", WarmUp(turns=20)),
    ("{for: 1m}", WarmUp.model_validate({"for": 60})),
]


@pytest.mark.parametrize(("text", "warm_up"), WARM_UPS)
def test_a_warm_up_is_a_time_or_turns(text: str, warm_up: WarmUp) -> None:
    assert parsed(ONE + f"warm_up: {text}").warm_up == warm_up


def test_a_drain_may_be_none_at_all() -> None:
    assert parsed(ONE + "drain: cut").drain_s == 0.0


def test_canary_identity_and_breach() -> None:
    found = parsed(ONE + "canary: {}\nidentity: true\nstop_on_breach: true")
    assert (found.canary, found.identity, found.stop_on_breach) == (Canary(every=20), True, True)


def test_a_search_is_over_the_only_entry_if_nothing_else_is_said() -> None:
    found = parsed(ONE + "capacity: {to: 12}").capacity
    assert found == Capacity(over="swarm.a.agents", **{"from": 1, "to": 12})


def test_options_reach_into_sections_that_are_not_written() -> None:
    found = parsed(ONE, "arrival.rate=0.5/s", "canary.every=5", "sweep.swarm.a.agents=[1, 2]", "sweep.order=shuffled")
    assert (found.arrival, found.canary) == (Arrival.model_validate("0.5/s"), Canary(every=5))
    assert found.sweep is not None
    assert (dict(found.sweep.axes), found.sweep.order) == ({"swarm.a.agents": (1, 2)}, "shuffled")


def test_an_option_of_null_takes_a_key_away_or_leaves_away_one_that_may_be() -> None:
    found = parsed(STAGES, "stages=null", "duration=5s", "cap_prompt=~")
    assert (found.stages, found.duration_s, found.swarm["a"].agents, found.cap_prompt) == (None, 5.0, 1, None)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(STAGES, id="stages"),
        pytest.param(STAGES + "on_retire: cut\nwarm_up: 20 turns", id="stages with what goes with them"),
        *(pytest.param(ONE + f"arrival: {row[1]}", id=f"arrival {row[0]}") for row in ARRIVALS),
        *(pytest.param(ONE + f"warm_up: {row[0]}", id=f"warm-up {row[0]}") for row in WARM_UPS),
        pytest.param(ONE + "canary: {}\nidentity: true\nstop_on_breach: true\ndrain: cut", id="rightness"),
        pytest.param(ONE + "sweep: {cap_prompt: [null, 4k], swarm.a.with.reads: [1]}", id="an axis with null"),
        pytest.param(ONE + "sweep: {seed: [1, 2], order: shuffled}", id="an axis of seeds"),
        pytest.param(ONE + "sweep: {server.launch: [{ranks: 1}, {ranks: 2, pipeline: true}], seed: 4}", id="mappings"),
        pytest.param(ONE + "capacity: {to: 9}", id="capacity"),
        pytest.param(ONE + "guard: {swap_growth: 1.5GB}", id="bytes"),
        pytest.param(ONE + "name: '$${HOME} and ${HOME}'", id="what looks like a variable"),
    ],
)
def test_what_is_dumped_reads_back_the_same(text: str) -> None:
    scenario = parsed(text)
    again = loader.parse(loader.dump(scenario), "scenario.yaml", BEHAVIOURS, ["opencode"], variables={})
    assert again == scenario
    assert loader.dump(again) == loader.dump(scenario)


@pytest.mark.parametrize("path", loader.shipped().values(), ids=lambda path: path.stem)
def test_what_ships_is_read_and_reads_back_the_same(path: Path) -> None:
    plugins = (registry.parameters(), registry.profiles())
    scenario = loader.load(path, *plugins)
    assert loader.parse(loader.dump(scenario), "scenario.yaml", *plugins, variables={}) == scenario
