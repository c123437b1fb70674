"""Text of a wanted size: code-like whole lines of a fixed pool, in an order that a random generator decides."""

import functools
import random

_THINGS = (
    "account batch branch bucket buffer cache cell change channel chunk client column config counter cursor draft edge "
    "entry event factor field filter folder frame graph group handle header index invoice item job journal key label "
    "layer ledger line list lock marker matrix member message meter model node note object offset option order owner "
    "packet page parcel part path payment peer phase piece plan point policy pool price queue quota range rate reading "
    "record region report request result role route row rule sample schema score section segment series session shape "
    "signal slot source span stage state step stock store stream string sum table target task ticket timer token total "
    "trace track tree unit user value vector version view watch weight window worker zone"
).split()
_DEEDS = (
    "accept add align apply assign attach balance bind build check claim clean clear close collect compare "
    "compute copy count create decode define delete detach divide draw drop emit encode expand fetch fill find "
    "flush format gather get grow handle hold insert join keep limit link load lookup mark measure merge move "
    "note open order pack parse pick place plan press print prune pull push read reduce refresh release remove "
    "rename render repair reset resolve restore retry rotate save scan seek select send serve settle shift show "
    "sign skip sort split start stop store sum swap take test track trim turn update verify wait walk warn wrap "
    "write"
).split()
_SHAPES = (
    "def {deed}_{thing}({other}, {third}=None):",
    "    {thing} = {deed}_{other}({third})",
    "    if {thing} is None and not {other}.{third}:",
    "    for {thing} in {other}.{deed}_all({third}):",
    "        {thing}.{deed}({other}[{number}])",
    "    return {deed}({thing}, {other}.{third})",
    "    # {deed} the {thing} before the {other} of each {third}",
    "class {Thing}{Other}({Third}):",
    "    self.{thing}_{other} = {third}.{deed}({number})",
    "        raise {Thing}Error(f'{other} {number}: {third}')",
    "    assert {deed}_{thing}({other}) == {number}",
    "from {thing}.{other} import {deed}_{third}",
)
_LINES_OF_A_SHAPE = 170
_LONGEST_CHARS = 60


@functools.cache
def pool() -> tuple[str, ...]:
    """All lines, each ended by a newline, the shapes in turn; the same in every process and release."""
    rng = random.Random("locust-agents filler 1")
    return tuple(_line(shape, rng) for shape in _SHAPES * _LINES_OF_A_SHAPE)


def sample(chars: int) -> str:
    """Some `chars` characters, spread evenly over the pool and its shapes: what a calibration measures."""
    lines = pool()
    stride = 17  # shares no factor with the number of shapes, so that all of them are met
    return "".join(lines[(place * stride) % len(lines)] for place in range(chars // 38))


def text(chars: float, rng: random.Random) -> str:
    """Whole lines, of a total as near to `chars` characters as the last line allows (a few characters).

    Each dozen lines has every shape once: the characters of a token differ between shapes more than within one.
    """
    lines = pool()
    taken: list[str] = []
    left = chars
    while left > _LONGEST_CHARS:
        for shape in rng.sample(range(len(_SHAPES)), len(_SHAPES)):
            if left <= _LONGEST_CHARS:
                break
            taken.append(lines[int(rng.random() * _LINES_OF_A_SHAPE) * len(_SHAPES) + shape])
            left -= len(taken[-1])
    return "".join(taken) + _short(left, rng)


def words(count: int, rng: random.Random) -> str:
    """A few plain words, for a nonce or a name."""
    return " ".join(rng.choice(_THINGS) for _ in range(count))


def _line(shape: str, rng: random.Random) -> str:
    thing, other, third = rng.sample(_THINGS, 3)
    return (
        shape.format(
            thing=thing,
            other=other,
            third=third,
            deed=rng.choice(_DEEDS),
            number=rng.randrange(10, 1000),
            Thing=thing.title(),
            Other=other.title(),
            Third=third.title(),
        )
        + "\n"
    )


def _short(chars: float, rng: random.Random) -> str:
    """The line that comes nearest to what is left; none where even the shortest would miss by more."""
    candidates = rng.sample(pool(), 64)
    nearest = min(candidates, key=lambda line: abs(len(line) - chars))
    return nearest if abs(len(nearest) - chars) < chars else ""
