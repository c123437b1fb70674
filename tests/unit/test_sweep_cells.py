"""Which cells a sweep has, what they are called, how they are ordered, and which share a server."""

from collections.abc import Sequence

import pytest

from locust_agents.scenarios import with_plugins
from locust_agents.scenarios.overrides import Override
from locust_agents.sweep import cells as sweep_cells
from locust_agents.sweep.cells import Cell

SCENARIO = """\
name: steps
server: {launch: {model: tiny, ranks: 2}}
swarm:
  fixers: {behaviour: fix_failing_test}
sweep:
  swarm.fixers.agents: [1, 4]
  server.options.prefill-step-size: [512, 1024]
"""


def make(text: str = SCENARIO) -> tuple[Cell, ...]:
    def read(overrides: Sequence[Override]) -> object:
        return with_plugins.parse(text, "here", overrides)

    sweep = with_plugins.parse(text, "here").sweep
    assert sweep is not None
    return sweep_cells.make(sweep, read)  # type: ignore[arg-type]


def numbers(cells: Sequence[Cell]) -> list[int]:
    return [cell.number for cell in cells]


def test_cells_are_the_product_in_the_order_of_the_file() -> None:
    cells = make()
    assert [cell.folder for cell in cells] == [
        "cell-001-1-512",
        "cell-002-1-1024",
        "cell-003-4-512",
        "cell-004-4-1024",
    ]
    assert [(cell.agents, cell.scenario.server.options["prefill-step-size"]) for cell in cells] == [
        (1, 512),
        (1, 1024),
        (4, 512),
        (4, 1024),
    ]
    assert all(cell.scenario.sweep is None and "sweep" not in cell.text for cell in cells)


def test_cells_of_one_server_are_neighbours() -> None:
    ordered = sweep_cells.in_order(make(), "fewest_restarts", 1)
    assert numbers(ordered) == [1, 3, 2, 4]
    assert (sweep_cells.starts(ordered), sweep_cells.starts(make())) == (2, 4)


def test_shuffled_is_the_same_for_the_same_seed() -> None:
    orders = {tuple(numbers(sweep_cells.in_order(make(), "shuffled", seed))) for seed in range(20)}
    assert len(orders) > 5
    again = [numbers(sweep_cells.in_order(make(), "shuffled", 3)) for _ in range(2)]
    assert again[0] == again[1]


def test_an_attached_server_is_never_started() -> None:
    text = SCENARIO.replace("{launch: {model: tiny, ranks: 2}}", "{attach: http://mac1:8080}")
    cells = make(text.replace("  server.options.prefill-step-size: [512, 1024]\n", ""))
    assert (len(cells), sweep_cells.starts(cells)) == (2, 0)


@pytest.mark.parametrize(
    ("line", "values", "folder"),
    [
        ("server.launch.pipeline: [false, true]", [False, True], "cell-002-true"),
        ("server.launch.env.MLX_METAL_FAST_SYNCH: ['0', '1']", ["0", "1"], "cell-002-1"),  # each starts the server
        ("server.launch.ranks: [1, 2]", [1, 2], "cell-002-2"),
    ],
)
def test_what_the_server_is_started_with_is_an_axis(line: str, values: list[object], folder: str) -> None:
    cells = make(SCENARIO.partition("sweep:")[0] + f"sweep:\n  {line}\n")
    assert [*cells[0].values.values(), *cells[1].values.values()] == values
    assert (cells[1].folder, sweep_cells.starts(cells)) == (folder, 2)


@pytest.mark.parametrize(
    ("keys", "labels"),
    [
        (["server.options.prefill-step-size"], ["prefill-step-size"]),
        (["swarm.fixers.agents", "swarm.giant.agents"], ["fixers.agents", "giant.agents"]),  # the last words are one
        (["seed", "sweep.seed"], ["seed", "sweep.seed"]),  # one is the end of the other
    ],
)
def test_labels_are_as_short_as_they_can_be(keys: list[str], labels: list[str]) -> None:
    assert list(sweep_cells.labels(keys).values()) == labels


def test_a_choice_is_the_servers_or_a_cap() -> None:
    keys = ["server.options.kv-bits", "server.launch.env.A", "cap_prompt", "swarm.a.agents", "scale", "servers"]
    assert [sweep_cells.is_choice(key) for key in keys] == [True, True, True, False, False, False]
