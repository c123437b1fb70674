"""Decides how many human messages a session has, and how many model calls each of them starts: drawn together.

Source of all figures: the 692 sessions of `locust_agents.draws`. Drawn one by one, loops would make sessions of 21
calls in the median and 178 at p90, while 44 and 149 were measured: a session of few messages has longer loops.
"""

import math
import random
from statistics import NormalDist

from locust_agents.draws import HUMAN_TURNS, LOOP_LENGTH, REQUESTS, at, draw

# Between the normal scores of messages and calls; the rank correlation of the two in the sessions is 0.46.
_CORRELATION = 0.48
# How unlike the loops of a session are: shares of its calls are uniform draws to this power. Fitted: with this, loops
# have the measured p50 and p90 (2 and 15); p75 is 5 where 4 was measured, p99 71 where 75 was.
_UNEVENNESS = 3.2
_SHARE = NormalDist().cdf


def loops(rng: random.Random, human_turns: int | None = None, loop_length: int | None = None) -> tuple[int, ...]:
    """The model calls after each human message, at least one.

    With `human_turns` given, loops are drawn singly as there is no total; with `loop_length` given, all are of it.
    """
    if human_turns is None and loop_length is None:
        return _drawn(rng)
    messages = _whole(draw(HUMAN_TURNS, rng)) if human_turns is None else human_turns
    return tuple(_whole(draw(LOOP_LENGTH, rng)) if loop_length is None else loop_length for _ in range(messages))


def _drawn(rng: random.Random) -> tuple[int, ...]:
    score = rng.gauss(0, 1)
    other = _CORRELATION * score + math.sqrt(1 - _CORRELATION**2) * rng.gauss(0, 1)
    messages = _whole(at(HUMAN_TURNS, _SHARE(score)))
    calls = max(messages, _whole(at(REQUESTS, _SHARE(other))))
    return _shared_out(calls, [rng.random() ** _UNEVENNESS for _ in range(messages)])


def _shared_out(calls: int, weights: list[float]) -> tuple[int, ...]:
    """One call for each weight, and the others by weight; they add up to `calls`."""
    per_weight = (calls - len(weights)) / (sum(weights) or 1.0)
    found, given, reached = [], 0, 0.0
    for weight in weights[:-1]:
        reached += weight * per_weight
        found.append(1 + round(reached) - given)
        given = round(reached)
    return (*found, calls - sum(found))


def _whole(number: float) -> int:
    return max(1, round(number))
