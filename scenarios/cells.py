"""Which runs a sweep is made of: a cell for each combination of its axes' values, as options that make it."""

import itertools
import json
from collections.abc import Mapping

from locust_agents.scenarios import environment
from locust_agents.scenarios.overrides import Override
from locust_agents.scenarios.questions import Sweep

Cell = Mapping[str, object]
"""A value for each key that is varied."""


def cells(sweep: Sweep) -> tuple[Cell, ...]:
    """Return all of them, the last key's values changing first; the order in which they run is not decided here."""
    axes = sweep.axes
    return tuple(dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values()))


def overrides(cell: Cell) -> tuple[Override, ...]:
    """Return what makes the cell of its scenario, of which neither sweep nor search is left: a cell is one run."""
    alone = (Override("sweep", "null"), Override("capacity", "null"))
    return (*alone, *(Override(key, json.dumps(environment.escaped(value))) for key, value in cell.items()))
