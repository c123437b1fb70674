"""How the figures of a comparison are written, in the terminal and on a page, and which one looks for first."""

from collections.abc import Sequence
from math import inf

from locust_agents import limit_units
from locust_agents.compare.allowed import Allowance, is_of, is_over
from locust_agents.compare.comparing import Comparison, Figure, Group
from locust_agents.compare.figures import LEVEL
from locust_agents.compare.paired import Design
from locust_agents.compare.verdict import Verdict
from locust_agents.figures import Wait
from locust_agents.limits import METRICS
from locust_agents.quantities import UNKNOWN, gap

HEADS = ("", "A", "B", "change", "95 % interval", "B is")

_ALWAYS = (
    ("ttft", (LEVEL, "p50", "p95", "max")),
    ("queue", ("p95",)),
    ("stall", ("max",)),
    ("decode", ("p50",)),
    ("prefill", ("p50",)),
    ("reuse", (None,)),
    ("failures", (None,)),
    ("right", (None,)),
    ("same", (None,)),
)


def verdict_line(verdict: Verdict) -> str:
    """One sentence."""
    because = verdict.because
    reason = verdict.reason if because is None else described(because)
    start = f"B is {verdict.word}" if verdict.word != "not decided" else "not decided"
    if verdict.word == "not called better":
        return f"{start}: {'; '.join(verdict.doubts)} (else: {reason})"
    return f"{start}: {reason}" + "".join(f"; but {doubt}" for doubt in verdict.doubts)


def described(figure: Figure) -> str:
    """A figure that differs, in words: whose, from what to what, and by how much."""
    who = " ".join(part for part in (figure.entry, figure.kind, name(figure)) if part)
    a, b = _value(figure, figure.a), _value(figure, figure.b)
    # "0.31 → 0.52 s": a unit that both have is said once.
    number, _, unit = a.rpartition(" ")
    shown = number if unit and b.endswith(f" {unit}") else a
    return f"{who} {shown} → {b} ({_change(figure)}, 95 % interval {_interval(figure)})"


def shown(figures: Sequence[Figure], everything: bool = False) -> dict[Group, list[Figure]]:
    """By entry and kind; those that are noise are left out unless they are among the first that one looks for."""
    found: dict[Group, list[Figure]] = {}
    for figure in figures:
        if everything or _is_shown(figure):
            found.setdefault((figure.entry, figure.kind), []).append(figure)
    return found


def cells(figure: Figure) -> tuple[str, ...]:
    """Below `HEADS`; what too few turns say has no interval."""
    is_few = figure.word == "few"
    between = UNKNOWN if is_few else _interval(figure)
    values = (_value(figure, figure.a), _value(figure, figure.b), _change(figure))
    return (name(figure), *values, between, "too few" if is_few else figure.word)


def name(figure: Figure) -> str:
    """`TTFT p95`."""
    stat = "" if figure.stat is None else figure.stat
    return f"{limit_units.name(figure.metric)} {stat}".strip()


def drawn_from(figures: Sequence[Figure], design: Design) -> str:
    """What the figures of one group are of."""
    a, b = (max(figure.turns[side] for figure in figures) for side in (0, 1))
    units = design.units
    if design.piece_turns < inf:
        how = f"paired, in pieces of {design.piece_turns:.0f} turns"
    else:
        how = f"{units.of_a} sessions, paired" if units.paired else f"{units.of_a} sessions and {units.of_b}"
    return f"{a} turns and {b}, {how}"


def alone(found: Comparison) -> list[tuple[str, str]]:
    """A or B, and an entry that it alone had: what it did to the others is in the figures of the others."""
    return [
        ("A" if design.units.of_a else "B", entry)
        for entry, design in found.designs.items()
        if not (design.units.of_a and design.units.of_b)
    ]


def allowances(allowed: Sequence[Allowance], held: Comparison) -> list[tuple[str, str]]:
    """Held, broken or open, and what of it: one for each entry that an allowance is about."""
    return [pair for one in allowed for pair in _allowance(one, held)]


def _allowance(one: Allowance, held: Comparison) -> list[tuple[str, str]]:
    figures = [figure for figure in held.figures if is_of(figure, one)]
    if not figures:
        return [("open", f"{one.key}: too few turns for it")]
    return [(_held(figure, one), f"{one.key}: {_against(figure, one)}") for figure in figures]


def _held(figure: Figure, one: Allowance) -> str:
    if figure.word in ("open", "few"):
        return "open"
    return "broken" if is_over(figure, [one]) else "held"


def _against(figure: Figure, one: Allowance) -> str:
    unit = "pt" if METRICS[one.metric].unit == "share" else "%"
    return f"{figure.entry} {_change(figure)} ({_interval(figure)}), allowed {one.share * 100:g} {unit} worse"


def _is_shown(figure: Figure) -> bool:
    if figure.a is None or figure.b is None:
        return False
    is_usual = any(figure.metric == metric and figure.stat in stats for metric, stats in _ALWAYS)
    return is_usual or figure.word in ("worse", "better", "open")


def _value(figure: Figure, wait: Wait | None) -> str:
    if wait is not None and figure.metric == "itl":
        return gap(wait.value)
    return limit_units.of_metric(wait, figure.metric, 3)


def _change(figure: Figure) -> str:
    return UNKNOWN if figure.change is None else _signed(figure, figure.change)


def _interval(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return UNKNOWN
    return f"{_signed(figure, figure.low).rpartition(' ')[0]}…{_signed(figure, figure.high)}"


def _signed(figure: Figure, change: float) -> str:
    """A share's change is in points, of which one hundred are the whole."""
    if change > 99:  # 100 times as much is no matter of percent
        return f"{change + 1:.0f}-fold"
    digits = 1 if METRICS[figure.metric].unit == "share" and abs(change) < 0.1 else 0
    value = round(change * 100, digits) + 0.0  # no −0
    return f"{value:+.{digits}f}".replace("-", "−") + (" pt" if METRICS[figure.metric].unit == "share" else " %")
