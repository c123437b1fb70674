"""Decides when an agent may start turns in a run with stages, as spans of time that can be looked up in advance."""

from bisect import bisect
from collections.abc import Sequence
from math import ceil, inf

from locust_agents.stages import Plan

Window = tuple[float, float]
"""Seconds of the run from the first of which, until before the second, an agent may start turns."""


def windows(plan: Plan, entry: str, number: int) -> tuple[Window, ...]:
    """Those of the agent of this number, one for each stage that lets it in, in their order."""
    starts_s = (0.0, *plan.ends_s)
    spans = ((_let_in_s(plan, entry, number, span), span[1]) for span in zip(starts_s, plan.ends_s, strict=False))
    return tuple((in_s, end_s) for in_s, end_s in spans if in_s is not None)


def opens_s(found: Sequence[Window], at_s: float) -> float | None:
    """The first second from `at_s` on that is in a window; None where no more comes."""
    return next((max(in_s, at_s) for in_s, end_s in found if at_s < end_s), None)


def cut_s(plan: Plan, entry: str, number: int, at_s: float) -> float:
    """When a turn that began at `at_s` is cut because a stage has no place for its agent; infinite if never."""
    ends_s = plan.ends_s[:-1] if plan.cuts else ()  # what is open at the end of all is the drain's
    return next((end_s for end_s in ends_s if end_s > at_s and plan.must_go(entry, number, end_s)), inf)


def _let_in_s(plan: Plan, entry: str, number: int, span: Window) -> float | None:
    """When in the span of a stage the agent's place in the line of those who come in is reached."""
    begun_s, end_s = span
    if number >= plan.wanted(entry, begun_s):
        return None
    places = range(ceil((end_s - begun_s) / plan.apart_s) if plan.apart_s > 0 else 1)
    place = bisect(places, False, key=lambda place: plan.may_start(entry, number, begun_s + plan.apart_s * place))
    return begun_s + plan.apart_s * place if place < len(places) else None
