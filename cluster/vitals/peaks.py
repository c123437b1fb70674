"""The most that each rank, the prompt cache and swap took in a run, and how a person reads it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from locust_agents.cluster.byte_sizes import size_text
from locust_agents.cluster.vitals.memory_sample import Figure
from locust_agents.quantities import UNKNOWN, WIDTH, counted, joined

_LABEL = 7


@dataclass(frozen=True, slots=True)
class Peaks:
    """Bytes for each rank, swap growth in bytes for each host; a rank or a cache that was never seen is None or absent.

    `cache_gb` is the largest size, which need not be that of the largest number of sequences.
    """

    memory: Mapping[int, int] = field(default_factory=dict)
    figure: Figure | None = None
    swap_growth: Mapping[str, int] = field(default_factory=dict)
    cache_sequences: int | None = None
    cache_gb: float | None = None
    tracebacks: int = 0
    tool_calls_dropped: int = 0
    slept_s: float = 0.0


def lines(peaks: Peaks) -> list[str]:
    """The table's lines; none where nothing was seen."""
    parts = [*_memory(peaks), *_cache(peaks), *_swap(peaks), *_said(peaks)]
    laid_out = joined(parts, "   ", WIDTH - _LABEL)
    return [f"{'' if number else 'memory':{_LABEL}}{line}" for number, line in enumerate(laid_out)]


def _memory(peaks: Peaks) -> list[str]:
    """As many lines as the ranks need."""
    ranks = [f"rank {rank} {size_text(used)}" for rank, used in sorted(peaks.memory.items())]
    return joined([*ranks[:-1], f"{ranks[-1]} peak"], ", ", WIDTH - _LABEL) if ranks else []


def _cache(peaks: Peaks) -> list[str]:
    if peaks.cache_sequences is None:
        return []
    size = UNKNOWN if peaks.cache_gb is None else f"{peaks.cache_gb:.2f}"
    return [f"cache {counted(peaks.cache_sequences, 'sequence')}, {size} GB"]


def _swap(peaks: Peaks) -> list[str]:
    return [f"swap +{size_text(grown)} on {host}" for host, grown in sorted(peaks.swap_growth.items()) if grown]


def _said(peaks: Peaks) -> list[str]:
    tracebacks = [f"{counted(peaks.tracebacks, 'traceback')} logged"] if peaks.tracebacks else []
    dropped = [f"{counted(peaks.tool_calls_dropped, 'tool call')} dropped"] if peaks.tool_calls_dropped else []
    return [*tracebacks, *dropped]
