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


@dataclass(frozen=True, slots=True)
class Taken:
    """What is the same for all figures of one run: the records that they are of, and the window of these."""

    measured: Sequence[TurnRecord]
    window: Window | None


Turn = tuple[str, int, str]


def turn_of(record: TurnRecord) -> Turn:
    """What the attempts of one turn have in common. A turn that was capped leaves its number to the next one."""
    number = -1 - (record.turn or 0) if record.outcome is Outcome.CAPPED else record.turn
    return record.session, number, record.kind


def take(records: Sequence[TurnRecord], setting: Setting) -> Taken:
    """Both at once, to be handed to whatever makes figures of these records."""
    warm = _warm(records, setting)
    rest = _without(warm, records)
    return Taken(rest, _window(records, rest, warm, setting) if records else None)


def measured(records: Sequence[TurnRecord], setting: Setting) -> list[TurnRecord]:
    """The records that figures are made of. A turn's further attempts are where its first one is."""
    return _without(_warm(records, setting), records)


def of(records: Sequence[TurnRecord], setting: Setting) -> Window | None:
    """The window of a run; None where there was no turn."""
    return take(records, setting).window


def _without(warm: set[Turn], records: Iterable[TurnRecord]) -> list[TurnRecord]:
    return [record for record in records if turn_of(record) not in warm]


def _window(records: Sequence[TurnRecord], rest: Sequence[TurnRecord], warm: set[Turn], setting: Setting) -> Window:
    began, until = _began(records, setting), setting.until
    ends = max(map(_end, records))
    open_at_end = [record for record in records if until is not None and record.wall_time < until < _end(record)]
    from_s = setting.warm_up_s
    if from_s is None:
        first = min((record.wall_time for record in rest), default=ends)
        from_s = first - began if setting.warm_up_turns else 0.0
    return Window(
        from_s=from_s,
        until_s=max(from_s, (ends if until is None else until) - began),
        warm_up_turns=sum(kind != CANARY for _, _, kind in warm),
        open_at_end=len(open_at_end),
        cut_at_end=sum(record.outcome is Outcome.CUT for record in open_at_end),
    )


def _end(record: TurnRecord) -> float:
    return record.wall_time + record.end_s


def _began(records: Iterable[TurnRecord], setting: Setting) -> float:
    return min(record.wall_time for record in records) if setting.began is None else setting.began


def _warm(records: Sequence[TurnRecord], setting: Setting) -> set[Turn]:
    starts: dict[Turn, float] = {}
    for record in sorted(records, key=lambda record: record.wall_time):
        starts.setdefault(turn_of(record), record.wall_time)
    over = _over(records, starts, setting)
    return {turn for turn, start in starts.items() if start < over}


def _over(records: Sequence[TurnRecord], starts: Mapping[Turn, float], setting: Setting) -> float:
    """When the warm-up was over, in UNIX seconds: by turns, as the next one started."""
    if setting.warm_up_turns is not None:
        counted = [start for (_, _, kind), start in starts.items() if kind != CANARY]
        return counted[setting.warm_up_turns] if setting.warm_up_turns < len(counted) else math.inf
    if setting.warm_up_s is None or not records:
        return -math.inf
    return _began(records, setting) + setting.warm_up_s
