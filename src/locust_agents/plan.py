"""RunPlan: all that a process must know to send its share of a run's load; it travels to workers as text."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from locust_agents.sizing import Calibration

# The name that makes mlx_lm.server use what it has loaded; any other drains its batch and loads weights.
MODEL = "default_model"


@dataclass(frozen=True, slots=True)
class RunPlan:
    """`scenario` is the resolved scenario's text; `base_url` has no `/v1`; `workers` is 1 where there are none.

    `model` is the one string that every request of the run sends, `headers` go with each (an API key). `epoch` counts
    the server's starts, from 1.
    """

    run: str
    scenario: str
    base_url: str
    calibration: Calibration
    model: str = MODEL
    epoch: int = 1
    workers: int = 1
    headers: Mapping[str, str] = field(default_factory=dict)


def to_text(plan: RunPlan) -> str:
    """JSON, for an option that Locust sends to its workers."""
    return json.dumps(dataclasses.asdict(plan))


def from_text(text: str) -> RunPlan:
    """The plan in a text that `to_text` wrote."""
    values = json.loads(text)
    return RunPlan(**{**values, "calibration": Calibration(**values["calibration"])})


def share(total: int | None, workers: int, worker: int) -> int | None:
    """What one of `workers` gets of `total`: the first ones take what does not divide. None is no bound."""
    if total is None:
        return None
    return total // workers + (worker < total % workers)
