"""THE locustfile: `locust -f coding_agents.py --scenario FILE` makes a user class of each entry of the scenario."""

import locust  # noqa: F401 (first: it patches the standard library)
from locust import events

from locust_agents.locustfiles.classes import classes_of
from locust_agents.locustfiles.install import install
from locust_agents.locustfiles.scenario_option import is_worker, load_plugins, requested
from locust_agents.locustfiles.shape import AgentShape
from locust_agents.locustfiles.user import CodingAgent

__all__ = ["AgentShape"]

if is_worker():
    # A worker needs some class to be let in; the true ones come with the master's plan.
    Placeholder = type("Placeholder", (CodingAgent,), {"abstract": False, "behaviour": "fix_failing_test"})
    load_plugins()
    install(events)
else:
    _scenario = requested()
    globals().update(classes_of(_scenario))
    install(events, _scenario)
