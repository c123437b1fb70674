"""Decides how figures of two runs are drawn anew: values that know which unit they are of, and weights for the units.

A unit is what is drawn as a whole, a session as a rule: turns of one session are not independent of each other. Of the
codes that units have, one byte each, the even ones are of run A and the odd ones of run B.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from random import Random

CODES = 256
MOST_UNITS = CODES // 2
"""For each run; a code is one byte."""

_NORMAL = 1.959964  # 97.5 % of a normal distribution lie below

Weights = bytes
"""How often the values of each code count."""

Figures = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Pool:
    """One metric's values of both runs, the best first; `codes` has a byte for each of them."""

    values: tuple[float, ...]
    codes: bytes
    shares: tuple[float, ...]

    def figures(self, weights: Weights) -> Figures:
        """The nearest rank at each of `shares`, counted from the best; 1 is the worst value. None of nothing."""
        until = list(accumulate(self.codes.translate(weights)))
        total = until[-1] if until else 0
        if not total:
            return (None,) * len(self.shares)
        # A share of 0.95 of 20 is 19 and not 19.000000000000004, of which the next rank would be taken.
        return tuple(self.values[bisect_left(until, math.ceil(share * total - 1e-9))] for share in self.shares)

    def beyond(self, weights: Weights) -> Figures:
        """Which part of the values is worse than the quantile of both runs together, and half of those that equal it.

        Quantiles of runs that are exchanged jump between two clouds of values; such parts do not (Mood's test).
        """
        counts = self.codes.translate(weights)
        total = sum(counts)
        return tuple(self._beyond(counts, share) / total if total else None for share in self.shares)

    def _beyond(self, counts: bytes, share: float) -> float:
        quantile = self.values[math.ceil(share * len(self.values) - 1e-9) - 1]
        from_it, after_it = bisect_left(self.values, quantile), bisect_right(self.values, quantile)
        return (sum(counts[from_it:]) + sum(counts[after_it:])) / 2


@dataclass(frozen=True, slots=True)
class Ratio:
    """A share of the whole: what of it and out of what, summed by code."""

    parts: tuple[float, ...]
    wholes: tuple[float, ...]
    codes: bytes

    def figures(self, weights: Weights) -> Figures:
        """The one share; None where there is nothing to be a part of."""
        counts = self.codes.translate(weights)
        whole = sum(map(mul, self.wholes, counts))
        return (sum(map(mul, self.parts, counts)) / whole if whole else None,)


@dataclass(frozen=True, slots=True)
class Level:
    """The geometric mean of values: the logarithms and how many they are, summed by code."""

    logs: Ratio

    def figures(self, weights: Weights) -> Figures:
        """The one mean; None of nothing."""
        (mean,) = self.logs.figures(weights)
        return (None if mean is None else math.exp(mean),)


Sample = Pool | Ratio | Level


def pool(values: Iterable[tuple[float, int]], shares: tuple[float, ...]) -> Pool:
    """From values with their codes, in any order; a larger one is a worse one."""
    ordered = sorted(values)
    return Pool(tuple(value for value, _ in ordered), bytes(code for _, code in ordered), shares)


def level(values: Iterable[tuple[float, int]]) -> Level:
    """From values above 0 with their codes."""
    return Level(ratio((math.log(value), 1.0, code) for value, code in values))


def ratio(parts: Iterable[tuple[float, float, int]]) -> Ratio:
    """From parts, what they are of, and their codes."""
    sums: dict[int, tuple[float, float]] = {}
    for part, whole, code in parts:
        before = sums.get(code, (0.0, 0.0))
        sums[code] = before[0] + part, before[1] + whole
    of_parts, of_wholes = (tuple(one[place] for one in sums.values()) for place in (0, 1))
    return Ratio(of_parts, of_wholes, bytes(sums))


@dataclass(frozen=True, slots=True)
class Units:
    """How many each run has. Paired: unit i of A and unit i of B did the same work, either may be empty.

    `together` are the paired units that a bootstrap draws as one, where they are not drawn each for itself.
    """

    of_a: int
    of_b: int
    paired: bool
    together: tuple[tuple[int, ...], ...] = ()

    @property
    def ways(self) -> int:
        """In how many ways they could have fallen to A and to B."""
        return 2**self.of_a if self.paired else math.comb(self.of_a + self.of_b, self.of_a)

    @property
    def drawn(self) -> int:
        """How many a bootstrap draws of the run that has fewer."""
        return len(self.together) or min(self.of_a, self.of_b)


