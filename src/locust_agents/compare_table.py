"""What a person reads of a comparison, in 80 columns: the verdict, what changed, then figures of A beside B's."""

import re
import textwrap
from collections.abc import Sequence
from math import inf

from rich.cells import cell_len

from locust_agents.compare import Comparison, Figure
from locust_agents.compare_allowed import Allowance, is_of, is_over
from locust_agents.compare_figures import LEVEL
from locust_agents.compare_verdict import Verdict
from locust_agents.figures import Wait
from locust_agents.limits import METRICS
from locust_agents.paired import Design
from locust_agents.quantities import UNKNOWN, WIDTH, gap, seconds, speed

_NAMES = {"ttft": "TTFT", "itl": "ITL", "first_answer": "first answer"}
_COLUMNS = (20, 9, 9, 9, 18, 7)
"""Name, A, B, change, its interval, what it is: 80 with the blanks between and two ahead."""
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
    who = " ".join(part for part in (figure.entry, figure.kind, _name(figure)) if part)
    a, b = _value(figure, figure.a), _value(figure, figure.b)
    # "0.31 → 0.52 s": a unit that both have is said once.
    number, _, unit = a.rpartition(" ")
    shown = number if unit and b.endswith(f" {unit}") else a
    return f"{who} {shown} → {b} ({_change(figure)}, 95 % interval {_interval(figure)})"


def render(
    verdict: Verdict,
    changed: Sequence[str],
    found: Comparison,
    allowed: Sequence[Allowance] = (),
    held: Comparison | None = None,
    everything: bool = False,
) -> str:
    """All lines; figures that are noise are left out unless they are among the first that one looks for."""
    shown = [figure for figure in found.figures if everything or _is_shown(figure)]
    rows = [line for group in dict.fromkeys(map(_group, shown)) for line in _table(group, shown, found)]
    left_out = len(found.figures) - len(shown)
    rest = [f"{left_out} more: noise, or too few turns (--all shows them)"] if left_out else []
    return "\n".join(
        [
            *_wrapped(verdict_line(verdict)),
            *changed,
            *_alone(found),
            *(() if held is None else _allowances(allowed, held)),
            _row(("", "A", "B", "change", "95 % interval", "B is")),
            *rows,
            *rest,
        ]
    )


def _wrapped(text: str) -> list[str]:
    """In lines, of which none begins with a unit."""
    lines = textwrap.wrap(re.sub(r"(?<=\d) (?=\S)", "\u00a0", text), WIDTH, subsequent_indent="  ")
    return [line.replace("\u00a0", " ") for line in lines]


def _alone(found: Comparison) -> list[str]:
    """Entries that one run did not have: what they did to the others is in the figures of the others."""
    return [
        f"only {'A' if design.units.of_a else 'B'}   has turns of {entry}"
        for entry, design in found.designs.items()
        if not (design.units.of_a and design.units.of_b)
    ]


def _group(figure: Figure) -> tuple[str, str | None]:
    return figure.entry, figure.kind


def _table(group: tuple[str, str | None], shown: Sequence[Figure], found: Comparison) -> list[str]:
    figures = [figure for figure in shown if _group(figure) == group]
    return [_heading(group, figures, found.designs[group[0]]), *map(_line, figures)]


def _heading(group: tuple[str, str | None], figures: Sequence[Figure], design: Design) -> str:
    a, b = (max(figure.turns[side] for figure in figures) for side in (0, 1))
    units = design.units
    if design.piece_turns < inf:
        how = f"paired, in pieces of {design.piece_turns:.0f} turns"
    else:
        how = f"{units.of_a} sessions, paired" if units.paired else f"{units.of_a} sessions and {units.of_b}"
    return f"{' '.join(filter(None, group))}   {a} turns and {b}, {how}"


def _is_shown(figure: Figure) -> bool:
    if figure.a is None or figure.b is None:
        return False
    is_usual = any(figure.metric == metric and figure.stat in stats for metric, stats in _ALWAYS)
    return is_usual or figure.word in ("worse", "better", "open")


def _line(figure: Figure) -> str:
    word = {"few": "too few"}.get(figure.word, figure.word)
    is_few = figure.word == "few"
    cells = (_value(figure, figure.a), _value(figure, figure.b), _change(figure))
    return _row((_name(figure), *cells, UNKNOWN if is_few else _interval(figure), word))


def _row(cells: Sequence[str]) -> str:
    padded = [
        cell + " " * (width - cell_len(cell)) if place in (0, 5) else " " * (width - cell_len(cell)) + cell
        for place, (cell, width) in enumerate(zip(cells, _COLUMNS, strict=True))
    ]
    return ("  " + " ".join(padded)).rstrip()


def _name(figure: Figure) -> str:
    stat = "" if figure.stat is None else figure.stat
    return f"{_NAMES.get(figure.metric, figure.metric)} {stat}".strip()


def _value(figure: Figure, wait: Wait | None) -> str:
    if wait is None:
        return UNKNOWN
    match METRICS[figure.metric].unit:
        case "share":
            return f"{wait.value * 100:.3g} %"
        case "tok/s":
            return f"{speed(wait.value)} tok/s"
        case _:
            return gap(wait.value) if figure.metric == "itl" else seconds(wait)


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


def _allowances(allowed: Sequence[Allowance], held: Comparison) -> list[str]:
    return [line for one in allowed for line in _allowance(one, held)]


def _allowance(one: Allowance, held: Comparison) -> list[str]:
    figures = [figure for figure in held.figures if is_of(figure, one)]
    if not figures:
        return [f"{'open':9}{one.key}: too few turns for it"]
    return [f"{_held(figure, one):9}{one.key}: {_against(figure, one)}" for figure in figures]


def _held(figure: Figure, one: Allowance) -> str:
    if figure.word in ("open", "few"):
        return "open"
    return "broken" if is_over(figure, [one]) else "held"


def _against(figure: Figure, one: Allowance) -> str:
    unit = "pt" if METRICS[one.metric].unit == "share" else "%"
    return f"{figure.entry} {_change(figure)} ({_interval(figure)}), allowed {one.share * 100:g} {unit} worse"
