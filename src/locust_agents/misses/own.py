"""Causes of a miss that the agent's own process can see: each gives its evidence in words, or None."""

from locust_agents.misses.changed import Change
from locust_agents.misses.evidence import CALIBRATED_SHARE, SEAM_TOKENS, Evidence

GREW = "the bytes only grew"

# An estimate of tokens from bytes is off by this share, as tools, code and prose cost differently, and by some tokens.
_BYTES_SHARE, _BYTES_TOKENS = 0.15, 64


def restart(evidence: Evidence) -> str | None:
    """Another start of the server had answered the turn before; its cache is gone."""
    before = evidence.epoch_before
    if before is None or before == evidence.epoch:
        return None
    return f"start {evidence.epoch} of the server answered, the turn before was answered by start {before}"


def compaction(evidence: Evidence) -> str | None:
    """The history was replaced by a summary, or that was asked for in another way than the turns."""
    if not evidence.is_compacted or evidence.change is None:
        return None
    return f"the history was compacted: {evidence.change}"


def changed(evidence: Evidence) -> str | None:
    """Bytes that were sent before are not the same, and what stands ahead of them was found."""
    change = evidence.change
    if change is None or not _explains(change, evidence):
        return None
    return str(change)


def left_in_prefill(evidence: Evidence) -> str | None:
    """An attempt that was left had computed tokens which are not found."""
    if left_again(evidence) <= SEAM_TOKENS:
        return None
    where = "in its answer" if evidence.was_answering else "before its first token"
    return f"an attempt that had prefilled {evidence.left_tokens:,} tokens was left {where}"


def left_again(evidence: Evidence) -> int:
    """Tokens of attempts that were left which are read again: what was found beyond the expectation is theirs."""
    return evidence.left_tokens - max(0, -evidence.missing)


def not_stored_yet(evidence: Evidence) -> str | None:
    """Another session was still computing the same start, which can be found only when its prefill has ended."""
    if evidence.twin is None or (evidence.prompt_before is not None and not evidence.is_compacted):
        return None
    return f"{evidence.twin.session} was still prefilling the same start"


def twin_again(evidence: Evidence) -> int | None:
    """Tokens of the twin's start which are read again, None where its size is not known."""
    twin = evidence.twin
    return None if twin is None or twin.tokens is None else twin.tokens - evidence.found


def is_twin_missed(evidence: Evidence) -> bool:
    """More of the twin's start is missing than its size may be off by."""
    again = twin_again(evidence)
    if again is None:
        return evidence.is_cold
    return again > max(SEAM_TOKENS, CALIBRATED_SHARE * (again + evidence.found))


def remark(evidence: Evidence) -> str:
    """What is to be said beside whatever cause is found elsewhere."""
    words = []
    if evidence.change is not None:
        ahead = f"of some {_ahead(evidence.change, evidence):,.0f} tokens ahead of it {evidence.found:,} were found"
        words.append(f"{evidence.change}, but {ahead}")
    elif evidence.prompt_before is not None:
        words.append(GREW)
    if evidence.left_tokens:
        words.append("an attempt was left since")
    return ", ".join(words)


def _explains(change: Change, evidence: Evidence) -> bool:
    """A change costs what stands behind it: most of what stands ahead must have been found, and no more of a head."""
    if change.part == 0:
        return evidence.most_of_start is None or evidence.found <= evidence.most_of_start
    return evidence.found >= _ahead(change, evidence) * (1 - _BYTES_SHARE) - _BYTES_TOKENS


def _ahead(change: Change, evidence: Evidence) -> float:
    """Tokens that stand ahead of a change, from its share of the bytes; of one in the head, the most there may be."""
    start = evidence.start or 0
    return start + change.share * max(0, (evidence.prompt_before or start) - start)
