"""Decides why tokens of a prompt were read again though they had been computed: one cause, from evidence alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from locust_agents.misses import cache
from locust_agents.misses import own as misses_own
from locust_agents.misses.evidence import Evidence as Evidence
from locust_agents.records import TurnRecord

CAUSES = (
    "restart",
    "compaction",
    "history_rewritten",
    "volatile_text",
    "left_in_prefill",
    "not_stored_yet",
    "untrimmable",
    "evicted",
    "template",
    "first",
    "unexplained",
)
"""The first whose evidence is there and explains what is missing."""

Rule = Callable[[Evidence], str | None]


@dataclass(frozen=True, slots=True)
class Miss:
    """`tokens` are read again (of `first`: read for the first time), None where that is not known.

    `cause` is None where what one process sees does not tell; then `detail` is what is to be said in any case.
    """

    cause: str | None
    detail: str
    tokens: int | None


def own(evidence: Evidence) -> Miss | None:
    """As far as the agent's own process can tell; None where there is no miss, or no count to tell by."""
    if evidence.expected is None or evidence.cached is None:
        return None
    if not evidence.is_miss:
        return _beyond_expectation(evidence)
    if (found := _first_of(_OWN, evidence)) is not None:
        return found
    if (detail := misses_own.changed(evidence)) is not None and evidence.change is not None:
        return Miss(evidence.change.kind, detail, evidence.missing)
    if (detail := misses_own.not_stored_yet(evidence)) is not None:
        return Miss("not_stored_yet", detail, evidence.missing)
    return Miss(None, misses_own.remark(evidence), evidence.missing)


def of_cache(evidence: Evidence) -> Miss:
    """Of a miss that `own` could not explain, with what all sessions did."""
    found = _first_of(_OF_CACHE, evidence)
    return found or Miss("unexplained", cache.unexplained(evidence), evidence.missing)


def decide(evidence: Evidence) -> Miss | None:
    """With everything known at once."""
    found = own(evidence)
    if found is None or found.cause is not None:
        return found
    return of_cache(replace(evidence, remark=found.detail))


def marked(record: TurnRecord, miss: Miss) -> TurnRecord:
    """The record with this miss."""
    told: dict[str, Any] = {"miss": miss.cause, "miss_detail": miss.detail, "miss_tokens": miss.tokens}
    return replace(record, **{name: value for name, value in told.items() if hasattr(record, name)})


_OWN: Mapping[str, Rule] = {"restart": misses_own.restart, "compaction": misses_own.compaction}
_OF_CACHE: Mapping[str, Rule] = {
    "untrimmable": cache.untrimmable,
    "evicted": cache.evicted,
    "template": cache.template,
}


def _first_of(rules: Mapping[str, Rule], evidence: Evidence) -> Miss | None:
    found = ((cause, detail) for cause, rule in rules.items() if (detail := rule(evidence)) is not None)
    return next((Miss(cause, detail, evidence.missing) for cause, detail in found), None)


def _beyond_expectation(evidence: Evidence) -> Miss | None:
    """All that could be expected was found; what was being computed, or had been for nothing, could not be expected."""
    if (detail := misses_own.left_in_prefill(evidence)) is not None:
        return Miss("left_in_prefill", detail, misses_own.left_again(evidence))
    if (detail := misses_own.not_stored_yet(evidence)) is not None and misses_own.is_twin_missed(evidence):
        return Miss("not_stored_yet", detail, misses_own.twin_again(evidence))
    if evidence.expected or not evidence.is_cold:
        return None
    new = None if evidence.prompt is None else evidence.prompt - evidence.found
    return Miss("first", "no start of it had been computed", new)
