"""The course of a run as the tab draws it: which turn counts where, and which figures a chart has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from locust_agents import metrics
from locust_agents.cluster.watch.look import OpenLook, Phase
from locust_agents.locustfiles.web.bins import Figure, Share, Timeline, Waits, larger
from locust_agents.outcome import Outcome
from locust_agents.records import CANARY, TurnRecord

ENTRY_COLUMNS = ("t", *(f"{metric}_{stat}" for metric in ("ttft", "stall") for stat in ("p50", "p95", "max", "more")))
ALL_COLUMNS = ("t", "prefill", "bound", "reuse", "queued", "prefilling", "decoding")
PHASES: Mapping[Phase, int] = {"queue": 0, "prefill": 1, "decode": 2}


@dataclass(slots=True)
class _OfEntry:
    ttft: Waits = field(default_factory=Waits)
    stall: Waits = field(default_factory=Waits)

    def __add__(self, other: "_OfEntry") -> "_OfEntry":
        return _OfEntry(self.ttft + other.ttft, self.stall + other.stall)


@dataclass(slots=True)
class _OfAll:
    """Prefill is tokens and seconds, reuse cached and expected tokens; `bound` is the largest lower bound, tokens/s."""

    prefill: Share = field(default_factory=Share)
    reuse: Share = field(default_factory=Share)
    bound: Figure = None
    phases: tuple[Share, Share, Share] = field(default_factory=lambda: (Share(), Share(), Share()))

    def __add__(self, other: "_OfAll") -> "_OfAll":
        one, two, three = (mine + theirs for mine, theirs in zip(self.phases, other.phases, strict=True))
        bound = larger(self.bound, other.bound)
        return _OfAll(self.prefill + other.prefill, self.reuse + other.reuse, bound, (one, two, three))


class Course:
    """Of one run that began at `began`, in UNIX seconds. What it holds does not grow with the turns."""

    def __init__(self, began: float) -> None:
        self._began = began
        self._entries: dict[str, Timeline[_OfEntry]] = {}
        self._all = Timeline(_OfAll, _figures_of_all)

    def take(self, record: TurnRecord) -> None:
        """A turn ended. Its TTFT stands where its first token came, its other figures where it ended."""
        ended_s = record.wall_time + record.end_s - self._began
        if record.kind != CANARY:
            entry = self._entries.setdefault(record.entry, Timeline(_OfEntry, _figures_of_entry))
            waited_s = record.end_s if record.first_token_s is None else record.first_token_s
            for wait in metrics.waits([record], "ttft"):
                entry.at(record.wall_time + waited_s - self._began).ttft.add(wait)
            for wait in metrics.waits([record], "stall"):
                entry.at(ended_s).stall.add(wait)
        _add_speeds(self._all.at(ended_s), record)

    def look(self, at_s: float, looks: Sequence[OpenLook]) -> None:
        """How many turns are in which phase now, seconds after the load began."""
        span = self._all.at(at_s)
        for phase, number in PHASES.items():
            span.phases[number].add(sum(look.phase == phase for look in looks))

    def columns(self, entries: Sequence[str]) -> dict[str, dict[str, list[Figure]]]:
        """Of each of these entries by its place, and of all together."""
        lines = {f"entry {place}": self._entries[name] for place, name in enumerate(entries) if name in self._entries}
        found = {name: _named(ENTRY_COLUMNS, line.rows()) for name, line in lines.items()}
        of_all = _named(ALL_COLUMNS, self._all.rows())
        return {**found, "all": {**of_all, **{name: _gapless(of_all[name]) for name in ALL_COLUMNS[-len(PHASES) :]}}}


def _add_speeds(span: _OfAll, record: TurnRecord) -> None:
    speed, began_s, ended_s = record.prefill_tokens_s, record.first_progress_s, record.prefill_end_s
    if record.outcome is Outcome.OK and speed is not None:
        if record.prefill_is_bound or began_s is None or ended_s is None:
            span.bound = larger(span.bound, speed)
        else:
            span.prefill.add(speed * (ended_s - began_s), ended_s - began_s)
    if (found := metrics.reused(record)) is not None:
        span.reuse.add(*found)


def _figures_of_entry(span: _OfEntry, window: _OfEntry) -> list[Figure]:
    pairs = ((span.ttft, window.ttft), (span.stall, window.stall))
    return [figure for own, around in pairs for figure in _figures_of_waits(own, around)]


def _figures_of_waits(own: Waits, around: Waits) -> tuple[Figure, ...]:
    lines = (around.quantile_s("p50", 0.50), around.quantile_s("p95", 0.95))
    return (*lines, own.worst, own.worst_more)


def _figures_of_all(span: _OfAll, window: _OfAll) -> list[Figure]:
    return [window.prefill.ratio, span.bound, window.reuse.ratio, *(phase.ratio for phase in span.phases)]


def _named(names: Sequence[str], rows: Sequence[Sequence[Figure]]) -> dict[str, list[Figure]]:
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    return {name: [_short(value) for value in column] for name, column in zip(names, columns, strict=True)}


def _gapless(column: Sequence[Figure]) -> list[Figure]:
    """Nobody looked in a span that has just begun, or as the loop was late: what was open before still was."""
    filled: list[Figure] = []
    for value in column:
        filled.append((filled[-1] if filled else 0.0) if value is None else value)
    return filled


def _short(value: Figure) -> Figure:
    """Four figures are more than a chart shows, and half the bytes."""
    return None if value is None else float(f"{value:.4g}")
