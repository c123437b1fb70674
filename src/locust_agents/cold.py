"""Says whether "cold" was true, of two things apart: an empty prompt cache, and a model that has not worked yet.

The second is not in a run's figures: every start of a server answers a turn before it counts as ready, and so does one
that is attached to, in the calibration. What remains of it is the first turn of an agent after a restart, named here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from locust_agents.records import TurnRecord
from locust_agents.setting import Setting

# What every prompt of a template begins with, before anything that is ours.
_TEMPLATE_TOKENS = 64
# A prefix is stored in steps of the server's, and sizes before the first count are near, not exact.
_NEAR_SHARE = 0.02


@dataclass(frozen=True, slots=True)
class ColdTurn:
    """A turn that was not what it was taken for."""

    agent: str
    session: str
    turn: int
    epoch: int
    prompt_tokens: int | None
    cached_tokens: int | None


def came_cached(records: Sequence[TurnRecord], setting: Setting) -> tuple[ColdTurn, ...]:
    """Sessions' first turns that found more in an empty prompt cache than this run's own shared start of a prompt.

    Where no count of a profile tells how long that is, only its first turn in a start of the server can be judged.
    """
    if not setting.is_cold:
        return ()
    turns = sorted((record for record in records if record.kind == "first"), key=lambda record: record.wall_time)
    return tuple(_named(record) for record in turns if _found_too_much(record, turns))


def first_after_restart(records: Sequence[TurnRecord]) -> tuple[ColdTurn, ...]:
    """The first turn that each further start of the server got."""
    found: dict[int, TurnRecord] = {}
    for record in sorted(records, key=lambda record: record.wall_time):
        found.setdefault(record.epoch, record)
    return tuple(_named(found[epoch]) for epoch in sorted(found)[1:])


def _found_too_much(record: TurnRecord, turns: Sequence[TurnRecord]) -> bool:
    if record.cached_tokens is None:
        return False
    own = [turn for turn in turns if turn.profile == record.profile]
    shared = max((turn.expected_tokens or 0 for turn in own), default=0)
    before = [turn for turn in own if turn.wall_time < record.wall_time and turn.epoch == record.epoch]
    if before and not shared:
        return False
    allowed = shared if before else record.expected_tokens or 0
    return record.cached_tokens > allowed + max(_TEMPLATE_TOKENS, _NEAR_SHARE * (record.prompt_tokens or 0))


def _named(record: TurnRecord) -> ColdTurn:
    return ColdTurn(record.agent, record.session, record.turn, record.epoch, record.prompt_tokens, record.cached_tokens)
