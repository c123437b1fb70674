"""A server that goes from one run to the next, so that runs which ask for the same one need not wait for its start."""

from dataclasses import dataclass, field

from locust_agents.forecast.last_curve import Found
from locust_agents.locustfiles.backend import Backend
from locust_agents.locustfiles.run_state import RunState
from locust_agents.run_folder import RunFolder
from locust_agents.telling import Say


@dataclass(slots=True)
class KeptServer:
    """Between two runs it is here, during one it is the run's; `timed` is how fast it was found to be.

    The folder of the run that started it stays open: what becomes of the server is noted there.
    """

    server: Backend | None = None
    timed: Found | None = None
    _folders: list[RunFolder] = field(default_factory=list)

    def lend(self, run: RunState) -> None:
        """The run finds it, and starts none."""
        run.server, run.timed = self.server, self.timed

    def take_back(self, run: RunState) -> None:
        """The run is over, and may not stop it."""
        if run.server is not None and run.server is not self.server and run.folder is not None:
            self._folders.append(run.folder)
            run.folder = None
        self.server, self.timed, run.server = run.server, run.timed, None

    def stop(self, say: Say) -> None:
        """No run will want it; says what could not be made sure of."""
        server, self.server, self.timed = self.server, None, None
        for sentence in () if server is None else server.stop():
            say(sentence)
        while self._folders:
            self._folders.pop().close()
