"""Decides which turns of a twin stand for which of the entry whose draws it repeats, and how much longer they waited.

Agent n of both draws the same sizes and pauses: turns correspond that have the same agent number, session number, turn
and attempt. They are drawn anew as those of two runs are, session by session.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from random import Random

from locust_agents import metrics, stages
from locust_agents.compare import bootstrap, comparing, draws, paired
from locust_agents.compare.bootstrap import Pool
from locust_agents.compare.paired import Design
from locust_agents.figures import Wait
from locust_agents.records import CANARY, TurnRecord

_WORST = 5
_MEDIAN = (0.5,)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two turns of which a client expects the same; waits in seconds from sent to the first token. `session` counts.

    Sub-agents' sessions have the number of their parent's before their own, as in `0.2`.
    """

    agent: int
    session: str
    turn: int
    attempt: int
    kind: str
    ttft: Wait
    twin_ttft: Wait
    prompt_tokens: int | None
    twin_prompt_tokens: int | None

    @property
    def least_s(self) -> float:
        """By how much `ttft` is the longer wait, at least: minus infinity where nobody knows how long the other was."""
        return -inf if self.twin_ttft.is_more else self.ttft.value - self.twin_ttft.value

    @property
    def most_s(self) -> float:
        """The same at most."""
        return inf if self.ttft.is_more else self.ttft.value - self.twin_ttft.value


@dataclass(frozen=True, slots=True)
class Pairs:
    """An entry's TTFT minus that of the entry that it `repeats`, of turns that correspond; in seconds.

    The median lies between `least_s` and `most_s`, which differ where waits that had not ended decide; None is no
    bound. `low_s` and `high_s` end its 95 % interval; both None where `is_few`: too few pairs, or sessions, to tell.
    `alike` of the pairs have prompts of one size. `worst` are the pairs with the largest differences.
    """

    entry: str
    repeats: str
    pairs: int
    alike: int
    sessions: int
    is_few: bool
    least_s: float | None
    most_s: float | None
    low_s: float | None
    high_s: float | None
    worst: tuple[Pair, ...]


def pairs(records: Sequence[TurnRecord], twins: Mapping[str, str]) -> tuple[Pairs, ...]:
    """For each entry of `twins` and the one that it repeats, in that order; canary turns are nobody's wait."""
    return tuple(_of(records, entry, repeats) for entry, repeats in twins.items())


def _of(records: Sequence[TurnRecord], entry: str, repeats: str) -> Pairs:
    both = paired.design(_plain(records, repeats), _plain(records, entry)).pairs
    made = [_pair(a, b) for a, b in both]
    # Of these alone: what only one of the two came to do says nothing of how the others can be drawn.
    design = paired.design([a for a, _ in both], [b for _, b in both])
    least, most = (_pool(both, values, design) for values in ([p.least_s for p in made], [p.most_s for p in made]))
    sessions = len({(pair.agent, pair.session) for pair in made})
    is_few = len(made) < comparing.LEAST_TURNS or sessions < paired.LEAST_SESSIONS
    low_s, high_s = (None, None) if is_few else _interval(least, most, design)
    return Pairs(
        entry,
        repeats,
        len(made),
        sum(paired.is_alike(a, b) for a, b in both),
        sessions,
        is_few,
        _median(least),
        _median(most),
        low_s,
        high_s,
        tuple(sorted((pair for pair in made if isfinite(pair.least_s)), key=lambda pair: -pair.least_s)[:_WORST]),
    )


def _plain(records: Iterable[TurnRecord], entry: str) -> list[TurnRecord]:
    """Turns of the entry that were sent, under names without entry and worker: by the numbers of agent and session."""
    sent = (record for record in records if record.entry == entry and record.kind != CANARY)
    return [_renamed(record) for record in sent if metrics.waits([record], "ttft")]


def _renamed(record: TurnRecord) -> TurnRecord:
    number = stages.numbered(record.agent)[1]
    return replace(record, entry="", agent=str(number), session=f"{number}#{record.session.rpartition('#')[2]}")


def _pair(a: TurnRecord, b: TurnRecord) -> Pair:
    (twin_ttft,), (ttft,) = metrics.waits([a], "ttft"), metrics.waits([b], "ttft")
    place = int(b.agent), b.session.rpartition("#")[2], b.turn, b.attempt or 1
    return Pair(*place, b.kind, ttft, twin_ttft, b.prompt_tokens, a.prompt_tokens)


def _pool(both: Sequence[tuple[TurnRecord, TurnRecord]], values: Sequence[float], design: Design) -> Pool:
    """A pair is of the unit that its first turn is of."""
    codes = (design.code(a, False) for a, _ in both)
    return bootstrap.pool(zip(values, codes, strict=True), _MEDIAN)


def _median(pool: Pool) -> float | None:
    return _finite(pool.figures(bootstrap.as_measured()[0])[0])


def _interval(least: Pool, most: Pool, design: Design) -> tuple[float | None, float | None]:
    """The low end of what the median is at least, and the high end of what it is at most, of the same draws."""
    rng, rounds = Random(draws.SEED), draws.affordable(comparing.ROUNDS, 2 * len(least.values))
    drawn = [bootstrap.drawn_again(design.units, rng)[0] for _ in range(rounds)]
    ends = (_ends(pool, drawn, design.units.drawn) for pool in (least, most))
    (low, _), (_, high) = ends
    return _finite(low), _finite(high)


def _ends(pool: Pool, drawn: Iterable[bootstrap.Weights], units: int) -> tuple[float | None, float | None]:
    (measured,) = pool.figures(bootstrap.as_measured()[0])
    effects = [effect for weights in drawn if (effect := pool.figures(weights)[0]) is not None]
    found = None if measured is None else bootstrap.interval(effects, measured, units)
    return (None, None) if found is None else found


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None
