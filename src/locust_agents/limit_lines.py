"""How a limit's judgement is said: held or not, by how much, and which turn did worst."""

from collections.abc import Sequence

from locust_agents.figures import Wait
from locust_agents.limit_units import bound, in_unit
from locust_agents.limits import METRICS
from locust_agents.quantities import WIDTH, joined
from locust_agents.summary import worst
from locust_agents.verdict import Judgement

_LABEL = 7
_WORDS = (("broken", False), ("held", True), ("open", None))
_WITHHELD = "withheld"


def lines(judgements: Sequence[Judgement], is_withheld: bool = False) -> list[str]:
    """Of each limit, what the entry that did worst made of it: broken ones first.

    A line for each limit where one was broken; else as few lines as they fit in. Where the verdict `is_withheld`, what
    was measured is said and not what it means.
    """
    chosen = worst(judgements)
    if is_withheld:
        return _indented(_WITHHELD, [sentence(one, whole=False) for one in chosen])
    each = any(one.held is False for one in chosen)
    return [
        line for word, held in _WORDS for line in _labelled(word, [one for one in chosen if one.held is held], each)
    ]


def sentence(judgement: Judgement, whole: bool = True) -> str:
    """One judgement; not `whole` without the margin and the worst turn, which a limit that was held can do without."""
    limit, value = judgement.limit, judgement.value
    key = limit.key
    if value is None:
        return f"{key} (no turn to judge)"
    if judgement.stat != limit.stat and limit.stat is not None:
        key += f" (too few turns, its {judgement.stat})"
    if judgement.held is None:
        return f"{key} {in_unit(value, limit)} (limit {bound(limit)}, no wait had ended)"
    return f"{key} {_compared(judgement, value)}{_details(judgement, value) if whole else ''}"


def _labelled(word: str, judgements: Sequence[Judgement], each: bool) -> list[str]:
    if each:
        return [line for one in judgements for line in _indented(word, [sentence(one)])]
    return _indented(word, [sentence(one, whole=False) for one in judgements])


def _indented(word: str, parts: Sequence[str]) -> list[str]:
    """The parts behind the word, in as many lines as they need."""
    width = max(_LABEL, len(word) + 1)
    return [f"{'' if place else word:{width}}{line}" for place, line in enumerate(joined(parts, " · ", WIDTH - width))]


def _compared(judgement: Judgement, value: Wait) -> str:
    limit = judgement.limit
    shown, at_most = in_unit(value, limit), METRICS[limit.metric].at_most
    if judgement.held and limit.bound == 0 and at_most:
        return shown
    sign = {(True, True): "≤", (True, False): "≥", (False, True): ">", (False, False): "<"}
    return f"{shown} {sign[bool(judgement.held), at_most]} {bound(limit)}"


def _details(judgement: Judgement, value: Wait) -> str:
    """By how much, unless the bound is nothing at all; then where, by the turn's name or else the entry's."""
    margin = abs(judgement.margin or 0.0)
    by = f" by {in_unit(Wait(margin, value.is_more), judgement.limit)}" if margin and judgement.limit.bound else ""
    if judgement.worst is not None:
        return f"{by}, worst {judgement.worst}"
    return by if judgement.held or judgement.limit.entry is not None else f"{by} ({judgement.entry})"
