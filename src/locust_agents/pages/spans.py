"""Decides how many points of a long run are drawn: spans of a round length, and never without the worst turn."""

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

_Thing = TypeVar("_Thing")

_ROUND_S = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600)


def length_s(seconds: float, most: int) -> float:
    """The shortest round length of which at most so many cover the time."""
    wanted = seconds / most
    return next((float(one) for one in _ROUND_S if one >= wanted), math.ceil(wanted / 3600) * 3600.0)


def grouped(things: Sequence[_Thing], at_s: Callable[[_Thing], float], span_s: float) -> dict[int, list[_Thing]]:
    """The things by the number of the span that they began in, in the order of time; empty spans are left out."""
    found: dict[int, list[_Thing]] = {}
    for thing in things:
        found.setdefault(math.floor(at_s(thing) / span_s), []).append(thing)
    return dict(sorted(found.items()))


def kept_places(count: int, most: int, last: int) -> list[int]:
    """Which of so many sorted values stay when about `most` may: evenly, the first, and each of the `last` largest."""
    if count <= most:
        return list(range(count))
    rest = count - last
    step = rest / (most - last)
    return sorted({*(int(number * step) for number in range(most - last)), *range(rest, count)})
