"""Decides whether a server that died or hangs is started again, where its logs go then, and how the gap is said."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

MOST_RESTARTS = 3
"""Restarts are dear on real Macs: weights are loaded, and RDMA devices may not survive many."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What ended an epoch, and what is known when it has been cleaned up.

    `answered` turns got their first token in this epoch; `restarts` went before it. `unsure` are the sentences of the
    server's `stop`. `is_over`: no turn would start any more.
    """

    on_failure: Literal["stop", "restart"]
    is_ours: bool
    restarts: int
    answered: int
    unsure: tuple[str, ...] = ()
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class Gap:
    """A time without a server: `epoch` came after it, `began_s` counts from the start of the load."""

    epoch: int
    began_s: float
    seconds: float
    why: str


def refusal(failure: Failure) -> str | None:
    """Why the run ends here, in words that follow "it was not started again: "; None to start again.

    Empty where nobody asked for it.
    """
    if failure.on_failure == "stop":
        return ""
    if not failure.is_ours:
        return "it is not ours (server.attach)"
    if failure.is_over:
        return "the run was nearly over"
    if failure.unsure:
        return f"what it left is in the way ({failure.unsure[0]})"
    if failure.restarts >= MOST_RESTARTS:
        return f"it has been {MOST_RESTARTS} times already"
    if failure.restarts and not failure.answered:
        return "after its last start it answered no turn"
    return None


def with_refusal(what: str, why_not: str) -> str:
    """The error's sentence: what happened and, where a restart was asked for, why there was none."""
    return f"{what}; it was not started again: {why_not}" if why_not else what


def shelve(folder: Path, epoch: int) -> None:
    """Keeps the logs of an epoch that has ended: `rank-0.log` becomes `rank-0.epoch-1.log`."""
    for log in [*folder.glob("rank-*.log"), *folder.glob("launcher.log")]:
        if ".epoch-" not in log.name:
            log.rename(log.with_name(f"{log.stem}.epoch-{epoch}.log"))


def words(gaps: Sequence[Gap]) -> str | None:
    """A line for the summary; None where the server ran through."""
    if not gaps:
        return None
    times = "once" if len(gaps) == 1 else f"{len(gaps)} times"
    each = ", ".join(f"{gap.seconds:.0f} s at {gap.began_s:.0f} s (epoch {gap.epoch})" for gap in gaps)
    return f"the server was started again {times}: without it for {each}"
