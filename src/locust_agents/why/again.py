"""Which tokens a turn's prefill read again though they had been computed, and why, in words."""

from collections.abc import Mapping, Sequence

from locust_agents.figures import Wait
from locust_agents.quantities import seconds
from locust_agents.records import TurnRecord
from locust_agents.why import spans
from locust_agents.why.spans import Beside

_WORDS: Mapping[str, str] = {
    "restart": "the server was started again",
    "compaction": "the history was compacted",
    "history_rewritten": "its history was rewritten",
    "volatile_text": "text at its start was not the same",
    "left_in_prefill": "an attempt had been left",
    "not_stored_yet": "a twin was still computing the same start",
    "untrimmable": "the model's cache cannot be cut back",
    "template": "the template writes its answer otherwise",
    "unexplained": "nobody knows why",
}
# A miss is what made the prefill long where it is most of it.
_MAIN = 0.5


def read_again(record: TurnRecord, took_s: float, others: Sequence[Beside], entries: int | None) -> str | None:
    """None where most of what was computed was new, or the miss has no cause yet."""
    missing = (record.expected_tokens or 0) - (record.cached_tokens or 0)
    size = spans.computed(record)
    if record.miss in (None, "first") or record.cached_tokens is None or size is None:
        return None
    if missing < _MAIN * size or missing <= 0:
        return None
    return f"read {spans.tokens(missing)} again in {seconds(Wait(took_s))}: {_cause(record, others, entries)}"


def _cause(record: TurnRecord, others: Sequence[Beside], entries: int | None) -> str:
    if record.miss == "evicted":
        return f"evicted{_histories(record, others, entries)}"
    detail = f" ({record.miss_detail})" if record.miss_detail else ""
    return _WORDS.get(record.miss or "", record.miss or "") + detail


def _histories(record: TurnRecord, others: Sequence[Beside], entries: int | None) -> str:
    """How many sessions were under way since this one's turn before, itself among them, for how many entries."""
    if entries is None:
        return f" ({record.miss_detail})" if record.miss_detail else ""
    since, until = _turn_before(record, others), record.wall_time + (record.headers_s or 0.0)
    sessions = {
        other.record.session
        for other in others
        if other.decode is not None and since < other.decode[1] <= until and other.record.epoch == record.epoch
    }
    return f", {len(sessions | {record.session})} histories for {entries} entries"


def _turn_before(record: TurnRecord, others: Sequence[Beside]) -> float:
    ends = [
        other.record.wall_time + other.record.end_s
        for other in others
        if other.record.session == record.session and other.record.wall_time < record.wall_time
    ]
    return max(ends, default=0.0)
