"""What a limit may be called, and what it demands: `[entry.][kind.]metric.stat` and a bound, held by each entry."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from locust_agents.records import CANARY
from locust_agents.scenarios import suggest, units

KINDS = ("first", "later", "side", "sub", "compaction", CANARY)


@dataclass(frozen=True, slots=True)
class Metric:
    """What is measured: `unit` is s, tok/s or share; `at_most` tells on which side of the bound it is held.

    `stats` are the statistics that may be held; none for a share, which is one figure already.
    """

    unit: str
    at_most: bool
    stats: tuple[str, ...] = ()


_WORST_HIGH = ("p50", "p90", "p95", "p99", "max", "mean")
_WORST_LOW = ("p50", "p90", "p95", "p99", "min", "mean")
_WAIT = Metric("s", True, _WORST_HIGH)
_SPEED = Metric("tok/s", False, _WORST_LOW)

METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        "ttft": _WAIT,
        "first_answer": _WAIT,
        "queue": _WAIT,
        "connect": _WAIT,
        "itl": _WAIT,
        "stall": _WAIT,
        "turn": _WAIT,
        "prefill": _SPEED,
        "decode": _SPEED,
        "reuse": Metric("share", False),
        "failures": Metric("share", True),
        "right": Metric("share", False),
        "same": Metric("share", False),
    }
)


@dataclass(frozen=True, slots=True)
class Limit:
    """One bound: `bound` in seconds, tokens/s or as a share 0 to 1; `text` is the bound as the user wrote it.

    `entry` and `kind` are None where the limit holds for each entry, or for the turns of every kind.
    """

    key: str
    entry: str | None
    kind: str | None
    metric: str
    stat: str | None
    bound: float
    text: str


class BoundError(ValueError):
    """The key of a limit reads, its bound does not."""


def parse_limit(key: str, value: object, entries: Collection[str]) -> Limit:
    """Read one limit; raises ValueError for its key, BoundError for its value, with a text of one line."""
    words = key.split(".")
    entry = _take(words, entries)
    kind = _take(words, KINDS)
    name = _take(words, METRICS)
    if name is None:
        raise ValueError(_no_metric(words, entry, kind, entries))
    metric = METRICS[name]
    stat = _stat(words, key, metric)
    return Limit(key, entry, kind, name, stat, _bound(value, metric), str(value).strip())


def with_default_failures(limits: Sequence[Limit], entries: Sequence[str]) -> tuple[Limit, ...]:
    """Add `failures: 0%` for every entry whose failures of all kinds have no limit yet."""
    held = {limit.entry for limit in limits if limit.metric == "failures" and limit.kind is None}
    if None in held:
        return tuple(limits)
    open_entries = [entry for entry in entries if entry not in held] if held else [None]
    return (*limits, *(_no_failures(entry) for entry in open_entries))


def _no_failures(entry: str | None) -> Limit:
    return Limit(f"{entry}.failures" if entry else "failures", entry, None, "failures", None, 0.0, "0%")


def _take(words: list[str], known: Collection[str]) -> str | None:
    return words.pop(0) if words and words[0] in known else None


def _no_metric(words: list[str], entry: str | None, kind: str | None, entries: Collection[str]) -> str:
    """Say what should stand where the first word left over stands: a metric, unless an entry or a kind may too."""
    if not words:
        return f"names no metric; add one of {suggest.listed(METRICS)}"
    word = words[0]
    known = [*(entries if entry is None and kind is None else ()), *(KINDS if kind is None else ()), *METRICS]
    guess = suggest.closest(word, known)
    if guess is not None and guess != word:
        return f"unknown word '{word}'; did you mean '{guess}'?"
    return f"'{word}' is no metric; write [entry.][kind.]metric.stat with one of {suggest.listed(METRICS)}"


def _stat(words: list[str], key: str, metric: Metric) -> str | None:
    if not metric.stats:
        if words:
            right = key.removesuffix("." + ".".join(words))
            raise ValueError(f"takes no statistic, it is one figure for the run; write {right}")
        return None
    if not words:
        raise ValueError(f"names no statistic; write {key}.p95, or one of {suggest.listed(metric.stats)}")
    if len(words) > 1 or words[0] not in metric.stats:
        raise ValueError(f"no statistic is called '{'.'.join(words)}'; they are {suggest.listed(metric.stats)}")
    return words[0]


def _bound(value: object, metric: Metric) -> float:
    read = {"s": units.duration, "share": units.share, "tok/s": units.number}[metric.unit]
    try:
        return read(value)
    except ValueError as error:
        raise BoundError(str(error)) from None
