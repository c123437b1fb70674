"""By how much B may be worse than A, as `--allow [entry.][kind.]metric.stat=10%` says, and whether it is more."""

from collections.abc import Sequence
from dataclasses import dataclass

from locust_agents.compare import comparing
from locust_agents.compare.comparing import Figure
from locust_agents.compare.figures import LEVEL
from locust_agents.errors import ScenarioError
from locust_agents.limits import METRICS, parse_limit
from locust_agents.scenarios import units

_STATS = ("p50", "p90", "p95", "p99", "max", "min")


@dataclass(frozen=True, slots=True)
class Allowance:
    """By how much B may be worse: `share` of A's figure, of a metric that is a share itself so many points."""

    key: str
    entry: str | None
    kind: str | None
    metric: str
    stat: str | None
    share: float


def read(texts: Sequence[str], entries: Sequence[str]) -> tuple[Allowance, ...]:
    """From `[entry.][kind.]metric.stat=10%`; raises ScenarioError that names the one which does not read."""
    return tuple(_allowance(text, entries) for text in texts)


def _allowance(text: str, entries: Sequence[str]) -> Allowance:
    key, is_given, value = text.partition("=")
    try:
        limit = parse_limit(key.strip(), "1", entries)  # any bound: its grammar is what is asked here
        if limit.metric not in comparing.COMPARED or limit.stat not in (None, *_STATS):
            raise ValueError(f"is not compared; its statistic may be one of {', '.join(_STATS)}")
        share = units.factor(value) if is_given else None
    except ValueError as error:
        raise ScenarioError(f"--allow {text}: {key.strip()}: {error}") from None
    if share is None:
        raise ScenarioError(f"--allow {text}: by how much may it be worse? write {key}=10%")
    if share > 1 and "%" not in value:  # 10 is ten times as much: a job of CI would hold whatever came
        raise ScenarioError(f"--allow {text}: {value} is {share:.0%}; write {value}%, or {share:.0%} if that is meant")
    return Allowance(key.strip(), limit.entry, limit.kind, limit.metric, limit.stat, share)


def asked(allowed: Sequence[Allowance], entries: Sequence[str]) -> list[comparing.Asked]:
    """The figures that decide about the allowances, and the one beside each that is most sure of a difference."""
    return [
        (entry, one.kind, one.metric, (LEVEL, one.stat))
        for one in allowed
        for entry in entries
        if one.entry in (None, entry)
    ]


def is_over(figure: Figure, allowed: Sequence[Allowance]) -> bool:
    """Its whole interval is worse than what is allowed."""
    if figure.word != "worse" or figure.low is None or figure.high is None:
        return False
    least = figure.low if METRICS[figure.metric].at_most else -figure.high
    return any(least > one.share for one in allowed if is_of(figure, one))


def is_of(figure: Figure, allowed: Allowance) -> bool:
    """Whether this figure is one that the allowance is about."""
    what = (figure.kind, figure.metric, figure.stat) == (allowed.kind, allowed.metric, allowed.stat)
    return what and allowed.entry in (None, figure.entry)
