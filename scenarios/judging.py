"""In which order a reading is checked until it is a Scenario, and what must be known for that."""

from collections.abc import Collection
from dataclasses import dataclass

from pydantic import ValidationError

from locust_agents.scenarios import checks, course_checks, listening, twin_checks, wording
from locust_agents.scenarios.model import Scenario
from locust_agents.scenarios.places import Reading


@dataclass(frozen=True, slots=True)
class Known:
    """The plugins that a scenario may name, some with their parameters; launchers and listeners None are any."""

    behaviours: checks.Behaviours
    profiles: Collection[str]
    launchers: Collection[str] | None = None
    listeners: checks.Behaviours | None = None


def judge(reading: Reading, file: str, known: Known) -> Scenario | None:
    """Change the reading to what the model takes and add what is wrong with it; None where the model refuses it."""
    checks.drop_empty(reading)
    checks.fill_defaults(reading, file)
    checks.check_server(reading, known.launchers)
    if known.listeners is not None:
        listening.check_listeners(reading, known.listeners)
    checks.check_swarm(reading, known.behaviours, known.profiles)
    twin_checks.fill(reading)
    course_checks.check_course(reading)
    twin_checks.check(reading)
    checks.check_limits(reading)
    try:
        return Scenario.model_validate(reading.data)
    except ValidationError as error:
        wording.report(error, reading)
        return None
