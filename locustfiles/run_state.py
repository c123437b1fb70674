"""What is known of an environment's runs: what is given before them, kept between them, and begun anew by each."""

import logging
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, time

from locust.env import Environment

from locust_agents.breach_so_far import BreachSoFar
from locust_agents.cluster.benchmark.output import Result
from locust_agents.cluster.restart import Gap
from locust_agents.errors import LocustAgentsError
from locust_agents.forecast.last_curve import Found
from locust_agents.forecast.outlook import Forecast
from locust_agents.forecast.prefill_curve import Speed
from locust_agents.locustfiles.backend import Backend
from locust_agents.locustfiles.listening import Listening
from locust_agents.locustfiles.lookout import Lookout
from locust_agents.locustfiles.relay import Receiver
from locust_agents.locustfiles.seating import Usher
from locust_agents.locustfiles.swarm import Swarm
from locust_agents.misses.blame import Blamer
from locust_agents.records import TurnRecord
from locust_agents.run_folder import RunFolder
from locust_agents.scenarios.model import Scenario, Server
from locust_agents.setting import DRAIN, LOAD, Setting
from locust_agents.summary import Summary
from locust_agents.telling import Say
from locust_agents.trust import Trust
from locust_agents.why.reasons import Cause

_log = logging.getLogger(__name__)


@dataclass(eq=False)
class RunState:
    """Of the local or master process.

    `timed` is how fast the server is and the run that measured it, and goes with the server; `is_shared` where others
    were using it as the run came. `started_at` and `drained_at` are readings of perf_counter, `began` and `until` the
    same in UNIX seconds; None before they happen. `missing` is the most agents that were, and of how many.
    `stops` is how often somebody asked for the end; `is_cut` where open turns are not waited for any more.
    """

    environment: Environment
    scenario: Scenario | None = None
    out: Path | None = None
    shared_ok: bool = False
    say: Say = _log.info
    receiver: Receiver | None = None
    usher: Usher | None = None
    interrupted: bool = False

    server: Backend | None = None
    served: Server | None = None
    timed: Found | None = None
    is_shared: bool = False

    running: Scenario | None = None
    folder: RunFolder | None = None
    path: Path | None = None
    error: LocustAgentsError | OSError | None = None
    plugin_faults: list[str] = field(default_factory=list)
    records: list[TurnRecord] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    swarm: Swarm | None = None
    lookout: Lookout | None = None
    blamer: Blamer | None = None
    listening: Listening | None = None
    forecast: Forecast | None = None
    benchmark: Result | None = None
    summary: Summary | None = None
    trust: Trust | None = None
    causes: tuple[Cause, ...] = ()
    started_at: float | None = None
    drained_at: float | None = None
    began: float | None = None
    until: float | None = None
    missing: tuple[int, int] | None = None
    looked_at: int = 0
    breach: BreachSoFar | None = None
    stops: int = 0
    is_cut: bool = False
    ended_at: float | None = None
    page: "subprocess.Popen[bytes] | None" = None

    def reset(self) -> None:
        """What the run before left is not this run's."""
        self.folder = self.path = None  # a run that cannot begin must write nothing there
        self.error = self.swarm = self.lookout = self.blamer = self.listening = None
        self.forecast = self.benchmark = self.summary = self.trust = None
        self.started_at = self.drained_at = self.began = self.until = self.missing = None
        self.plugin_faults, self.records, self.gaps = [], [], []
        self.looked_at, self.breach, self.causes = 0, None, ()
        self.stops, self.is_cut, self.ended_at = 0, False, None

    def fail(self, error: LocustAgentsError | OSError) -> None:
        """Keeps the first error; it decides the exit status."""
        self.error = self.error or error
        if self.folder is not None:
            self.folder.note("error", {"what": str(error)})
        _log.error("%s", error)

    def load_begins(self) -> None:
        """From now on turns may start."""
        self.started_at, self.began = perf_counter(), time()
        if self.swarm is not None:
            self.swarm.started = self.started_at
        if self.folder is not None:
            self.folder.note(LOAD, {})

    def load_ends(self) -> None:
        """No turn starts any more. Only the first call counts."""
        if self.started_at is None or self.drained_at is not None:
            return
        self.drained_at, self.until = perf_counter(), time()
        if self.folder is not None:
            self.folder.note(DRAIN, {})

    @property
    def setting(self) -> Setting:
        """What the run's figures must know beside its records."""
        return Setting() if self.running is None else Setting.of(self.running, self.began, self.until)

    def elapsed_s(self) -> float:
        """Since the load began."""
        return perf_counter() - (self.started_at or 0.0)

    def run_time_s(self) -> float | None:
        """Locust's own `-t`, None where it is not given."""
        run_time = getattr(self.environment.parsed_options, "run_time", None)
        return float(run_time) if run_time else None

    def duration_s(self) -> float:
        """The scenario's duration, or Locust's own `-t` where that is given; infinite without either."""
        wanted = self.run_time_s() or (self.running.load_s if self.running is not None else None)
        return wanted or float("inf")

    @property
    def speed(self) -> Speed | None:
        """Of the server, None where nobody timed it."""
        return None if self.timed is None else self.timed.speed

    @property
    def untrusted(self) -> str | None:
        """Why the figures cannot be trusted, None where nothing speaks against them; most of it is known at the end."""
        if self.trust is not None:
            return "; ".join(self.trust.doubts) or None
        return None if self.lookout is None else self.lookout.untrusted
