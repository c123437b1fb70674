"""Decides which number each agent of an entry has, over all processes of a run: the lowest that nobody living has."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import count

Wish = tuple[str, float]
"""What a slot says of itself: its entry, and the seconds after which the entry starts."""


@dataclass(frozen=True, slots=True)
class Seat:
    """`number` is within the entry, `place` among all slots that start after the same time."""

    entry: str
    number: int
    place: int


class Seats:
    """Of one run. Processes tell again and again which slots they have, so that a lost message does no harm.

    However unevenly slots are spread over processes, numbers are 0, 1, 2, … without a gap. The number of a slot that
    has gone, alone or with its process, is given to the next that comes.
    """

    def __init__(self) -> None:
        self._held: dict[str, dict[int, tuple[Seat, float]]] = {}

    def tell(self, process: str, slots: Mapping[int, Wish]) -> dict[int, Seat]:
        """These are the slots of a process, by a number that is its own; the answer is the seat of each."""
        held = self._held.setdefault(process, {})
        for slot in held.keys() - slots.keys():
            del held[slot]
        for slot, (entry, after_s) in sorted(slots.items()):
            if slot not in held:
                held[slot] = (Seat(entry, self._number(entry), self._place(after_s)), after_s)
        return {slot: seat for slot, (seat, _) in held.items()}

    def keep_only(self, processes: Collection[str]) -> None:
        """Processes that are gone have no slots any more."""
        for process in self._held.keys() - set(processes):
            del self._held[process]

    def numbers(self) -> dict[str, list[int]]:
        """Those that are taken, by entry."""
        found: dict[str, list[int]] = defaultdict(list)
        for seat, _ in self._all():
            found[seat.entry].append(seat.number)
        return {entry: sorted(numbers) for entry, numbers in found.items()}

    def slots(self, process: str) -> int:
        """How many a process has."""
        return len(self._held.get(process, ()))

    def _number(self, entry: str) -> int:
        taken = {seat.number for seat, _ in self._all() if seat.entry == entry}
        return next(number for number in count() if number not in taken)

    def _place(self, after_s: float) -> int:
        taken = {seat.place for seat, starts_s in self._all() if starts_s == after_s}
        return next(place for place in count() if place not in taken)

    def _all(self) -> Iterator[tuple[Seat, float]]:
        return (one for held in self._held.values() for one in held.values())
