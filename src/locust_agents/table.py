"""What a person reads at the end of a run, in 80 columns: figures with their units, unknown as a dash."""

import itertools
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

from locust_agents import limit_lines, trust, twin_lines
from locust_agents.misses import lines as misses_lines
from locust_agents.quantities import WIDTH, gap, joined, share, speed
from locust_agents.quantities import count as count
from locust_agents.quantities import seconds as seconds
from locust_agents.right import answer_check_totals
from locust_agents.summary import Row, Summary

_LABEL = 7
_COLUMNS = ("entry", "kind", "turns", "fail", "prompt p50/max", "queue p95", "TTFT p50", "p95", "max", "reuse")
_LEFT = ("entry", "kind")

Cells = tuple[str, ...]


def render(summary: Summary, header: Sequence[str] = (), is_withheld: bool = False) -> str:
    """The header's lines, a row for each kind of each entry, then speeds, endings that were not ok, pairs, and limits.

    The verdict is left out where it `is_withheld`.
    """
    lines = [
        *header,
        *_rows(summary.rows),
        *_speeds(summary),
        *misses_lines.lines(summary),
        *_endings(summary),
        *answer_check_totals.lines(summary.answers),
        *twin_lines.lines(summary.pairs),
        *limit_lines.lines(summary.judgements, is_withheld),
    ]
    return "\n".join(_cut(line).rstrip() for line in lines)


def _rows(rows: Sequence[Row]) -> list[str]:
    cells = [_COLUMNS, *map(_cells, rows)]
    if sum(_widths(cells)) + len(_COLUMNS) - 1 <= WIDTH:
        return _aligned(cells)
    head, *lines = _aligned([("", *line[1:]) for line in cells])
    named = itertools.groupby(zip(rows, lines, strict=True), key=lambda pair: pair[0].entry)
    return [head, *(line for entry, pairs in named for line in (entry, *(line for _, line in pairs)))]


def _aligned(cells: Sequence[Cells]) -> list[str]:
    """Lines of a table, with what room is left put before the figures, from the left."""
    widths = _widths(cells)
    room = WIDTH - sum(widths) - len(widths) + 1
    for place in range(_COLUMNS.index("prompt p50/max"), len(widths)):
        widths[place] += place - _COLUMNS.index("prompt p50/max") < room
    return [" ".join(map(_padded, line, widths, _COLUMNS)) for line in cells]


def _widths(cells: Sequence[Cells]) -> list[int]:
    return [max(map(cell_len, column)) for column in zip(*cells, strict=True)]


def _padded(text: str, width: int, column: str) -> str:
    blanks = " " * (width - cell_len(text))
    return text + blanks if column in _LEFT else blanks + text


def _cut(line: str) -> str:
    return line if cell_len(line) <= WIDTH else set_cell_size(line, WIDTH - 1) + "…"


def _cells(row: Row) -> Cells:
    prompts = (count(None if wait is None else wait.value) for wait in (row.prompt_p50, row.prompt_max))
    waits = (row.queue_p95, row.ttft_p50, row.ttft_p95, row.ttft_max)
    return (
        row.entry,
        row.kind,
        str(row.turns),
        str(row.failures),
        " / ".join(prompts),
        *(seconds(wait) for wait in waits),
        share(row.reuse),
    )


def _speeds(summary: Summary) -> list[str]:
    each, prefill = (speed(None if wait is None else wait.value) for wait in (summary.decode_each, summary.prefill))
    bound = "≥ " if summary.prefill_is_bound else ""
    parts = (
        f"decode {each} tok/s each, {speed(summary.decode_all)} all",
        _itl(summary),
        f"stall {seconds(summary.stall_max)}",
        f"prefill {bound}{prefill} tok/s",
        *misses_lines.tool_calls(summary),
    )
    return _labelled("speed", parts, "   ")


def _itl(summary: Summary) -> str:
    if trust.is_withheld(summary.clumped):
        return f"ITL withheld ({share(summary.clumped)} of tokens came in clumps)"
    return f"ITL p50 {gap(summary.itl_p50_s)}, p99 {gap(summary.itl_p99_s)}"


def _endings(summary: Summary) -> list[str]:
    others = [f"{number} {outcome}" for outcome, number in sorted(summary.outcomes.items()) if outcome != "ok"]
    return _labelled("ended", [f"{summary.outcomes.get('ok', 0)} ok", *others], ", ") if others else []


def _labelled(word: str, parts: Sequence[str], between: str) -> list[str]:
    """The parts behind a word, in as many lines as they need."""
    lines = joined(parts, between, WIDTH - _LABEL)
    return [f"{word if number == 0 else '':{_LABEL}}{line}" for number, line in enumerate(lines)]
