"""What the Agents tab is told at each poll: one document, made anew once a second at most."""

import json
from time import perf_counter, time
from typing import Any

import gevent
from locust.runners import STATE_CLEANUP, STATE_RUNNING, STATE_SPAWNING

from locust_agents import verdict
from locust_agents.locustfiles import end_text, senders
from locust_agents.locustfiles.conductor import Conductor
from locust_agents.locustfiles.sentences import Sentences
from locust_agents.locustfiles.web import now
from locust_agents.locustfiles.web.client import Client
from locust_agents.locustfiles.web.cluster import ClusterNews
from locust_agents.locustfiles.web.course import Course
from locust_agents.locustfiles.web.now import Prefills
from locust_agents.locustfiles.web.table import COLUMNS, Table
from locust_agents.outcome import Outcome
from locust_agents.records import TurnRecord
from locust_agents.summary import Summary

_LOOK_S = 1.0
_LONGEST = 400
_AT_WORK = (STATE_SPAWNING, STATE_RUNNING, STATE_CLEANUP)


class _OfRun:
    """What is kept of one run; `records` is the list that the run fills."""

    def __init__(self, state: Conductor) -> None:
        self.records = state.records
        self.taken = 0
        self.course = Course(state.began or 0.0)
        self.table = Table(state.setting)
        self.client = Client(state)
        self.prefills = Prefills()
        self.news = None if state.path is None else ClusterNews(state.path)
        self.entries = [] if state.running is None else list(state.running.swarm)
        self.cut = self.failures = 0
        self.end: tuple[Summary, dict[str, Any]] | None = None

    def take(self) -> None:
        """The turns that have ended since the last call."""
        for record in self.records[self.taken :]:
            self._take(record)
        self.taken = len(self.records)

    def _take(self, record: TurnRecord) -> None:
        if record.entry not in self.entries:
            self.entries.append(record.entry)
        self.course.take(record)
        self.table.take(record)
        self.client.take(record)
        self.cut += record.outcome is Outcome.CUT
        self.failures += record.is_failure


class Feed:
    """Of an environment. It looks by itself once a second, so that a poll costs the same however seldom it comes."""

    def __init__(self, state: Conductor) -> None:
        self._state = state
        self._say = state.say
        state.say = self._hear
        self._heard: tuple[list[TurnRecord], Sentences] = state.records, Sentences()
        self._run: _OfRun | None = None
        self._made: tuple[float, bytes] = (float("-inf"), b"")
        gevent.spawn(self._keep_looking)

    def entries(self) -> list[str]:
        """Whose lines the charts have."""
        if self._run is not None:
            return self._run.entries
        return [] if self._state.scenario is None else list(self._state.scenario.swarm)

    def document(self) -> bytes:
        """JSON."""
        at_s, made = self._made
        if perf_counter() - at_s >= _LOOK_S:
            made = json.dumps(self.told(), separators=(",", ":"), allow_nan=False).encode()
            self._made = perf_counter(), made
        return made

    def told(self) -> dict[str, Any]:
        """The document, plain."""
        state, run = self._state, self._of_this_run()
        runner = state.environment.runner
        is_on = runner is not None and (runner.state in _AT_WORK or runner.shape_greenlet is not None)
        document = {
            "entries": self.entries(),
            "run": "" if state.path is None else state.path.name,
            "name": "" if (scenario := state.running or state.scenario) is None else scenario.name,
            "on": is_on,
            "said": self._sentences().told(_LONGEST),
            "error": None if state.error is None else str(state.error)[:_LONGEST],
            "elapsed_s": None,
        }
        if run is None:
            return document
        run.take()
        end_s = None if state.until is None or is_on else state.until - (state.began or 0.0)
        return {
            **document,
            "elapsed_s": round(state.elapsed_s() if end_s is None else end_s, 1),
            "draining": is_on and state.drained_at is not None,
            "columns": run.course.columns(run.entries),
            "table": {"head": COLUMNS, "rows": run.table.cells(run.entries)},
            "faults": [fault[:_LONGEST] for fault in sorted(set(state.plugin_faults))],
            **run.client.told(),
            "turns": len(run.records),
            "failures": run.failures,
            "cut": run.cut,
            "cluster": self._cluster(run),
            "end": None if is_on else self._end(run),
            **self._now(run, is_on),
        }

    def look(self) -> None:
        """Once a second while a run goes on."""
        run = self._of_this_run()
        if run is None or self._state.summary is not None:
            return
        looks = senders.looks(self._state)
        run.prefills.look(looks)
        run.course.look(self._state.elapsed_s(), looks)
        run.take()

    def _keep_looking(self) -> None:
        while True:
            self.look()
            gevent.sleep(_LOOK_S)

    def _hear(self, text: str) -> None:
        self._sentences().hear(text, time())
        self._say(text)

    def _sentences(self) -> Sentences:
        """Of this run, also before its load begins: each run has its own list of records from its start on."""
        if self._heard[0] is not self._state.records:
            self._heard = self._state.records, Sentences()
        return self._heard[1]

    def _of_this_run(self) -> _OfRun | None:
        """None until its load has begun."""
        if self._state.started_at is None:
            self._run = None
        elif self._run is None or self._run.records is not self._state.records:
            self._run = _OfRun(self._state)
        return self._run

    def _now(self, run: _OfRun, is_on: bool) -> dict[str, Any]:
        if not is_on:
            return {"now": [], "more": 0}
        rows, more = now.rows(senders.looks(self._state), senders.numbers(self._state), run.prefills, perf_counter())
        return {"now": rows, "more": more}

    def _cluster(self, run: _OfRun) -> dict[str, Any]:
        server = self._state.server
        found: dict[str, Any] = {"ranks": [], "cache": "–", "notes": []}
        if run.news is not None:
            run.news.look()
            found = run.news.told(None if server is None else server.ranks)
        return {
            **found,
            "url": None if server is None else server.url,
            "epoch": None if server is None else server.epoch,
        }

    def _end(self, run: _OfRun) -> dict[str, Any] | None:
        """The verdict and the terminal's text, once they are there."""
        summary = self._state.summary
        if summary is None:
            return None
        if run.end is None or run.end[0] is not summary:
            status = self._state.exit_status()
            said = end_text.text(self._state) or "no turn was taken"
            folder = "" if self._state.path is None else str(self._state.path)
            run.end = summary, {"status": status, "word": verdict.word(status), "text": said, "folder": folder}
        return run.end[1]
