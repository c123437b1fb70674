"""Decides which turns of an entry are drawn together, and whether those of one run stand for those of the other.

Turns correspond that have the same agent, session, turn, kind and attempt. Then the sessions are pairs, and what is
different in their work (a long prompt, a slow answer) is the same on both sides and no noise.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from math import ceil, inf

from locust_agents.compare.bootstrap import MOST_UNITS, Units
from locust_agents.records import TurnRecord

# Below so many sessions, those that did the very same work are cut into so many pieces: of few units, the largest
# effect that exchanging them can give is hardly larger than what one of fifty figures gives by chance.
_SESSIONS, _PIECES = 12, 20
_LEAST_IN_PIECE = 4
# The interval is of whole sessions all the same, which must agree; fewer say nothing of how sessions differ.
LEAST_SESSIONS = 3
# So much of the turns must correspond; it is the very same work where so many have prompts of the same size.
_CORRESPOND, _ALIKE, _SAME_SIZE = 0.5, 0.8, 0.05

Key = tuple[str, str, float]


@dataclass(frozen=True, slots=True)
class Design:
    """Of one entry. `pairs` are the turns that correspond; `piece_turns` is infinite where sessions are drawn whole."""

    units: Units
    pairs: tuple[tuple[TurnRecord, TurnRecord], ...]
    piece_turns: float
    _of_a: dict[Key, int]
    _of_b: dict[Key, int]

    def code(self, record: TurnRecord, is_b: bool) -> int:
        """The code of the unit that this turn is of."""
        number = (self._of_b if is_b else self._of_a)[_key(record, self.piece_turns)]
        return 2 * (number % MOST_UNITS) + is_b


def design(a: Sequence[TurnRecord], b: Sequence[TurnRecord]) -> Design:
    """How the turns of an entry can be drawn anew, from those of run A and of run B."""
    pairs = _pairs(a, b)
    if 2 * len(pairs) < max(1, _CORRESPOND * (len(a) + len(b))):
        of_a, of_b = _numbered(_keys(a, inf)), _numbered(_keys(b, inf))
        return Design(_units(len(of_a), len(of_b), False), pairs, inf, of_a, of_b)
    size = _piece_turns(a, b, pairs)
    numbers = _numbered([*_keys(a, size), *_keys(b, size)])
    units = _units(len(numbers), len(numbers), True, _sessions(numbers) if size < inf else ())
    return Design(units, pairs, size, numbers, numbers)


def _units(of_a: int, of_b: int, paired: bool, together: tuple[tuple[int, ...], ...] = ()) -> Units:
    return Units(min(of_a, MOST_UNITS), min(of_b, MOST_UNITS), paired, together)


def _sessions(numbers: Mapping[Key, int]) -> tuple[tuple[int, ...], ...]:
    """The pieces of each session."""
    found: dict[tuple[str, str], list[int]] = {}
    for (agent, session, _), number in numbers.items():
        found.setdefault((agent, session), []).append(number)
    return tuple(map(tuple, found.values()))


def _pairs(a: Iterable[TurnRecord], b: Iterable[TurnRecord]) -> tuple[tuple[TurnRecord, TurnRecord], ...]:
    left, right = _once(a), _once(b)
    return tuple((turn, right[place]) for place, turn in left.items() if place in right)


def _once(turns: Iterable[TurnRecord]) -> dict[tuple[str, str, int, int, str], TurnRecord]:
    """Turns by their place in the run, without those whose place is taken twice."""
    found: dict[tuple[str, str, int, int, str], list[TurnRecord]] = {}
    for turn in turns:
        found.setdefault((turn.agent, turn.session, turn.turn, turn.attempt, turn.kind), []).append(turn)
    return {place: same[0] for place, same in found.items() if len(same) == 1}


def _piece_turns(
    a: Sequence[TurnRecord], b: Sequence[TurnRecord], pairs: Sequence[tuple[TurnRecord, TurnRecord]]
) -> float:
    sessions = len({_key(turn, inf) for turn in (*a, *b)})
    alike = sum(is_alike(left, right) for left, right in pairs)
    if not LEAST_SESSIONS <= sessions < _SESSIONS or alike < _ALIKE * max(len(a), len(b)):
        return inf
    longest = 1 + max(turn.turn or 0 for turn in (*a, *b))
    return max(_LEAST_IN_PIECE, ceil(longest / ceil(_PIECES / sessions)))


def is_alike(left: TurnRecord, right: TurnRecord) -> bool:
    """Whether the prompts are of one size, or of neither the size is known."""
    sizes = left.prompt_tokens, right.prompt_tokens
    if sizes[0] is None or sizes[1] is None:
        return sizes == (None, None)
    return abs(sizes[0] - sizes[1]) <= _SAME_SIZE * max(sizes[0], sizes[1])


def _keys(turns: Iterable[TurnRecord], size: float) -> list[Key]:
    return [_key(turn, size) for turn in turns]


def _key(turn: TurnRecord, size: float) -> Key:
    return turn.agent, turn.session, 0.0 if size == inf else (turn.turn or 0) // size


def _numbered(keys: Iterable[Key]) -> dict[Key, int]:
    """Units by number. More than have a code share one: that only makes units larger."""
    numbers = count()
    return {key: next(numbers) for key in sorted(set(keys))}
