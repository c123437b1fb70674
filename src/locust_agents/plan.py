"""RunPlan: all that a process must know to send its share of a run's load; it travels to workers as text."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from locust_agents.prompts.sizing import Calibration
from locust_agents.right.answer_check import Checks

# The name that makes mlx_lm.server use what it has loaded; any other drains its batch and loads weights.
MODEL = "default_model"


@dataclass(frozen=True, slots=True)
class RunPlan:
    """`scenario` is the resolved scenario's text; `base_url` has no `/v1`.

    `model` is the one string that every request of the run sends, `headers` go with each (an API key). `epoch` counts
    the server's starts, from 1. `checks` are what is asked to see whether answers are right, None for nothing.
    """

    run: str
    scenario: str
    base_url: str
    calibration: Calibration
    model: str = MODEL
    epoch: int = 1
    headers: Mapping[str, str] = field(default_factory=dict)
    checks: Checks | None = None


def to_text(plan: RunPlan) -> str:
    """JSON, for an option that Locust sends to its workers."""
    return json.dumps(dataclasses.asdict(plan))


def from_text(text: str) -> RunPlan:
    """The plan in a text that `to_text` wrote."""
    values = json.loads(text)
    checks = None if values["checks"] is None else Checks(**values["checks"])
    return RunPlan(**{**values, "calibration": Calibration(**values["calibration"]), "checks": checks})
