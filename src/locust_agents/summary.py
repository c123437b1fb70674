"""The figures of a run, computed from its records and nothing else."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from locust_agents import cold, figures, lateness, metrics, trust, twins, window
from locust_agents.answers import itl
from locust_agents.cold import ColdTurn
from locust_agents.figures import Wait
from locust_agents.forecast.prefill_curve import Curve
from locust_agents.lateness import Lateness
from locust_agents.limits import KINDS, METRICS, Limit
from locust_agents.misses import totals
from locust_agents.misses.totals import Total
from locust_agents.outcome import Outcome
from locust_agents.records import CANARY, TurnRecord
from locust_agents.right import answer_check_totals
from locust_agents.right.answer_check_totals import Answers
from locust_agents.setting import Setting
from locust_agents.twins import Pairs
from locust_agents.verdict import Judgement, judge
from locust_agents.window import Taken, Window

_ANY = Setting()


@dataclass(frozen=True, slots=True)
class Row:
    """The turns of one kind of one entry. Waits in seconds, prompts in tokens, reuse as a share."""

    entry: str
    kind: str
    turns: int
    failures: int
    prompt_p50: Wait | None
    prompt_max: Wait | None
    queue_p95: Wait | None
    queue_max: Wait | None
    ttft_p50: Wait | None
    ttft_p95: Wait | None
    ttft_max: Wait | None
    reuse: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """A run. Speeds in tokens/s; `prefill_is_bound` where only lower bounds of the prefill speed are known.

    `reuse` are two shares of all prompt tokens: those that came from the cache, those that could have. `misses` are by
    cause, `wasted_prefill` are tokens by profile, `capped` is what `cap_prompt` spared the others. `no_call` is a share
    of the turns that a call was expected of, `thinking` of the tokens written. All but `came_cached` and
    `after_restart` is of the turns in the `window`; `came_cached` are first turns that were not as cold as they should
    be. `clumped` is the share of gaps between tokens that came together, None of too few. `pairs` has what each twin
    waited longer than its other.
    """

    run: str
    turns: int
    seconds: float
    rows: tuple[Row, ...]
    outcomes: Mapping[str, int]
    tool_calls: int
    bad_tool_calls: int
    tool_call_kinds: Mapping[str, int]
    no_call: float | None
    thinking: float | None
    reuse: tuple[float, float] | None
    misses: Mapping[str, Total]
    wasted_prefill: Mapping[str, int]
    capped: Total | None
    decode_each: Wait | None
    decode_all: float | None
    itl_p50_s: float | None
    itl_p99_s: float | None
    stall_max: Wait | None
    prefill: Wait | None
    prefill_is_bound: bool
    loop_lag_p99: Wait | None
    answers: Answers | None
    judgements: tuple[Judgement, ...]
    window: Window | None
    late: Lateness | None
    came_cached: tuple[ColdTurn, ...]
    after_restart: tuple[ColdTurn, ...]
    clumped: float | None = None
    pairs: tuple[Pairs, ...] = ()


def summarise(
    records: Sequence[TurnRecord],
    limits: Sequence[Limit] = (),
    curve: Curve | None = None,
    setting: Setting = _ANY,
    taken: Taken | None = None,
) -> Summary:
    """All figures of a run at once; an empty one is a summary too. Tokens are priced where there is a `curve`.

    `taken` is what `window.take` says of the records, where that is known already.
    """
    found = taken or window.take(records, setting)
    everything, measured = records, found.measured
    records = [record for record in measured if record.kind != CANARY]  # questions of ours are nobody's turns
    gaps = metrics.gaps(records)
    prefill, is_bound = _prefill(records)
    return Summary(
        run=everything[0].run if everything else "",
        turns=len(records),
        seconds=_seconds(records),
        rows=tuple(_rows(measured)),
        outcomes=dict(Counter(str(record.outcome) for record in measured)),
        tool_calls=sum(record.tool_calls[0] for record in records),
        bad_tool_calls=sum(record.tool_calls[1] for record in records),
        tool_call_kinds=_kinds(records),
        no_call=metrics.no_call(records),
        thinking=metrics.thinking(records),
        reuse=metrics.reuse_of_all(records),
        misses=totals.by_cause(records, curve),
        wasted_prefill=totals.wasted(records),
        capped=totals.capped(records, curve),
        decode_each=figures.statistic(metrics.waits(records, "decode"), "p50"),
        decode_all=metrics.decode_all(records),
        itl_p50_s=itl.quantile_s(gaps, 0.50),
        itl_p99_s=itl.quantile_s(gaps, 0.99),
        stall_max=figures.statistic(metrics.waits(records, "stall"), "max"),
        prefill=prefill,
        prefill_is_bound=is_bound,
        loop_lag_p99=_lag(records),
        answers=answer_check_totals.answers(measured),
        judgements=tuple(judge(limits, measured)),
        window=found.window,
        late=lateness.of(everything, records, setting),
        came_cached=cold.came_cached(everything, setting),
        after_restart=cold.first_after_restart(everything),
        clumped=trust.clumped(gaps),
        pairs=twins.pairs(records, setting.twins),
    )


def worst(judgements: Sequence[Judgement]) -> list[Judgement]:
    """One judgement for each limit: that of the entry that did worst."""
    found: dict[str, Judgement] = {}
    for judgement in judgements:
        key = judgement.limit.key
        if key not in found or _badness(judgement) > _badness(found[key]):
            found[key] = judgement
    return list(found.values())


def _badness(judgement: Judgement) -> tuple[int, float]:
    """A wait that never ended hides behind no entry that held; no turn at all says nothing, and comes last."""
    if judgement.value is None:
        return 0, 0.0
    sign = 1 if METRICS[judgement.limit.metric].at_most else -1
    return {False: 3, None: 2, True: 1}[judgement.held], sign * judgement.value.value


def _rows(records: Sequence[TurnRecord]) -> list[Row]:
    groups: dict[tuple[str, str], list[TurnRecord]] = {}
    for record in records:
        groups.setdefault((record.entry, record.kind), []).append(record)
    order = {kind: place for place, kind in enumerate(KINDS)}
    entries = list(dict.fromkeys(record.entry for record in sorted(records, key=lambda record: record.wall_time)))
    keys = sorted(groups, key=lambda key: (entries.index(key[0]), order.get(key[1], len(order))))
    return [_row(entry, kind, groups[entry, kind]) for entry, kind in keys]


def _row(entry: str, kind: str, records: Sequence[TurnRecord]) -> Row:
    return Row(
        entry=entry,
        kind=kind,
        turns=len(records),
        failures=sum(record.is_failure for record in records),
        prompt_p50=_stated(records, "prompt", "p50"),
        prompt_max=_stated(records, "prompt", "max"),
        queue_p95=_stated(records, "queue", "p95"),
        queue_max=_stated(records, "queue", "max"),
        ttft_p50=_stated(records, "ttft", "p50"),
        ttft_p95=_stated(records, "ttft", "p95"),
        ttft_max=_stated(records, "ttft", "max"),
        reuse=metrics.reuse(records),
    )


def _kinds(records: Sequence[TurnRecord]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for record in records:
        found.update(record.tool_call_kinds)
    return dict(found.most_common())


def _stated(records: Sequence[TurnRecord], metric: str, stat: str) -> Wait | None:
    """The statistic, None where there are too few values to state it."""
    values = metrics.waits(records, metric)
    return figures.statistic(values, stat) if figures.is_enough(len(values), stat) else None


def _prefill(records: Sequence[TurnRecord]) -> tuple[Wait | None, bool]:
    if (speed := metrics.prefill_all(records)) is not None:
        return Wait(speed), False
    ok = [record for record in records if record.outcome is Outcome.OK]
    bounds = [Wait(record.prefill_tokens_s) for record in ok if record.prefill_tokens_s is not None]
    return figures.statistic(bounds, "max"), bool(bounds)


def _lag(records: Sequence[TurnRecord]) -> Wait | None:
    lags = [Wait(record.loop_lag_s) for record in records if record.loop_lag_s is not None]
    return figures.statistic(lags, "p99")


def _seconds(records: Sequence[TurnRecord]) -> float:
    if not records:
        return 0.0
    return max(record.wall_time + record.end_s for record in records) - min(record.wall_time for record in records)
