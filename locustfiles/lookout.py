"""Looks after a run's server once a second: does it live, does it hang, what does it say, is its host in danger."""

from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

from locust_agents.cluster import health
from locust_agents.cluster.trouble_clock import TroubleClock
from locust_agents.cluster.vitals.guard import Guard
from locust_agents.cluster.vitals.look import Vitals
from locust_agents.cluster.vitals.peaks import Peaks
from locust_agents.cluster.watch import turns
from locust_agents.cluster.watch.heartbeat import Heartbeat
from locust_agents.cluster.watch.look import OpenLook, Rules
from locust_agents.cluster.watch.watcher import Watched, Watcher
from locust_agents.errors import ClusterError, PluginError
from locust_agents.locustfiles.backend import Backend
from locust_agents.plan import RunPlan
from locust_agents.plugins import registry
from locust_agents.records import TurnRecord
from locust_agents.scenarios.model import Scenario
from locust_agents.telling import Note, Say

_BETTER_REASON_S = 3.0
LookAt = Callable[[], Sequence[OpenLook]]


class Lookout:
    """For one run, over all starts of its server. `untrusted` is why its figures cannot be trusted, or None."""

    def __init__(
        self, scenario: Scenario, plan: RunPlan, server: Backend, note: Note, say: Say, look_at: LookAt
    ) -> None:
        self.untrusted: str | None = None
        self._scenario = scenario
        self._plan = plan
        self._server = server
        self._note = note
        self._say = say
        self._look_at = look_at
        self._trouble = TroubleClock()
        guard = Guard(scenario.guard.swap_growth, scenario.guard.pressure)
        self._vitals = Vitals(lambda: self._server.hosts(), server.logs(), guard, note)
        self._watcher = self._watch(server)
        self._heartbeat = self._listen_to(server)

    def look(self) -> ClusterError | None:
        """What must end the run, or this start of the server; None while all is well."""
        if (failure := self._server.failure()) is not None:
            return ClusterError(failure, self._server.log_tail(self._server.culprit))
        if (verdict := self._watcher.look()) is not None:  # it has waited long enough: no better reason will come
            return ClusterError(verdict, self._server.log_tail(0))
        if (what := self._listen() or self._heartbeat.look()) is None:
            return None
        # Rank 0 may only say that it lost a peer, or /health that it is dead: who did that is known a moment later.
        self._trouble = self._trouble.seen(perf_counter())
        if self._trouble.seconds < _BETTER_REASON_S:
            return None
        return ClusterError(what, self._server.log_tail(0))

    def ended(self, record: TurnRecord) -> None:
        """A turn has ended: the one before a hang is named in its verdict."""
        self._watcher.ended(turns.ended_look(record, perf_counter(), _unusual(record, self._plan.model)))

    def restarted(self, server: Backend) -> None:
        """Another start of the server is up."""
        self._watcher.close()
        self._server = server
        self._trouble = TroubleClock()
        self._watcher = self._watch(server)
        self._heartbeat = self._listen_to(server)
        self._vitals.restarted()

    def peaks(self) -> Peaks:
        """The most that was used so far."""
        return self._vitals.peaks()

    def close(self) -> None:
        """The run is over."""
        self._watcher.close()
        self._vitals.close()

    def _listen(self) -> str | None:
        finding = self._vitals.tick()
        for sentence in finding.news:
            self._say(sentence)
        self.untrusted = finding.untrusted or self.untrusted
        return finding.failure or finding.stop

    def _watch(self, server: Backend) -> Watcher:
        keys = self._scenario.server
        kv_bits = keys.options.get("kv-bits")
        rules = Rules(
            silence_s=keys.silence_s,
            ranks=server.ranks,
            unbatched=None if kv_bits is None else f"--kv-bits {kv_bits}",
        )
        log: Path | None = server.logs().get(0)
        watched = Watched(server.url, self._plan.model, log, self._plan.headers, rules)
        return Watcher(watched, self._look_at, self._note)

    def _listen_to(self, server: Backend) -> Heartbeat:
        headers = self._plan.headers
        return Heartbeat(server.url, lambda seconds: health.sign(server.url, seconds, headers), self._note)


def _unusual(record: TurnRecord, model: str) -> tuple[str, ...]:
    """From the profile's name, which is all that a worker's record tells; a hand-written profile has none."""
    try:
        return turns.unusual_fields(registry.profile(record.profile).parameters, model)
    except PluginError:
        return ()
