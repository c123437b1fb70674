"""The tables of a run's page: limits, the rows of the terminal, speeds, what was read again, and what failed."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from locust_agents import course_lines, figures
from locust_agents.figures import Wait
from locust_agents.limit_units import in_unit, side
from locust_agents.limits import Limit
from locust_agents.misses import lines
from locust_agents.pages.run import Told, name_of
from locust_agents.pages.table import bar, facts, table
from locust_agents.quantities import UNKNOWN, count, gap, seconds, share, speed
from locust_agents.records import TurnRecord
from locust_agents.summary import Row, Summary
from locust_agents.verdict import Judgement

_STATE = {False: "broken", None: "open", True: "held"}
# An error's text may be a whole page of HTML from a proxy.
_LONGEST_ERROR = 600


def limits(summary: Summary) -> Markup:
    """Each limit for each entry, broken ones first."""
    order = list(_STATE)
    judged = sorted(summary.judgements, key=lambda one: order.index(one.held))
    return table(
        "Each limit is to be held by each entry; one is open where no turn, or none that had ended, could be judged",
        ("", "limit", "entry", "measured", "bound", "margin", "worst turn"),
        [_limit(one) for one in judged],
        numbers=(3, 4, 5),
        tones=[_STATE[one.held] for one in judged],
    )


def rows(summary: Summary) -> Markup:
    """As the terminal has them."""
    heads = ("entry", "kind", "turns", "failed", "prompt p50", "max", "queue p95", "max")
    return table(
        "Turns by entry and kind; prompts in tokens; – is unknown, or of too few turns (p95 needs 20)",
        (*heads, "TTFT p50", "p95", "max", "reuse"),
        [_cells(row) for row in summary.rows],
        numbers=range(2, 12),
    )


def speeds(summary: Summary) -> Markup:
    """What is one figure for the whole run."""
    each, prefill = (speed(None if wait is None else wait.value) for wait in (summary.decode_each, summary.prefill))
    lag = UNKNOWN if summary.loop_lag_p99 is None else gap(summary.loop_lag_p99.value)
    reuse = None if summary.reuse is None else " of ".join(map(share, summary.reuse)) + " possible"
    endings = ", ".join(f"{number:,} {outcome}" for outcome, number in sorted(summary.outcomes.items()))
    return facts(
        {
            "turns": f"{summary.turns:,} in {summary.seconds:.0f} s",
            "ended": endings or UNKNOWN,
            "prefill": f"{'≥ ' if summary.prefill_is_bound else ''}{prefill} tok/s",
            "decode, each turn": f"{each} tok/s",
            "decode, all together": f"{speed(summary.decode_all)} tok/s",
            "between tokens": f"p50 {gap(summary.itl_p50_s)}, p99 {gap(summary.itl_p99_s)}",
            "longest stall": seconds(summary.stall_max),
            "prompt tokens from the cache": reuse or UNKNOWN,
            "tool calls": "; ".join(lines.tool_calls(summary)).removeprefix("tool calls "),
            f"client lag {figures.tail(summary.turns)}": lag,
        }
    )


def course(summary: Summary) -> list[str]:
    """What must be known of the run to believe its figures."""
    return course_lines.parts(summary)


def misses(told: Told) -> Markup:
    """By cause, with tokens and the seconds that an idle server needs to read them."""
    totals = [(cause, _total(total)) for cause, total in _misses(told).items()]
    most = max((tokens for cause, (_, tokens, _) in totals if cause != "first"), default=0)
    if not totals:
        return Markup()
    return table(
        "Prompt tokens that were read although they had been computed before, and the seconds that this costs an idle"
        " server; what “first” turns read had never been",
        ("cause", "turns", "tokens", "seconds", ""),
        [
            (
                cause,
                f"{turns:,}",
                f"{tokens:,}",
                _price(cost),
                bar(tokens / (most or 1)),
            )
            for cause, (turns, tokens, cost) in totals
        ],
        numbers=(1, 2, 3),
        classes={4: "bars"},
    )


def _price(cost_s: float | None) -> str:
    return seconds(None if cost_s is None else Wait(cost_s))


def _misses(told: Told) -> Mapping[str, Any]:
    """The run's own totals have a price where the server was timed; else they are counted anew."""
    stored = told.run.summary.get("misses")
    return stored if isinstance(stored, Mapping) and stored else told.summary.misses


def _total(total: Any) -> tuple[int, int, float | None]:
    if isinstance(total, Mapping):
        return int(total.get("turns") or 0), int(total.get("tokens") or 0), total.get("seconds")
    return total.turns, total.tokens, total.seconds


def failures(records: Sequence[TurnRecord], told: Told) -> Markup:
    """Each way to fail with the first turn that met it, the most frequent first; then what was no failure."""
    groups: dict[tuple[bool, str, int | None], list[TurnRecord]] = {}
    for record in records:
        if str(record.outcome) != "ok":
            groups.setdefault((not record.is_failure, str(record.outcome), record.http_status), []).append(record)
    ordered = sorted(groups.items(), key=lambda item: (item[0][0], -len(item[1])))
    if not ordered:
        return Markup()
    return table(
        "How turns ended that were not ok, with one example of each",
        ("outcome", "turns", "HTTP status", "for example", "started", "what was said"),
        [
            (
                outcome if not is_apart else f"{outcome} (no failure)",
                f"{len(group):,}",
                UNKNOWN if status is None else status,
                name_of(group[0]),
                f"{told.at(group[0].wall_time):.1f} s",
                _short(group[0].error or UNKNOWN),
            )
            for (is_apart, outcome, status), group in ordered
        ],
        numbers=(1, 2, 4),
        classes={5: "text"},
    )


def _limit(judgement: Judgement) -> tuple[object, ...]:
    limit = judgement.limit
    is_few = judgement.value is not None and limit.stat not in (None, judgement.stat)
    few = f" (too few turns: {judgement.stat})" if is_few else ""
    return (
        _STATE[judgement.held],
        limit.key + few,
        judgement.entry or UNKNOWN,
        in_unit(judgement.value, limit),
        f"{side(limit)} {in_unit(Wait(limit.bound), limit)}",
        UNKNOWN if judgement.margin is None else _margin(judgement.margin, limit),
        UNKNOWN if judgement.worst is None else str(judgement.worst),
    )


def _margin(margin: float, limit: Limit) -> str:
    return f"{'−' if margin < 0 else '+'}{in_unit(Wait(abs(margin)), limit)}"


def _cells(row: Row) -> tuple[object, ...]:
    prompts = (count(None if wait is None else wait.value) for wait in (row.prompt_p50, row.prompt_max))
    waits = (row.queue_p95, row.queue_max, row.ttft_p50, row.ttft_p95, row.ttft_max)
    return row.entry, row.kind, f"{row.turns:,}", f"{row.failures:,}", *prompts, *map(seconds, waits), share(row.reuse)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_ERROR else f"{text[:_LONGEST_ERROR]}… ({len(text):,} characters)"
