"""Decides what a prompt costs: a curve through prompts that were timed, and the price of reading tokens again."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, inf, sqrt

from locust_agents.figures import Wait
from locust_agents.quantities import count, seconds

Point = tuple[int, float]
"""Tokens computed with nothing before them, and the seconds that took."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Prefill on an idle server: `linear_s` for each token, and `square_s` x tokens^2 for all that each looks back on.

    `points` are the timed prompts, smallest first. Whatever a request costs besides its tokens is in their seconds.
    """

    points: tuple[Point, ...]
    linear_s: float
    square_s: float

    def seconds(self, cached_tokens: float, new_tokens: float) -> float:
        """Seconds to compute `new_tokens` behind `cached_tokens` that need no computing."""
        return self._from_start(cached_tokens + new_tokens) - self._from_start(cached_tokens)

    def tokens_within(self, budget_s: float) -> float:
        """The longest prompt that is computed in that time; infinite on a curve that costs nothing."""
        if self.square_s > 0:
            root = sqrt(self.linear_s**2 + 4 * self.square_s * budget_s)
            return (root - self.linear_s) / (2 * self.square_s)
        return budget_s / self.linear_s if self.linear_s > 0 else inf

    @property
    def misfit(self) -> float:
        """By how much of itself the worst of the points is missed: 0 with one point, and on a quiet machine small."""
        return max(abs(self._from_start(tokens) / took_s - 1) for tokens, took_s in self.points)

    def _from_start(self, tokens: float) -> float:
        return self.linear_s * tokens + self.square_s * tokens**2


@dataclass(frozen=True, slots=True)
class Speed:
    """Of the server: its prefill, and the tokens/s of one answer. What is None is taken to cost no time."""

    prefill: Curve | None = None
    decode_tok_s: float | None = None


def through(points: Sequence[Point]) -> Curve:
    """The curve whose seconds for each token are nearest to those of the points, none of which weighs more than others.

    It goes through the origin, so that two points settle it and a third shows how far to trust it. Neither term is
    below 0: no prompt gets cheaper by being longer. Raises ValueError without a point that took tokens and seconds.
    """
    usable = tuple(sorted((tokens, took_s) for tokens, took_s in points if tokens > 0 and took_s > 0))
    if not usable:
        raise ValueError("no prompt was timed")
    tokens = [float(size) for size, _ in usable]
    each_s = [took_s / size for size, took_s in usable]
    return Curve(usable, *_line(tokens, each_s))


def _line(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """Least squares of y = a + b x with neither below 0."""
    mean_x, mean_y = fsum(x) / len(x), fsum(y) / len(y)
    spread = fsum((one - mean_x) ** 2 for one in x)
    bend = fsum((one - mean_x) * other for one, other in zip(x, y, strict=True))
    if spread <= 0 or bend <= 0:  # prompts of one size say nothing of a bend; a fixed cost bends the wrong way
        return mean_y, 0.0
    b = bend / spread
    if (a := mean_y - b * mean_x) >= 0:
        return a, b
    return 0.0, fsum(map(float.__mul__, x, y)) / fsum(one * one for one in x)


def price_of_miss(curve: Curve, tokens_read_again: float, after_tokens: float) -> float:
    """Seconds that a cache miss costs: tokens that were there, behind `after_tokens` that still are, computed again."""
    return curve.seconds(after_tokens, tokens_read_again)


def described(curve: Curve) -> str:
    """The timed prompts in one line, and a warning where the curve misses one of them by a fifth or more."""
    timed = ", ".join(f"{count(tokens)} tokens {seconds(Wait(took_s))}" for tokens, took_s in curve.points)
    doubt = f" (uneven: the curve misses one by {curve.misfit * 100:.0f} %)" if curve.misfit >= 0.2 else ""
    return f"prefill timed: {timed}{doubt}"
