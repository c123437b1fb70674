"""Decides which of the things that a rank's log says get a line in cluster.jsonl, and how often."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from locust_agents.cluster.log_follower import Follower
from locust_agents.cluster.rank_log import (
    CacheState,
    Event,
    GenerationThreadDied,
    HttpdStarted,
    Parser,
    PrefillProgress,
    ToolCallDropped,
    Traceback,
    Warned,
)
from locust_agents.telling import Note

_NAMES: dict[type[Event], str] = {
    Traceback: "traceback",
    HttpdStarted: "listening",
    ToolCallDropped: "tool_call_dropped",
    GenerationThreadDied: "generation_thread_died",
    Warned: "warning",
}


class RankTalk:
    """One rank's log from now on; what it holds already was said before the run. All ranks log their cache: see 0."""

    def __init__(self, rank: int, path: Path, note: Note) -> None:
        self._rank = rank
        self._note = note
        self._follower = Follower(path, from_end=True)
        self._parser = Parser()
        self._states: dict[str, dict[str, Any]] = {}
        self.cache_sequences: int | None = None
        self.cache_gb: float | None = None
        self.counts: Counter[str] = Counter()
        """How often each event came; an abandoned client's traceback is no traceback here."""
        self.died: str | None = None
        """Why this rank generates nothing any more."""

    def look(self) -> None:
        """Notes what is new. Cache and prefill at most once for each call: their last state, where it changed."""
        self._take(self._parser.feed(self._follower.new()))

    def restarted(self) -> None:
        """The rank runs anew: what the old one still said is noted, its failure is over."""
        self.look()
        self._take(self._parser.end())
        self._parser, self.died = Parser(), None

    def close(self) -> None:
        """Notes what was said since the last look and what was held back, and lets go of the log."""
        self.look()
        self._take(self._parser.end())
        if self._follower.skipped:
            self._note("log_skipped", {"rank": self._rank, "bytes": self._follower.skipped})
        self._follower.close()

    def _take(self, events: Sequence[Event]) -> None:
        if self._rank == 0:
            self._weigh([event for event in events if isinstance(event, CacheState)])
            self._note_state("cache", [event for event in events if isinstance(event, CacheState)])
            self._note_state("prefill", [event for event in events if isinstance(event, PrefillProgress)])
        for event, times in Counter(event for event in events if type(event) in _NAMES).items():
            self._note_happening(event, times)

    def _weigh(self, states: Sequence[CacheState]) -> None:
        for state in states:
            self.cache_sequences = max(self.cache_sequences or 0, state.sequences)
            self.cache_gb = max(self.cache_gb or 0.0, state.size_gb)

    def _note_state(self, name: str, states: Sequence[CacheState | PrefillProgress]) -> None:
        if not states:
            return
        fields = asdict(states[-1])
        clock = fields.pop("clock")
        if self._states.get(name) != fields:
            self._states[name] = fields
            self._note(name, {**fields, "clock": clock})

    def _note_happening(self, event: Event, times: int) -> None:
        name = _NAMES[type(event)]
        gone = isinstance(event, Traceback) and event.client_left
        self.counts["client_left" if gone else name] += times
        if isinstance(event, GenerationThreadDied):
            self.died = self.died or event.why
        self._note(name, {"rank": self._rank, **asdict(event)} | ({"times": times} if times > 1 else {}))
