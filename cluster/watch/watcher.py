"""Decides nothing: looks at a run's turns and at the server's log, sends the probe, and asks `watch` what it means."""

import dataclasses
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from locust_agents.cluster import health
from locust_agents.cluster.policy import TurnResult
from locust_agents.cluster.watch import turns
from locust_agents.cluster.watch.log import WorkLog
from locust_agents.cluster.watch.look import EndedLook, Look, OpenLook, ProbeState, Rules
from locust_agents.cluster.watch.silence import Decision, Kind, State, decide
from locust_agents.telling import Note

PROBE_S = 3600.0
"""A probe ends by itself or with the watch: the rules' patience judges it, and it is not left in the middle."""

_LAST_S = 2.0


@dataclass(frozen=True, slots=True)
class Watched:
    """A server; `model` is the one name that the run sends, `headers` go with the probe (an attached server's key).

    `log` is rank 0's, or the launcher's where rank 0 runs on another host; without one, streams and probes must do.
    """

    url: str
    model: str
    log: Path | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    rules: Rules = Rules()


class Watcher:
    """Ask `look` about once a second while turns run, and tell `ended` of each turn; all times are `perf_counter`'s.

    `look_at` gives the turns that are open now. `note` gets `quiet`, `probe`, `moving` and `wedge` for cluster.jsonl.
    """

    def __init__(
        self,
        server: Watched,
        look_at: Callable[[], Sequence[OpenLook]],
        note: Note,
    ) -> None:
        self._server = server
        self._look_at = look_at
        self._note = note
        self._log = WorkLog(server.log)
        self._state = State(perf_counter())
        self._ended: list[EndedLook] = []
        self._turn: Generator[TurnResult | None] | None = None
        self._probe = ProbeState()
        self._quiet_s: float | None = None
        self._verdict: str | None = None

    def ended(self, end: EndedLook) -> None:
        """A turn has ended; `look` takes it into account."""
        self._ended.append(end)

    def look(self) -> str | None:
        """What is wrong with the server, in one sentence that stays; None while it works or may still be working.

        Blocks for 0.05 s at most while a probe is under way (under gevent only its own greenlet).
        """
        if self._verdict is None:
            self._ask_on()
            ended, self._ended = tuple(self._ended), []
            seen = Look(perf_counter(), tuple(self._look_at()), ended, self._log.work_bytes(), self._probe)
            self._state, decision = decide(self._state, seen, self._server.rules)
            if seen.probe.result:
                self._probe = ProbeState()
            self._act(seen, decision)
        return self._verdict

    def close(self) -> None:
        """Ends the probe: by waiting for it a little, since leaving one can harm a server that batches nothing."""
        began_s = perf_counter()
        while self._turn is not None and self._verdict is None and perf_counter() - began_s < _LAST_S:
            self._ask_on()
        self._hang_up()

    def _ask(self, now_s: float) -> None:
        server = self._server
        self._turn = health.probe_turn(server.url, server.model, PROBE_S, headers=server.headers)
        self._probe = ProbeState(began_s=now_s)
        self._ask_on()

    def _ask_on(self) -> None:
        result = None if self._turn is None else next(self._turn)
        if result is None:
            return
        self._hang_up()
        self._probe = dataclasses.replace(self._probe, ended_s=perf_counter(), result=result)
        waited_s = perf_counter() - (self._probe.began_s or 0.0)
        self._note("probe", {"ok": result.ok, "seconds": round(waited_s, 3), "text": result.text})

    def _hang_up(self) -> None:
        if self._turn is not None:
            self._turn.close()
        self._turn = None

    def _act(self, seen: Look, decision: Decision) -> None:
        match decision.kind:
            case Kind.PROBE:
                self._say_quiet(seen, decision)
                self._ask(seen.now_s)
            case Kind.WEDGED:
                self._verdict = decision.verdict
                self._hang_up()
                self._note("wedge", {"what": decision.verdict, "turns": _turns(seen)})
            case Kind.MOVING | Kind.IDLE if self._quiet_s is not None:
                self._note("moving", {"after_s": round(seen.now_s - self._quiet_s, 3)})
                self._quiet_s = None

    def _say_quiet(self, seen: Look, decision: Decision) -> None:
        if self._quiet_s is None and decision.since_s is not None:
            self._quiet_s = decision.since_s
            self._note("quiet", {"seconds": round(seen.now_s - decision.since_s, 3), "turns": _turns(seen)})


def _turns(seen: Look) -> list[dict[str, object]]:
    """The open turns as cluster.jsonl keeps them: with ages, since its lines carry the time of day."""
    return [
        {key: round(value, 3) if isinstance(value, float) else value for key, value in row.items()}
        for row in turns.to_plain(seen.open_turns, seen.now_s)
    ]
