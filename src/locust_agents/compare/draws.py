"""Draws two runs anew, many times with a fixed seed: how often do figures differ so much by chance, and by how much?"""

from collections.abc import Mapping, Sequence
from random import Random

from locust_agents.compare import bootstrap
from locust_agents.compare.bootstrap import Units, Weights
from locust_agents.compare.figures import Subject

# So many values are drawn in all, a few seconds' work, but in so many rounds at least.
_VALUES, _LEAST_ROUNDS = 20_000_000, 199
SEED = 1


class Drawn:
    """Subjects, of which effects are computed under weights; `places` has each figure's subject and number in it."""

    def __init__(self, subjects: Sequence[Subject], units: Mapping[str, Units], rounds: int) -> None:
        self._subjects = [one for one in subjects if one.stats]
        self._units = units
        self._rng = Random(SEED)
        self.places = [(one, number) for one in self._subjects for number in range(len(one.stats))]
        values = sum(sum(one.turns) for one in self._subjects)
        self._rounds = affordable(rounds, values)

    def measured(self) -> list[float]:
        """The effects as they are."""
        return [effect for one in self._subjects for effect in one.effects(bootstrap.as_measured())]

    def chances(self, tested: Sequence[int]) -> list[float]:
        """Of each tested figure; on both sides, since a figure may be better or worse."""
        measured = self._tested(dict.fromkeys(self._units, bootstrap.as_measured()))
        rows = []
        for _ in range(self._rounds):
            row = self._tested({name: bootstrap.exchanged(one, self._rng) for name, one in self._units.items()})
            rows.append([row[place] for place in tested])
        return bootstrap.chances([measured[place] for place in tested], rows)

    def intervals(self, measured: Sequence[float]) -> list[tuple[float, float] | None]:
        """Of each figure's effect."""
        whole = {name: one for name, one in self._units.items() if one.of_a and one.of_b}
        rows = []
        for _ in range(self._rounds):
            drawn = {name: bootstrap.drawn_again(one, self._rng) for name, one in whole.items()}
            rows.append([effect for one in self._subjects for effect in _effects(one, drawn.get(one.entry))])
        units = [self._units[one.entry].drawn for one, _ in self.places]
        return list(map(bootstrap.interval, zip(*rows, strict=True), measured, units))

    def _tested(self, weights: Mapping[str, tuple[Weights, Weights]]) -> list[float]:
        return [abs(effect) for one in self._subjects for effect in one.tested(weights[one.entry])]


def affordable(rounds: int, values: int) -> int:
    """As many of the rounds as take a few seconds where each draws so many values."""
    return min(max(_LEAST_ROUNDS, _VALUES // max(1, values)), rounds)


def _effects(one: Subject, weights: tuple[Weights, Weights] | None) -> Sequence[float]:
    return [0.0] * len(one.stats) if weights is None else one.effects(weights)
