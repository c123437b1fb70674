"""Decides which turns of a run its figures are of: all that started after the warm-up, and before the end of the load.

A turn that was open as the load ended counts in full; how many those were is said. Starts are compared on the clocks of
the machines that sent them: where workers run on several, their clocks must agree.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from locust_agents.outcome import Outcome
from locust_agents.records import CANARY, TurnRecord
from locust_agents.setting import Setting


@dataclass(frozen=True, slots=True)
class Window:
    """Seconds since the load began. `warm_up_turns` are left out of the figures, and stand in turns.jsonl.

    `open_at_end` were open at `until_s`; `cut_at_end` of them had no time to end.
    """

    from_s: float
    until_s: float
    warm_up_turns: int
    open_at_end: int
    cut_at_end: int


def measured(records: Sequence[TurnRecord], setting: Setting) -> list[TurnRecord]:
    """The records that figures are made of. A turn's further attempts are where its first one is."""
    warm = _warm(records, setting)
    return [record for record in records if _turn(record) not in warm]


def of(records: Sequence[TurnRecord], setting: Setting) -> Window | None:
    """The window of a run; None where there was no turn."""
    if not records:
        return None
    began, until = _began(records, setting), setting.until
    warm, ends = _warm(records, setting), max(map(_end, records))
    rest = [record.wall_time for record in records if _turn(record) not in warm]
    open_at_end = [record for record in records if until is not None and record.wall_time < until < _end(record)]
    from_s = setting.warm_up_s
    if from_s is None:
        from_s = min(rest, default=ends) - began if setting.warm_up_turns else 0.0
    return Window(
        from_s=from_s,
        until_s=max(from_s, (ends if until is None else until) - began),
        warm_up_turns=sum(kind != CANARY for _, _, kind in warm),
        open_at_end=len(open_at_end),
        cut_at_end=sum(record.outcome is Outcome.CUT for record in open_at_end),
    )


_Turn = tuple[str, int, str]


def _turn(record: TurnRecord) -> _Turn:
    return record.session, record.turn, record.kind


def _end(record: TurnRecord) -> float:
    return record.wall_time + record.end_s


def _began(records: Iterable[TurnRecord], setting: Setting) -> float:
    return min(record.wall_time for record in records) if setting.began is None else setting.began


def _warm(records: Sequence[TurnRecord], setting: Setting) -> set[_Turn]:
    starts: dict[_Turn, float] = {}
    for record in sorted(records, key=lambda record: record.wall_time):
        starts.setdefault(_turn(record), record.wall_time)
    over = _over(records, starts, setting)
    return {turn for turn, start in starts.items() if start < over}


def _over(records: Sequence[TurnRecord], starts: Mapping[_Turn, float], setting: Setting) -> float:
    """When the warm-up was over, in UNIX seconds: by turns, as the next one started."""
    if setting.warm_up_turns is not None:
        counted = [start for (_, _, kind), start in starts.items() if kind != CANARY]
        return counted[setting.warm_up_turns] if setting.warm_up_turns < len(counted) else math.inf
    if setting.warm_up_s is None or not records:
        return -math.inf
    return _began(records, setting) + setting.warm_up_s
