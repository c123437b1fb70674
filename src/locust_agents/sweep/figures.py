"""What a sweep says of one cell: a row of figures from its records, and whether it may be called good."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from locust_agents import figures, metrics, stored_run, verdict
from locust_agents.figures import Wait
from locust_agents.records import CANARY, TurnRecord
from locust_agents.right import answer_check_totals
from locust_agents.right.answer_check import RIGHT
from locust_agents.stored_run import StoredRun
from locust_agents.sweep.cells import Cell

State = Literal["held", "broken", "wrong", "untrusted", "failed", "not run"]
"""`broken`: a limit. `wrong`: answers were. `untrusted`: the client or the machine. `failed`: no server, no turn."""

LATER = "later"
# Fewer tokens between two signs of progress have no speed of their own.
_TOKENS = 8
_STATES: Mapping[int, State] = {0: "held", 1: "broken", 4: "untrusted"}


@dataclass(frozen=True, slots=True)
class Figures:
    """Waits in seconds, `prefill` in tokens/s (`is_bound`: at least), `memory` the bytes of the rank that took most.

    `reuse` and `right` are shares; what nothing is known of is None.
    """

    turns: int
    ttft_p50: Wait | None
    ttft_max: Wait | None
    prefill: float | None
    is_bound: bool
    memory: int | None
    reuse: float | None
    right: float | None
    prompt_max: float


@dataclass(frozen=True, slots=True)
class Result:
    """A cell and what came of it. `reason` says why it did not go well; `records` are the turns that figures are of."""

    cell: Cell
    state: State
    status: int | None
    reason: str | None
    figures: Figures | None
    records: tuple[TurnRecord, ...] = ()

    @property
    def may_be_best(self) -> bool:
        """Only where its answers are right as far as was asked, its figures hold, and somebody was answered."""
        return self.state in ("held", "broken") and self.figures is not None and self.figures.ttft_max is not None


def not_run(cell: Cell, status: int | None = None, reason: str | None = None) -> Result:
    """A cell without a run, or one whose run could not begin."""
    return Result(cell, "not run" if status is None else "failed", status, reason, None)


def result(cell: Cell, run: StoredRun) -> Result:
    """Of a run that has ended; raises ScenarioError where its limits cannot be read."""
    status = run.summary.get("exit_status")
    records = tuple(stored_run.measured(run))
    found = _figures(run, records) if records else None
    return Result(cell, _state(status, found), status, _reason(run, status), found, records)


def kind_of(results: Sequence[Result]) -> str | None:
    """Whose TTFT is told: that of later turns, or None for all where agents have no later ones."""
    return LATER if any(record.kind == LATER for one in results for record in one.records) else None


def of_kind(records: Sequence[TurnRecord]) -> list[TurnRecord]:
    """An agent's later turns, all of its turns where there are none."""
    later = [record for record in records if record.kind == LATER]
    return later or [record for record in records if record.kind != CANARY]


def _figures(run: StoredRun, records: Sequence[TurnRecord]) -> Figures:
    waits = metrics.waits(of_kind(records), "ttft")
    prefill, is_bound = _prefill(records)
    prompts = [record.prompt_tokens or 0 for record in records]
    return Figures(
        turns=len(records),
        ttft_p50=figures.statistic(waits, "p50"),
        ttft_max=figures.statistic(waits, "max"),
        prefill=prefill,
        is_bound=is_bound,
        memory=_memory(run),
        reuse=metrics.reuse(records),
        right=_right(records),
        prompt_max=max(prompts, default=0),
    )


def _prefill(records: Sequence[TurnRecord]) -> tuple[float | None, bool]:
    """Tokens/s; where every prompt was one step, the most that is known to have been reached."""
    if (speed := metrics.prefill_all(one for one in records if not _is_of_one_token(one))) is not None:
        return speed, False
    bounds = [one.prefill_tokens_s for one in records if one.prefill_is_bound and one.prefill_tokens_s is not None]
    return max(bounds, default=None), bool(bounds)


def _is_of_one_token(record: TurnRecord) -> bool:
    """Whether the speed is that of a prompt's last token alone, which mlx_lm.server reads in a step of its own."""
    speed, start_s, end_s = record.prefill_tokens_s, record.first_progress_s, record.prefill_end_s
    if speed is None or start_s is None or end_s is None:
        return False
    return not record.prefill_is_bound and speed * (end_s - start_s) < _TOKENS


def _memory(run: StoredRun) -> int | None:
    vitals = run.summary.get("vitals") or {}
    return max((int(used) for used in (vitals.get("memory") or {}).values()), default=None)


def _right(records: Sequence[TurnRecord]) -> float | None:
    found = answer_check_totals.answers(records)
    if found is None or not found.verdicts:
        return None
    return found.verdicts.get(RIGHT, 0) / sum(found.verdicts.values())


def _state(status: int | None, found: Figures | None) -> State:
    if status in (None, 130):
        return "not run"
    state = _STATES.get(status or 0, "failed")
    is_wrong = found is not None and found.right is not None and found.right < 1
    return "wrong" if is_wrong and state in ("held", "broken") else state


def _reason(run: StoredRun, status: int | None) -> str | None:
    summary = run.summary
    if status in (2, 3, 4):
        said = (summary.get("error"), *(summary.get("plugin_faults") or ()), summary.get("untrusted"))
        return next((str(one) for one in said if one), verdict.word(status))
    wrong = answer_check_totals.answers(run.records)
    if wrong is not None and wrong.wrong:
        return wrong.wrong[0]
    broken = [one for one in stored_run.summary(run).judgements if one.held is False]
    return ", ".join(dict.fromkeys(one.limit.key for one in broken)) or None
