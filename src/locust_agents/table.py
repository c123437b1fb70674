"""What a person reads at the end of a run, in 80 columns: figures with their units, unknown as a dash."""

import io
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from locust_agents import summary as summaries
from locust_agents.figures import Wait
from locust_agents.limits import METRICS, Limit
from locust_agents.summary import Row, Summary
from locust_agents.verdict import Judgement

WIDTH = 80
UNKNOWN = "–"
_COLUMNS = ("entry", "kind", "turns", "fail", "prompt p50/max", "queue p95", "TTFT p50", "p95", "max", "reuse")


def render(summary: Summary, header: Sequence[str] = ()) -> str:
    """The header's lines, a row for each kind of each entry, then speeds, endings that were not ok, and limits."""
    lines = [*header, *_rows(summary.rows), *_speeds(summary), *_endings(summary), *_limits(summary)]
    return "\n".join(line.rstrip() for line in lines)


def seconds(wait: Wait | None) -> str:
    """A wait with its unit; `>` before one that had not ended."""
    return UNKNOWN if wait is None else f"{'> ' if wait.is_more else ''}{_seconds(wait.value)}"


def count(value: float | None) -> str:
    """A number of tokens, in thousands from a thousand on."""
    if value is None:
        return UNKNOWN
    return f"{value / 1000:.1f}k" if value >= 1000 else f"{value:.0f}"


def _seconds(value: float) -> str:
    if value < 0.1:
        return f"{value * 1000:.0f} ms"
    return f"{value:.2f} s" if value < 10 else f"{value:.1f} s" if value < 100 else f"{value:.0f} s"


def _share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{min(value, 1.0) * 100:.0f} %"


def _rows(rows: Iterable[Row]) -> list[str]:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="")
    for place, column in enumerate(_COLUMNS):
        table.add_column(column, justify="left" if place < 2 else "right", no_wrap=True, overflow="ellipsis")
    for row in rows:
        table.add_row(*_cells(row))
    out = io.StringIO()
    Console(file=out, width=WIDTH, color_system=None, highlight=False, markup=False).print(table)
    return out.getvalue().splitlines()


def _cells(row: Row) -> tuple[str, ...]:
    prompts = (count(None if wait is None else wait.value) for wait in (row.prompt_p50, row.prompt_max))
    waits = (row.queue_p95, row.ttft_p50, row.ttft_p95, row.ttft_max)
    return (
        row.entry,
        row.kind,
        str(row.turns),
        str(row.failures),
        " / ".join(prompts),
        *(seconds(wait) for wait in waits),
        _share(row.reuse),
    )


def _speeds(summary: Summary) -> list[str]:
    each = UNKNOWN if summary.decode_each is None else f"{summary.decode_each.value:.0f}"
    everybody = UNKNOWN if summary.decode_all is None else f"{summary.decode_all:.0f}"
    gaps = "/".join(UNKNOWN if gap is None else f"{gap * 1000:.0f}" for gap in (summary.itl_p50_s, summary.itl_p99_s))
    bound = "≥ " if summary.prefill_is_bound else ""
    prefill = UNKNOWN if summary.prefill is None else f"{bound}{count(summary.prefill.value)}"
    return [
        f"decode {each} tok/s each, {everybody} all   ITL p50/p99 {gaps} ms   stall {seconds(summary.stall_max)}",
        f"prefill {prefill} tok/s   tool calls {summary.tool_calls} ({summary.bad_tool_calls} bad)",
    ]


def _endings(summary: Summary) -> list[str]:
    others = [f"{number} {outcome}" for outcome, number in sorted(summary.outcomes.items()) if outcome != "ok"]
    return [f"ended  {summary.outcomes.get('ok', 0)} ok, {', '.join(others)}"] if others else []


def _limits(summary: Summary) -> list[str]:
    judgements = summaries.worst(summary.judgements)
    return [
        line
        for word, held in (("broken", False), ("held", True), ("open", None))
        for line in _wrapped(word, [_judgement(one) for one in judgements if one.held is held])
    ]


def _judgement(judgement: Judgement) -> str:
    limit = judgement.limit
    key = limit.key
    if judgement.stat != limit.stat and limit.stat is not None:
        key += f" (too few turns, its {judgement.stat})"
    if judgement.value is None:
        return f"{key} (no turn to judge)"
    sign = "≤" if METRICS[limit.metric].at_most else "≥"
    who = f" ({judgement.entry})" if judgement.held is False and limit.entry is None else ""
    if judgement.held is False:
        sign = ">" if sign == "≤" else "<"
    return f"{key} {_in_unit(judgement.value, limit)} {sign} {limit.text}{who}"


def _in_unit(wait: Wait, limit: Limit) -> str:
    match METRICS[limit.metric].unit:
        case "share":
            return f"{wait.value * 100:.3g} %"
        case "tok/s":
            return f"{wait.value:.0f} tok/s"
        case _:
            return seconds(wait)


def _wrapped(word: str, parts: Sequence[str]) -> list[str]:
    """The parts behind the word, broken between parts so that lines fit."""
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + 3 + len(part) <= WIDTH:
            lines[-1] += f" · {part}"
        else:
            lines.append(f"{word if not lines else '':6} {part}")
    return lines
