"""What misses, thrown away prefill and the cap on prompts come to, over the records of a run."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from locust_agents.forecast.prefill_curve import Curve, price_of_miss
from locust_agents.outcome import Outcome
from locust_agents.records import TurnRecord


@dataclass(frozen=True, slots=True)
class Total:
    """Turns, tokens, and the seconds that reading these costs an idle server; None where nobody timed that."""

    turns: int
    tokens: int
    seconds: float | None


def by_cause(records: Iterable[TurnRecord], curve: Curve | None = None) -> Mapping[str, Total]:
    """Tokens that were read again, by the cause; of `first`, read for the first time. The most tokens first."""
    groups: dict[str, list[TurnRecord]] = {}
    for record in records:
        if record.miss is not None:
            groups.setdefault(record.miss, []).append(record)
    totals = {cause: _total(group, curve) for cause, group in groups.items()}
    return dict(sorted(totals.items(), key=lambda item: (-item[1].tokens, item[0])))


def capped(records: Iterable[TurnRecord], curve: Curve | None = None) -> Total | None:
    """Turns that were not sent because of `cap_prompt`, and what the others were spared; None without one."""
    group = [record for record in records if record.outcome is Outcome.CAPPED]
    new = [(record.capped_tokens or 0, record.expected_tokens or 0) for record in group]
    spared = [(max(0, tokens - expected), expected) for tokens, expected in new]
    return Total(len(group), sum(tokens for tokens, _ in spared), _price(spared, curve)) if group else None


def wasted(records: Iterable[TurnRecord]) -> Mapping[str, int]:
    """Tokens prefilled by attempts that ended before their first token, by profile; the most first."""
    found: Counter[str] = Counter()
    for record in records:
        if record.wasted_prefill_tokens:
            found[record.profile] += record.wasted_prefill_tokens
    return dict(found.most_common())


def tokens(record: TurnRecord) -> int:
    """What a record's miss made the server read: its own count, else what was expected and not found."""
    told: int | None = getattr(record, "miss_tokens", None)
    if told is not None:
        return max(0, told)
    found = record.cached_tokens or 0
    wanted = record.prompt_tokens if record.miss == "first" else record.expected_tokens
    return max(0, (wanted or 0) - found)


def _total(group: Sequence[TurnRecord], curve: Curve | None) -> Total:
    sizes = [(tokens(record), record.cached_tokens or 0) for record in group]
    return Total(len(group), sum(size for size, _ in sizes), _price(sizes, curve))


def _price(sizes: Iterable[tuple[int, int]], curve: Curve | None) -> float | None:
    """Each of the (tokens, tokens ahead of them) on the curve."""
    return None if curve is None else fsum(price_of_miss(curve, again, after) for again, after in sizes)
