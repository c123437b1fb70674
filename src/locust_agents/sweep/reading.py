"""Decides which cells a sweep has and in which order they run: each is read and checked before the first one starts."""

from collections.abc import Callable, Sequence

from locust_agents.cluster import launching
from locust_agents.scenarios.loader import Override
from locust_agents.scenarios.model import Scenario
from locust_agents.scenarios.questions import Sweep
from locust_agents.sweep import cells as sweep_cells
from locust_agents.sweep.cells import Cell
from locust_agents.telling import Say

Read = Callable[[Sequence[Override]], Scenario]
"""Reads the scenario with a cell's values on top of the user's own; raises what is wrong with it."""


def cells(scenario: Scenario, sweep: Sweep, read: Read, say: Say) -> tuple[Cell, ...]:
    """As they run. Raises ScenarioError for the first cell that is no scenario, or whose server cannot be launched."""
    made = sweep_cells.make(sweep, read)
    for one in {cell.server: cell.scenario for cell in made}.values():
        if one.server.launch is not None:
            launching.launchable(one, one.server.launch, say)
    return sweep_cells.in_order(made, sweep.order, sweep.seed if isinstance(sweep.seed, int) else scenario.seed)
