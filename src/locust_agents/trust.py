"""Decides whether a run's figures can be trusted: what the client did to them itself, each against a stated bound."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from locust_agents import figures, lateness, metrics, window
from locust_agents.answers import itl
from locust_agents.figures import Wait
from locust_agents.limits import Limit
from locust_agents.quantities import counted, gap, share
from locust_agents.records import CANARY, TurnRecord
from locust_agents.setting import Setting
from locust_agents.window import Taken

LAG_S = 0.5
"""Of p99 (of the worst below 100 turns). A wait for a first word is judged in seconds: half a second of ours in it is
one that a server is blamed for. A sound client is late by milliseconds; two busy cores made 0.2 s."""
LATE_S = 0.5
"""The same of turns that started later than they were due: then there was less load than the scenario says."""
CPU = 0.9
"""Of one core: an event loop has no more than one, and from here on it queues (Locust itself warns at 90 %)."""
CPU_FROM_S = 10.0
"""A shorter load says nothing: its start, which builds all prompts, is most of it."""
CUT = 0.5
"""Of all turns sent. Stall, ITL, speeds and turn time are of those that ended: by then, of the quick half."""
TOGETHER_S = 0.0005
"""Two tokens no further apart came together: no model that is loaded here makes 2000 tokens/s in one stream."""
CLUMPED = 0.5
"""Of the gaps: more than half of them are not the server's, and ITL is withheld. Speculative decoding does this too."""
HELD_BACK = 0.9
"""Of the gaps: ten tokens and more in a piece. Something holds the stream back, so the first token waited as well."""
ENOUGH_GAPS = 100


@dataclass(frozen=True, slots=True)
class Witness:
    """What the records cannot tell. `cpu` is the busiest process's share of a core over `cpu_s` seconds.

    `missing` is the most agents that were, and of how many; `lost` the turns that were sent, at the least, and have no
    record; `slept` says that the machine did.
    """

    cpu: float | None = None
    cpu_s: float = 0.0
    missing: tuple[int, int] | None = None
    lost: int = 0
    slept: str | None = None


@dataclass(frozen=True, slots=True)
class Trust:
    """The client's own part. `doubts` are sentences: where there is one, no verdict is given and the status is 4.

    `lag` and `late` are p99, the worst of fewer than 100; `late` leaves out sessions that a clock made due, whose wait
    is the server's. `cut` are turns that the end of the run cut, of `turns` sent. `clumped` is the share of gaps
    between tokens that came together, None of too few; `is_itl_withheld` where these gaps say nothing of the server.
    """

    witness: Witness
    lag: Wait | None
    late: Wait | None
    turns: int
    cut: int
    clumped: float | None
    is_itl_withheld: bool
    doubts: tuple[str, ...]


def of(
    records: Sequence[TurnRecord],
    setting: Setting,
    limits: Sequence[Limit] = (),
    witness: Witness = Witness(),
    taken: Taken | None = None,
) -> Trust:
    """Of a run that is over, or of one so far; `records` are all of them, the warm-up's too.

    `taken` is what `window.take` says of them, where that is known already.
    """
    found = taken or window.take(records, setting)
    turns = [record for record in found.measured if record.kind != CANARY]
    lag = _p99([record.loop_lag_s for record in turns])
    late = _p99([record.late_s for record in turns if not lateness.is_due(record, setting)])
    sent = sum(record.sent_s is not None for record in turns)
    cut = 0 if found.window is None else found.window.cut_at_end
    return judged(lag, late, (cut, sent), metrics.gaps(turns), limits, witness)


def judged(
    lag: Wait | None,
    late: Wait | None,
    cut_of: tuple[int, int],
    gaps: Mapping[int, int],
    limits: Sequence[Limit],
    witness: Witness,
) -> Trust:
    """From the figures; `cut_of` are the turns cut at the end and those sent, `gaps` an ITL histogram."""
    cut, sent = min(cut_of), cut_of[1]
    clumps = clumped(gaps)
    doubts = (
        *_of_times(lag, late),
        *_of_counts(cut, sent),
        *_of_clumps(clumps, limits),
        *_of_witness(witness),
    )
    return Trust(witness, lag, late, sent, cut, clumps, is_withheld(clumps), doubts)


def clumped(gaps: Mapping[int, int]) -> float | None:
    """The share of gaps (an ITL histogram) between tokens that came together; None where there are too few to say."""
    number = sum(gaps.values())
    if number < ENOUGH_GAPS:
        return None
    return sum(times for bucket, times in gaps.items() if itl.gap_s(bucket) <= TOGETHER_S) / number


def is_withheld(clumps: float | None) -> bool:
    """Whether so many tokens came together that ITL says nothing."""
    return clumps is not None and clumps > CLUMPED


def _p99(values: Sequence[float | None]) -> Wait | None:
    known = [Wait(value) for value in values if value is not None]
    return figures.statistic(known, "p99" if figures.is_enough(len(known), "p99") else "max")


def _of_times(lag: Wait | None, late: Wait | None) -> list[str]:
    found = []
    if lag is not None and lag.value > LAG_S:
        found.append(f"the client's own loop was {gap(lag.value)} late, more than {gap(LAG_S)}: use fewer agents here")
    if late is not None and late.value > LATE_S:
        found.append(f"turns started {gap(late.value)} late, more than {gap(LATE_S)}: the load was not the scenario's")
    return found


def _of_counts(cut: int, sent: int) -> list[str]:
    if cut <= CUT * sent:
        return []
    return [f"{cut} of {sent} turns were cut at the end, more than {share(CUT)}: let it run or drain for longer"]


def _of_clumps(clumps: float | None, limits: Sequence[Limit]) -> list[str]:
    if clumps is None or clumps <= CLUMPED:
        return []
    if clumps > HELD_BACK:
        return [
            f"{share(clumps)} of the tokens came in clumps: something buffers the stream (a proxy?), TTFT is its own"
        ]
    held = [limit.key for limit in limits if limit.metric == "itl"]
    return [f"{share(clumps)} of the tokens came in clumps: {', '.join(held)} cannot be judged"] if held else []


def _of_witness(witness: Witness) -> list[str]:
    cpu, missing = witness.cpu, witness.missing
    found = []
    if cpu is not None and cpu > CPU and witness.cpu_s >= CPU_FROM_S:
        found.append(f"the client used {share(cpu)} of a core, more than {share(CPU)}: spread it over workers")
    if missing is not None:
        found.append(f"{missing[0]} of {missing[1]} agents were missing: the load was not the scenario's")
    if witness.lost:
        turns = counted(witness.lost, "turn")
        found.append(f"{turns} at least were sent and have no record: a worker was lost")
    return [*found, *([] if witness.slept is None else [witness.slept])]
