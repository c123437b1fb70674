"""Completes the records' misses with what only the process that writes them sees: all sessions, and rank 0's log."""

from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from locust_agents.cluster.options.cache_entries import PromptCache
from locust_agents.misses import causes
from locust_agents.misses.blame_log import CacheLog
from locust_agents.misses.blame_passed import Turns, passed, taken_at
from locust_agents.misses.causes import Evidence, Miss
from locust_agents.records import TurnRecord
from locust_agents.telling import Note

# Sessions and prompts of one that are remembered; what came before is long out of every cache.
_SESSIONS, _PROMPTS = 4096, 64


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """A turn of any process that is in prefill; `sent_at` in UNIX seconds."""

    session: str
    entry: str
    sent_at: float


@dataclass(slots=True)
class _Session:
    prompts: deque[int] = field(default_factory=lambda: deque(maxlen=_PROMPTS))
    length: int | None = None
    stored_at: float | None = None


class Blamer:
    """Of one run, over all starts of its server; every record goes through it once, in order of arrival.

    `starts` are the tokens that all turns of a profile share, by its name.
    """

    def __init__(self, cache: PromptCache, starts: Mapping[str, int] | None = None) -> None:
        self._cache = cache
        self._starts = starts or {}
        self._begin(epoch=1)

    @property
    def entries(self) -> int | None:
        """What the server was told to keep; None where that is not known."""
        return self._cache.entries

    def heard(self, sequences: int, by_type: Mapping[str, tuple[int, float]]) -> None:
        """Rank 0's log said that its cache holds so many entries."""
        self._log.heard(sequences, by_type)

    def listening(self, note: Note) -> Note:
        """Passes on to `note` what the run's vitals tell, and hears what is told of the cache."""

        def noted(event: str, fields: Mapping[str, Any]) -> None:
            note(event, fields)
            if event == "cache":
                self.heard(fields["sequences"], fields["by_type"])

        return noted

    def take(self, record: TurnRecord, in_prefill: Iterable[OpenTurn] = ()) -> TurnRecord:
        """The record with its cause. One of an earlier start of the server is left as it is."""
        if record.epoch < self._epoch:
            return record
        if record.epoch > self._epoch:
            self._begin(record.epoch)
        found = self._miss(record, in_prefill)
        self._remember(record)
        return record if found is None else causes.marked(record, found)

    def _begin(self, epoch: int) -> None:
        """A start of the server has an empty cache."""
        self._epoch = epoch
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._turns = Turns()
        self._log = CacheLog()

    def _miss(self, record: TurnRecord, in_prefill: Iterable[OpenTurn]) -> Miss | None:
        if record.miss == "first":
            return self._twin(record, in_prefill)
        if record.miss is not None or record.cached_tokens is None:
            return None
        evidence = self._evidence(record)
        if record.miss_detail is None and not evidence.is_miss:
            return None
        return causes.of_cache(evidence)

    def _twin(self, record: TurnRecord, in_prefill: Iterable[OpenTurn]) -> Miss | None:
        """Whom another process ran: of this one's own the record would tell already."""
        at = taken_at(record)
        sent = (turn for turn in in_prefill if turn.entry == record.entry and turn.session != record.session)
        twin = self._turns.prefilling(record.session, record.profile, at)
        twin = twin or next((turn.session for turn in sent if turn.sent_at < at), None)
        if twin is None:
            return None
        start = self._starts.get(record.profile)
        again = None if start is None else max(0, start - (record.cached_tokens or 0))
        return Miss("not_stored_yet", f"{twin} was still prefilling the same start", again)

    def _evidence(self, record: TurnRecord) -> Evidence:
        session, at = self._sessions.get(record.session, _Session()), taken_at(record)
        after = session.stored_at or self._turns.last_stored(record.profile, at)
        between = None if after is None else (record.session, after, at)
        capacity = self._log.capacity(self._cache, len(self._sessions))
        is_read = at < record.wall_time + record.end_s - CacheLog.LATE_S
        return Evidence(
            prompt=record.prompt_tokens,
            cached=record.cached_tokens,
            expected=record.expected_tokens,
            start=self._starts.get(record.profile),
            prompt_before=session.prompts[-1] if session.prompts else None,
            prompts=tuple(session.prompts),
            is_trimmable=self._cache.can_be_cut(record.expected_tokens or 0),
            entries=capacity,
            newer=None if between is None else self._turns.newer(*between),
            turns_since=0 if between is None else self._turns.stored(*between),
            beside=self._log.beside,
            was_full=self._log.was_full(capacity, is_read),
            remark=record.miss_detail,
        )

    def _remember(self, record: TurnRecord) -> None:
        session = self._sessions.pop(record.session, None) or _Session()
        if (turn := passed(record, session.length)) is None:
            return
        self._turns.add(turn)
        if record.prompt_tokens is not None:
            session.prompts.append(record.prompt_tokens)
            session.length = record.prompt_tokens + (record.completion_tokens or 0)
            session.stored_at = turn.stored_at
        self._sessions[record.session] = session
        if len(self._sessions) > _SESSIONS:
            self._sessions.popitem(last=False)
