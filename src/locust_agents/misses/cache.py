"""Causes of a miss that only who sees all sessions can tell: each gives its evidence in words, or None."""

from locust_agents.misses.evidence import SEAM_TOKENS, Evidence
from locust_agents.misses.own import GREW


def untrimmable(evidence: Evidence) -> str | None:
    """The cache holds whole prompts only, each in entries of its own, and none that begins this one is left.

    A turn is one entry, and one more where its last message is a user's. Answers go first as long as they are no fewer
    than such prompts, so that those of old may hold half of the entries. What is found of a session is one of its own
    earlier prompts, when its last turn is no beginning of this one: the answer is not sent back as it was written.
    """
    if evidence.is_trimmable is not False or evidence.entries == 0:
        return None
    says = "the model's cache cannot be cut back to an earlier token"
    entries, since = evidence.entries, evidence.turns_since
    if entries is not None and 2 * since + max(evidence.beside, entries // 2) + 1 >= entries:
        return f"{says}: a turn takes one or two of {entries} entries, half of them old; {_turns(since)} stored since"
    if (earlier := _earlier_prompt(evidence)) is not None:
        return f"{says}: only an earlier prompt of {earlier:,} tokens was a beginning of this one"
    return f"{says}: {evidence.remark}" if evidence.remark not in (None, "", GREW) else None


def evicted(evidence: Evidence) -> str | None:
    """More entries came behind the session's last one than the cache holds, and nothing of its own was found."""
    entries, newer, most = evidence.entries, evidence.newer, evidence.most_of_start
    if entries == 0:
        return "the cache keeps nothing: prompt-cache-size is 0"
    if entries is None or newer is None or newer + evidence.beside < entries or evidence.was_full is False:
        return None
    if evidence.found > most if most is not None else _earlier_prompt(evidence) is not None:
        return None
    beside = f", {evidence.beside} of turns under way" if evidence.beside else ""
    return f"the cache holds {entries} entries, and {newer} of other sessions came since{beside}"


def template(evidence: Evidence) -> str | None:
    """The bytes only grew, and all was found up to an answer: its words are other tokens when it is sent back."""
    earlier = _earlier_prompt(evidence)
    if earlier is None or evidence.remark not in (None, "", GREW):
        return None
    return f"{GREW}; what was found ends with the prompt of {earlier:,} tokens: its answer is written otherwise now"


def unexplained(evidence: Evidence) -> str:
    """What was looked at, in vain."""
    said = [evidence.remark] if evidence.remark else []
    if evidence.newer is not None:
        holds = "an unknown number of" if evidence.entries is None else str(evidence.entries)
        entries = "entry" if evidence.newer == 1 else "entries"
        said.append(f"{evidence.newer} {entries} came since, for a cache of {holds}")
    if evidence.was_full is False:
        said.append("which rank 0's log never saw full")
    return ", ".join(said) or "nothing is known of the turn before"


def _earlier_prompt(evidence: Evidence) -> int | None:
    """The session's prompt with whose end the cached tokens end; of the last one, part of the answer may be found."""
    found, prompts = evidence.found, evidence.prompts
    most = evidence.most_of_start
    if not prompts or (most is not None and found <= most and prompts[-1] > most):
        return None
    if found >= prompts[-1]:
        return prompts[-1]
    return next((prompt for prompt in reversed(prompts) if abs(prompt - found) <= SEAM_TOKENS), None)


def _turns(count: int) -> str:
    return "1 turn was" if count == 1 else f"{count} turns were"
