"""Which values a sweep or a search may try, and of which runs a sweep is made."""

import inspect

import pytest

from locust_agents.errors import ScenarioError
from locust_agents.scenarios import cells, loader
from locust_agents.scenarios.model import Scenario


def work(reads: int = 8) -> None: ...


def giant(prompt_tokens: int) -> None: ...


BEHAVIOURS = {each.__name__: inspect.signature(each).parameters for each in (work, giant)}
TWO = "swarm:\n  a: {behaviour: work}\n  b: {behaviour: giant, with: {prompt_tokens: 1k}}\n"


def parsed(text: str, *overrides: loader.Override) -> Scenario:
    return loader.parse(text, "s.yaml", BEHAVIOURS, ["opencode"], overrides)


def mistakes(text: str) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        parsed(text)
    return str(caught.value).splitlines()


KEYS = [
    ("of the server", "server.options.prefill-step-size: [2048, 4096]"),
    ("of its environment", "server.launch.env.MLX_METAL_FAST_SYNCH: ['0', '1']"),
    ("of the shape", "server.launch.pipeline: [true, false]"),
    ("a whole section", "server: [{attach: 'mac1:8080'}, {launch: {ranks: 3}}]"),
    ("of the load", "swarm.a.agents: [1, 2, 4]"),
    ("of a parameter", "swarm.b.with.prompt_tokens: [1k, 64k]"),
    ("of a behaviour and its parameters", "swarm.b: [{behaviour: work}, {behaviour: giant, with: {prompt_tokens: 9}}]"),
    ("of a limit", "limits.a.later.ttft.p95: [1s, 2s]"),
    ("null for nothing", "cap_prompt: [null, 4k]"),
    ("null for what is not written", "gaps.cap: [null, 1s]"),
    ("seeds", "seed: [1, 2, 3]"),
]


@pytest.mark.parametrize("axis", [pytest.param(axis, id=name) for name, axis in KEYS])
def test_any_key_may_be_varied_and_each_cell_is_a_scenario(axis: str) -> None:
    text = TWO + f"sweep: {{{axis}, order: shuffled}}"
    sweep = parsed(text).sweep
    assert sweep is not None
    [key] = sweep.axes
    for cell in cells.cells(sweep):
        found = parsed(text, *cells.overrides(cell))
        assert (found.sweep, found.capacity) == (None, None)
    assert len(cells.cells(sweep)) == len(sweep.axes[key])


def test_a_cell_is_each_combination_once_the_last_key_changing_first() -> None:
    text = TWO + "sweep: {swarm.a.agents: [1, 2], seed: [7, 8], cap_prompt: [null, 4k]}\ncapacity: {over: seed}"
    sweep = parsed(text).sweep
    assert sweep is not None
    assert [tuple(cell.values()) for cell in cells.cells(sweep)] == [
        (agents, cap, seed) for agents in (1, 2) for cap in (None, "4k") for seed in (7, 8)
    ]
    found = [parsed(text, *cells.overrides(cell)) for cell in cells.cells(sweep)]
    assert [(each.swarm["a"].agents, each.cap_prompt, each.seed) for each in found] == [
        (agents, cap, seed) for agents in (1, 2) for cap in (None, 4000) for seed in (7, 8)
    ]


def test_a_text_that_looks_like_a_variable_reaches_its_cell() -> None:
    options = cells.overrides({"server.launch": {"env": {"X": "${HOME}"}}})
    found = loader.parse(TWO, "s.yaml", BEHAVIOURS, ["opencode"], options, variables={})
    assert found.server.launch is not None
    assert found.server.launch.env == {"X": "${HOME}"}


MISTAKES: list[tuple[str, str, list[str]]] = [
    (
        "each wrong value at its place, with the scenario's own mistakes told once",
        "seed: x\nsweep:\n  swarm.a.agents: [0, 1]\n  swarm.b.with.prompt_tokens: [1, many]",
        [
            "s.yaml:4:7: seed: expected a whole number, got 'x'",
            "s.yaml:6:20: sweep.swarm.a.agents[0]: must be 1 or more, got 0",
            "s.yaml:7:35: sweep.swarm.b.with.prompt_tokens[1]: expected a whole number, got 'many'",
        ],
    ),
    (
        "a value that breaks another key",
        "sweep: {server: [{attach: 'mac1:8080'}, {launch: {ranks: 3}}]}\nprobe: mlx_lm_benchmark",
        [
            "s.yaml:4:18: sweep.server[0]: probe: measures the ranks before the run starts a server on them; remove "
            "it, or launch with server.launch"
        ],
    ),
    (
        "a mistake deep in a value",
        "sweep: {server.launch: [{rank: 2}, {ranks: 2}]}",
        ["s.yaml:4:25: sweep.server.launch[0]: server.launch.rank: unknown key; did you mean 'ranks'?"],
    ),
    (
        "values that exclude each other",
        "sweep:\n  turns: [9, 30]\n  warm_up: [5s, 20 turns]",
        [
            "s.yaml:6:17: sweep.warm_up[1]: with turns 9: warm_up: takes the whole run of 9 turns; nothing would be "
            "measured"
        ],
    ),
    (
        "agents that the stages deny",
        "stages: [{for: 9s, a: 2, b: 1}]\nsweep: {swarm.a.agents: [1, 2]}",
        [
            "s.yaml:5:26: sweep.swarm.a.agents[0]: the stages have up to 2 of them; write that, or leave it to the "
            "stages"
        ],
    ),
    (
        "below a single value",
        "sweep: {seed.x: [1, 2]}\nseed: 4",
        ["s.yaml:4:9: sweep.seed.x: seed is not a mapping, so it has no keys"],
    ),
    ("an empty part", "sweep: {swarm..agents: [1]}", ["s.yaml:4:9: sweep.swarm..agents: the key has an empty part"]),
    ("plugins", "sweep: {plugins: [a.py]}", ["s.yaml:4:9: sweep.plugins: plugins is the same for all runs"]),
    (
        "more cells than a lifetime",
        "sweep: {swarm.a.agents: [1,2,3,4,5,6,7,8], scale: [1,2,3,4,5,6,7,8], seed: [1,2,3,4,5,6,7,8]}",
        ["s.yaml:4:1: sweep: has 512 cells; at most 500 can be run"],
    ),
    (
        "the end of a search",
        "capacity: {over: server.port, from: 60k, to: 70k}",
        ["s.yaml:4:46: capacity.to: a port is 1 to 65535, got 70000"],
    ),
    (
        "a search through a list of stages",
        "stages: [{for: 9s, a: 2, b: 1}]\ncapacity: {over: swarm.a.agents}",
        [
            "s.yaml:5:18: capacity.over: with 1 in swarm.a.agents: the stages have up to 2 of them; write that, or "
            "leave it to the stages",
        ],
    ),
    (
        "a search for what is no number",
        "capacity: {over: swarm.a.profile}",
        ["s.yaml:4:18: capacity.over: with 1 in swarm.a.profile: expected text, got 1"],
    ),
]


@pytest.mark.parametrize(("text", "lines"), [pytest.param(*row[1:], id=row[0]) for row in MISTAKES])
def test_says_which_value_is_wrong(text: str, lines: list[str]) -> None:
    assert mistakes(TWO + text) == lines
