"""Which cell of a sweep is the best one, what it buys, and which others cannot be told from it.

Axes about the server are a choice; all others are what the server is asked for. So cells are held against each other
where they were asked for the same: at the heaviest load at which a cell kept its limits. The best one there has the
smallest worst TTFT. A cell whose answers were not right is out, whatever its speed; so is one whose limits were broken
where another's held.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from locust_agents.compare import comparing
from locust_agents.compare.figures import LEVEL
from locust_agents.compare.words import Word
from locust_agents.figures import Wait
from locust_agents.records import TurnRecord
from locust_agents.sweep import cells
from locust_agents.sweep.figures import Result, kind_of, of_kind

Noise = Literal["beyond the noise", "within the noise", "too few turns to tell", "open: waits did not end"]

_ALL = "all"
_TOLD = ("max", "p50")
_WORDS: dict[Word, Noise] = {
    "better": "beyond the noise",
    "worse": "beyond the noise",
    "unsure": "too few turns to tell",
    "noise": "within the noise",
    "few": "too few turns to tell",
    "open": "open: waits did not end",
}


@dataclass(frozen=True, slots=True)
class Change:
    """A wait of the best cell, and of the one that it is held against."""

    stat: str
    here: Wait
    there: Wait
    noise: Noise

    @property
    def share(self) -> float | None:
        """By how much it is more, None where a wait had not ended or there was none."""
        if self.here.is_more or self.there.is_more or not self.there.value:
            return None
        return self.here.value / self.there.value - 1


@dataclass(frozen=True, slots=True)
class Best:
    """`held` False where no cell kept its limits. `against` is the first value of each choice, or the runner-up.

    `ties` are as good as far as can be told; `rivals` is how many cells were asked for the same.
    """

    result: Result
    held: bool
    rivals: int
    against: Result | None
    changes: tuple[Change, ...]
    ties: tuple[Result, ...]


def find(results: Sequence[Result]) -> Best | None:
    """None where no cell may be called good."""
    fit = [one for one in results if one.may_be_best]
    if not fit:
        return None
    held = [one for one in fit if one.state == "held"]
    load = max(held, key=_heaviness).cell.load if held else min(fit, key=_heaviness).cell.load
    rivals = sorted((one for one in held or fit if one.cell.load == load), key=_waits)
    best = rivals[0]
    against = _against(best, [one for one in fit if one.cell.load == load])
    changes = () if against is None else _changes(best, against)
    alike = [one for one in rivals[1:] if not any(_is_told(change) for change in _changes(best, one))]
    ties = tuple(sorted(alike, key=lambda one: one.cell.number))
    return Best(best, bool(held), len(rivals), against, changes, ties)


def _heaviness(one: Result) -> tuple[int, float]:
    return one.cell.agents, 0.0 if one.figures is None else one.figures.prompt_max


def _waits(one: Result) -> tuple[tuple[float, bool], tuple[float, bool]]:
    found = one.figures
    assert found is not None
    return _size(found.ttft_max), _size(found.ttft_p50)


def _size(wait: Wait | None) -> tuple[float, bool]:
    return (float("inf"), True) if wait is None else (wait.value, wait.is_more)


def _against(best: Result, fit: Sequence[Result]) -> Result | None:
    """The cell that comes first in the file; where that is the best one, the next best."""
    others = sorted((one for one in fit if one is not best), key=_waits)
    if not others or not any(cells.is_choice(key) for key in best.cell.values):
        return None
    first = min(fit, key=lambda one: one.cell.number)
    return others[0] if first is best else first


def _is_told(change: Change) -> bool:
    return change.noise == "beyond the noise"


def _changes(best: Result, other: Result) -> tuple[Change, ...]:
    """Worst and median TTFT of both, all entries together; its level and p95 help to tell whether they differ."""
    kind = kind_of((best, other))
    sides = [_together(of_kind(one.records)) for one in (other, best)]
    asked = [(_ALL, kind, "ttft", (LEVEL, "p95", *_TOLD))]
    found = comparing.compare(sides[0], sides[1], asked).figures
    return tuple(
        Change(str(one.stat), one.b, one.a, _WORDS[one.word])
        for stat in _TOLD
        for one in found
        if one.stat == stat and one.a is not None and one.b is not None
    )


def _together(records: Sequence[TurnRecord]) -> list[TurnRecord]:
    return [dataclasses.replace(record, entry=_ALL) for record in records]
