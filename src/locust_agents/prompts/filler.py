"""Text of a wanted size: code-like whole lines of a fixed pool, in an order that a random generator decides."""

import functools
import random
from collections.abc import Sequence

# All of four letters, and common in code: byte-pair vocabularies hold each whole, so that a line of one shape is nearly
# the same number of tokens whatever words are in it, and sizes can be hit without a tokenizer.
_WORDS = (
    "date flag form hash heap last like link load loop main make most once pack part rest root side step sure used "
    "wait want word work wrap year"
).split()
_SHAPES = (
    "def {a}_{b}({c}, {d}=None):",
    "    {a} = {b}_{c}({d})",
    "    if {a} is None and not {b}.{c}:",
    "    for {a} in {b}.{c}_all({d}):",
    "    return {a}({b}, {c}.{d})",
    "class {a}_{b}({c}):",
    "        raise {a}_error(f'{b} {number}: {c}')",
    "from {a}.{b} import {c}_{d}",
)
_LINES_OF_A_SHAPE = 250
# The last ones are chosen for their length. Lines have 23 to 44 characters: two of them make any end of this size.
_END_CHARS = 85
_ONE_LINE_CHARS = 45


@functools.cache
def pool() -> tuple[str, ...]:
    """All lines, each ended by a newline, the shapes in turn; the same in every process and release."""
    rng = random.Random("locust-agents filler 1")
    return tuple(_line(shape, rng) for shape in _SHAPES * _LINES_OF_A_SHAPE)


def sample(chars: int) -> str:
    """Some `chars` characters, spread evenly over the pool and its shapes: what a calibration measures."""
    lines = pool()
    stride = 17  # shares no factor with the number of lines, so that all of them are met
    return "".join(lines[(place * stride) % len(lines)] for place in range(chars // 33))


def text(chars: float, rng: random.Random) -> str:
    """Whole lines of `chars` characters in all, give or take five; of less than a line, half of one (twelve).

    Each eight lines have every shape once: the characters of a token differ between shapes more than within one.
    """
    lines = pool()
    taken: list[str] = []
    left = chars
    while left > _END_CHARS:
        for shape in rng.sample(range(len(_SHAPES)), len(_SHAPES)):
            if left <= _END_CHARS:
                break
            taken.append(lines[int(rng.random() * _LINES_OF_A_SHAPE) * len(_SHAPES) + shape])
            left -= len(taken[-1])
    return "".join(taken) + _end(left, rng)


def words(count: int, rng: random.Random) -> str:
    """A few plain words, for a nonce or a name."""
    return " ".join(rng.choice(_WORDS) for _ in range(count))


def _line(shape: str, rng: random.Random) -> str:
    a, b, c, d = rng.sample(_WORDS, 4)
    return shape.format(a=a, b=b, c=c, d=d, number=rng.randrange(100, 1000)) + "\n"


def _end(chars: float, rng: random.Random) -> str:
    """One line or two that come nearest to what is left; none where even the shortest would miss by more."""
    candidates = rng.sample(pool(), 64)
    first = _nearest(candidates, chars / 2) if chars > _ONE_LINE_CHARS else ""
    left = chars - len(first)
    last = _nearest(candidates, left)
    return first + last if abs(len(last) - left) < left else first


def _nearest(lines: Sequence[str], chars: float) -> str:
    return min(lines, key=lambda line: abs(len(line) - chars))
