"""The turns that a server had lately, as far as they bear on what its prompt cache holds. Times are UNIX seconds."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from locust_agents.records import TurnRecord

# A clock of another process, and the way from the server's store to the client's stamp.
CLOSE_S = 0.25
# A longer entry took the place of the shorter one: one token is taken off a prompt, one is the end of an answer.
_MERGED_TOKENS = 2


@dataclass(frozen=True, slots=True)
class Passed:
    """One attempt. `prefilled_at` is infinite where it was left before, `stored_at` where nothing of it was kept.

    `replaced`: its entry took the place of the session's one before, as a cache that can be trimmed does.
    """

    session: str
    profile: str
    taken_at: float
    prefilled_at: float
    over_at: float
    stored_at: float
    replaced: bool


def taken_at(record: TurnRecord) -> float:
    """When the server took the turn out of its queue; headers that end a whole answer do not tell, its sending does."""
    since_s = record.sent_s if record.streamed is False else record.headers_s
    return record.wall_time + (since_s or 0.0)


def passed(record: TurnRecord, length_before: int | None) -> Passed | None:
    """Of a record; None where the server never took it. `length_before` are the tokens of the session's last entry."""
    if record.headers_s is None:
        return None
    prefilled_s = record.first_token_s if record.prefill_end_s is None else record.prefill_end_s
    over_at = record.wall_time + record.end_s
    found = record.cached_tokens
    return Passed(
        session=record.session,
        profile=record.profile,
        taken_at=taken_at(record),
        prefilled_at=inf if prefilled_s is None else record.wall_time + prefilled_s,
        over_at=over_at,
        stored_at=inf if prefilled_s is None and record.prompt_tokens is None else over_at,
        replaced=length_before is not None and found is not None and found >= length_before - _MERGED_TOKENS,
    )


class Turns:
    """The last 2,048, in order of arrival."""

    def __init__(self) -> None:
        self._turns: deque[Passed] = deque(maxlen=2048)

    def add(self, turn: Passed) -> None:
        """One more."""
        self._turns.append(turn)

    def newer(self, session: str, after: float, until: float) -> int:
        """Entries that other sessions stored between and that are still there: one for each that replaces its own."""
        seen: set[str] = set()
        entries = 0
        for turn in self._stored(session, after, until):
            entries += turn.session not in seen or not turn.replaced
            seen.add(turn.session)
        return entries

    def stored(self, session: str, after: float, until: float) -> int:
        """Turns of other sessions that were stored between."""
        return sum(1 for _ in self._stored(session, after, until))

    def last_stored(self, profile: str, until: float) -> float | None:
        """When a turn of this profile was stored last."""
        found = (turn.stored_at for turn in self._turns if turn.profile == profile and turn.stored_at <= until)
        return max(found, default=None)

    def prefilling(self, session: str, profile: str, at: float) -> str | None:
        """Another session of this profile whose turn had been taken then, and was still in its prefill."""
        others = (turn for turn in self._turns if turn.profile == profile and turn.session != session)
        busy = (turn for turn in others if turn.taken_at < at < min(turn.prefilled_at, turn.over_at) + CLOSE_S)
        return next((turn.session for turn in busy), None)

    def _stored(self, session: str, after: float, until: float) -> Iterator[Passed]:
        since, until = after - CLOSE_S, until + CLOSE_S
        return (turn for turn in self._turns if turn.session != session and since < turn.stored_at <= until)
