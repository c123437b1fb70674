"""Decides what is wrong between hosts: versions and models that differ, and memory against the share of the weights."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from locust_agents.cluster.probe.answer import VERSIONS, Answer
from locust_agents.cluster.probe.findings import Finding, install, is_on_hub
from locust_agents.cluster.probe.script import Question
from locust_agents.cluster.probe.sites import Site

WHOLE = 1.2
"""A rank's memory per byte of its share: what it keeps whole (embeddings, norms), a prefill step and the caches.

An estimate on the low side, not a measurement: below it a start is not worth trying.
"""
SYSTEM_BYTES = 2 * 10**9
"""What macOS and its services keep for themselves; an estimate too."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One host, what it was asked, and its whole answer."""

    site: Site
    question: Question
    answer: Answer


def across(asked: tuple[Asked, ...], ranks: int, pipeline: bool) -> Mapping[Site, list[Finding]]:
    """What each host differs in from the first that told, or lacks for its part of the whole."""
    is_partial = pipeline and any(is_on_hub(one.question.model) for one in asked)  # mlx_lm loads a rank's part only
    found = {
        one.site: [
            *_versions(one, asked),
            *(() if is_partial else (*_weights(one, asked), *_memory(one, asked, ranks))),
            *_same_machine(one, asked),
        ]
        for one in asked
    }
    return {site: findings for site, findings in found.items() if findings}


def size(count: int) -> str:
    """Bytes as GB (10^9) or less, in three figures or more."""
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count >= unit:
            return f"{count / unit:.{0 if count >= 100 * unit else 1}f} {name}"
    return f"{count} bytes"


def _versions(one: Asked, asked: tuple[Asked, ...]) -> Iterator[Finding]:
    for name in VERSIONS:
        own, first = one.answer.versions.get(name), next((each for each in asked if name in each.answer.versions), None)
        there = first.answer.versions[name] if first else None
        cure = install(one.question, one.site, name, there)
        differs = f"{name} {own}, but {there} on rank {first.site.ranks[0] if first else 0}"
        if name in one.answer.missing and name != "python":
            yield Finding(f"{name} is not installed for {one.question.python}: {cure}")
        elif own is None or own == there:
            continue
        elif name == "python":
            text = f"{differs}: make them the same, since ranks send each other pickled requests"
            yield Finding(text, is_fault=False)
        else:
            yield Finding(f"{differs}: {cure}")


def _weights(one: Asked, asked: tuple[Asked, ...]) -> Iterator[Finding]:
    first = next((each for each in asked if each.answer.weight_bytes), None)
    if first is None or not one.answer.weight_bytes:
        return
    own, there = one.answer, first.answer
    if (own.weight_bytes, own.weight_files) != (there.weight_bytes, there.weight_files):
        yield Finding(
            f"model of {own.weight_bytes:,} bytes in {own.weight_files} files, but {there.weight_bytes or 0:,} in"
            f" {there.weight_files} on rank {first.site.ranks[0]}: copy it from there again (rsync -a --delete)"
        )


def _memory(one: Asked, asked: tuple[Asked, ...], ranks: int) -> Iterator[Finding]:
    weights = max((other.answer.weight_bytes or 0 for other in asked), default=0)
    total = one.answer.memory_bytes
    together = sum(len(other.site.ranks) for other in asked if _is_same_machine(one, other))
    need = weights / ranks * together * WHOLE + SYSTEM_BYTES
    if weights and total and need >= total:
        here = f" × {together} of them there" if together > 1 else ""
        yield Finding(
            f"memory {size(total)}, and {size(int(need))} are needed ({size(weights)} of weights ÷ {ranks} ranks{here}"
            f" × {WHOLE:g} for what a rank keeps whole, prompts and caches, + {size(SYSTEM_BYTES)} for the system):"
            " add hosts, or take a smaller quantization"
        )


def _same_machine(one: Asked, asked: tuple[Asked, ...]) -> Iterator[Finding]:
    for other in asked[: asked.index(one)]:
        if _is_same_machine(one, other):
            text = f"is the machine of rank {other.site.ranks[0]} ({other.site.name}) under another name"
            yield Finding(f"{text}: they share its memory and its processor", is_fault=False)
            return


def _is_same_machine(one: Asked, other: Asked) -> bool:
    return one is other or (one.answer.boot is not None and one.answer.boot == other.answer.boot)
