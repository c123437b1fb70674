"""The load shape: as many users as the chosen entries have agents, until the run is over. It honours `-t`."""

from typing import ClassVar

from locust import LoadTestShape
from locust.runners import STATE_INIT

from locust_agents.locustfiles import conductor

# All slots are spawned at once (they come in one after another by themselves); above this rate Locust warns.
_SPAWN_RATE = 100.0


class AgentShape(LoadTestShape):
    """Asked once a second by Locust; fixed counts without `-u` would spawn one user."""

    use_common_options: ClassVar[bool] = True

    def tick(self) -> tuple[int, float] | None:
        """(users, users/s), or None when the run is over."""
        runner = self.runner
        # Before a run starts, what is known is of the one before it.
        if runner is None or (runner.state != STATE_INIT and conductor.of(runner.environment).is_over()):
            return None
        return sum(user_class.fixed_count for user_class in runner.user_classes), _SPAWN_RATE