def as_measured() -> tuple[Weights, Weights]:
    """Each unit once in its own run."""
    is_b = bytes(code % 2 for code in range(CODES))
    return _others(is_b), is_b


def exchanged(units: Units, rng: Random) -> tuple[Weights, Weights]:
    """Weights for A and for B as they might as well have been, if the runs do not differ.

    Paired units change sides or do not; others are dealt anew, as many to each run as it had.
    """
    is_b = bytearray(CODES)
    if units.paired:
        swaps = rng.getrandbits(MOST_UNITS)
        for number in range(units.of_a):
            is_b[2 * number + (0 if swaps >> number & 1 else 1)] = 1
    else:
        codes = [2 * number for number in range(units.of_a)] + [2 * number + 1 for number in range(units.of_b)]
        for code in rng.sample(codes, units.of_b):
            is_b[code] = 1
    return _others(bytes(is_b)), bytes(is_b)


def drawn_again(units: Units, rng: Random) -> tuple[Weights, Weights]:
    """Weights of a bootstrap: units with replacement, of paired ones both halves at once."""
    if units.together:
        drawn = rng.choices(units.together, k=len(units.together))
        of_a = [number for numbers in drawn for number in numbers]
    else:
        of_a = rng.choices(range(units.of_a), k=units.of_a)
    of_b = of_a if units.paired else rng.choices(range(units.of_b), k=units.of_b)
    return _counted(2 * number for number in of_a), _counted(2 * number + 1 for number in of_b)


def chances(observed: Sequence[float], exchanged: Sequence[Sequence[float]]) -> list[float]:
    """For each of the effects looked at together, the chance that any of them is as large without a difference.

    One round of exchanges gives a row. Effects are told apart in their own spread, and each is held against the
    largest of its row: so many figures may be looked at and still be wrong in one of twenty runs (Westfall and Young,
    Resampling-Based Multiple Testing, 1993, the maximum of the statistics in one step).
    """
    spreads = [math.sqrt(math.fsum(one * one for one in column)) for column in zip(observed, *exchanged, strict=True)]
    largest = sorted(_largest(row, spreads) for row in exchanged)
    return [_chance(effect, spread, largest) for effect, spread in zip(observed, spreads, strict=True)]


def _chance(effect: float, spread: float, largest: Sequence[float]) -> float:
    if not spread:
        return 1.0
    at_least = len(largest) - bisect_left(largest, effect / spread * (1 - 1e-9))
    return (1 + at_least) / (1 + len(largest))


def _largest(row: Sequence[float], spreads: Sequence[float]) -> float:
    return max((effect / spread for effect, spread in zip(row, spreads, strict=True) if spread), default=0.0)


def interval(effects: Sequence[float], measured: float, drawn: int) -> tuple[float, float] | None:
    """The middle 95 % of the effects of a bootstrap of `drawn` units, wider where these are few; None of one unit.

    The quantiles of a bootstrap are too near to what was measured by what Student's t is wider than a normal
    distribution, and as it divides by n (Hesterberg, What Teachers Should Know About the Bootstrap, 2015).
    """
    if drawn < 2 or not effects:
        return None
    ordered = sorted(effects)
    out = int(len(ordered) * 0.025)
    wider = math.sqrt(drawn / (drawn - 1)) * _student(drawn - 1) / _NORMAL
    low, high = (measured + wider * (end - measured) for end in (ordered[out], ordered[-1 - out]))
    return low, high


def _student(freedom: int) -> float:
    """Student's t at 97.5 %; within 1 % from three degrees of freedom on (Abramowitz and Stegun, 26.7.5)."""
    z = _NORMAL
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / float(freedom) ** power for power, term in enumerate(terms, 1))


def _others(is_b: bytes) -> Weights:
    # Codes that no unit has count for A; no value bears them.
    return bytes(1 - one for one in is_b)


def _counted(codes: Iterable[int]) -> Weights:
    weights = bytearray(CODES)
    for code in codes:
        weights[code] = min(weights[code] + 1, CODES - 1)
    return bytes(weights)
