"""Decides what mlx_lm's benchmark has said so far: pure, fed with bytes as they come (mlx_lm/benchmark.py, 0.32.2)."""

import re
from dataclasses import dataclass
from typing import Literal

from locust_agents.quantities import speed

_TRIAL = re.compile(r"Trial (\d+): (.*)")
_AVERAGES = re.compile(r"Averages: (.*)")
_FIGURE = re.compile(r"(\w+)=(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])")
_WARMING = "Running warmup"
_TIMING = "Timing with"
# Of an endless line only its beginning can be one of ours.
_MOST_LINE_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial: tokens/s of prompt and answer (of all answers where several are batched), rank 0's peak, seconds."""

    prompt_tps: float
    generation_tps: float
    peak_memory_gb: float
    total_s: float


@dataclass(frozen=True, slots=True)
class Result:
    """The benchmark's own averages over its trials; the peak is the highest that it printed, in 10^9 bytes."""

    prompt_tps: float
    generation_tps: float
    peak_memory_gb: float
    trials: tuple[Trial, ...] = ()


def described(result: Result) -> str:
    """The figures in one line of a summary."""
    return (
        f"raw benchmark: prefill {speed(result.prompt_tps)} tok/s, decode {speed(result.generation_tps)} tok/s,"
        f" peak {result.peak_memory_gb:.3g} GB on rank 0"
    )


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it is."""

    phase: Literal["loading", "warming", "timing"] = "loading"
    trials: tuple[Trial, ...] = ()


class Reader:
    """Feed it rank 0's output. Others may write between its lines, and a progress bar before one on the same line."""

    def __init__(self) -> None:
        self.progress = Progress()
        self.result: Result | None = None
        self._rest = b""

    def feed(self, data: bytes) -> bool:
        """Takes one read, cut anywhere; True when it says that the benchmark got further."""
        before = self.progress, self.result
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[:_MOST_LINE_BYTES]
        for line in lines:
            self._take(line.decode(errors="replace"))
        return (self.progress, self.result) != before

    def _take(self, line: str) -> None:
        if _WARMING in line:
            self.progress = Progress("warming")
        elif _TIMING in line:
            self.progress = Progress("timing")
        elif (found := _TRIAL.search(line)) and (trial := _trial(found[2])):
            self.progress = Progress("timing", (*self.progress.trials, trial))
        elif found := _AVERAGES.search(line):
            self.result = _result(found[1], self.progress.trials) or self.result


def _trial(text: str) -> Trial | None:
    figures = _figures(text)
    try:
        return Trial(
            figures["prompt_tps"], figures["generation_tps"], figures["peak_memory"], figures.get("total_time", 0.0)
        )
    except KeyError:
        return None


def _result(text: str, trials: tuple[Trial, ...]) -> Result | None:
    figures = _figures(text)
    try:
        peak = max([figures["peak_memory"], *(trial.peak_memory_gb for trial in trials)])
        return Result(figures["prompt_tps"], figures["generation_tps"], peak, trials)
    except KeyError:
        return None


def _figures(text: str) -> dict[str, float]:
    """The `name=number` of a line; a half written line has none that is not whole."""
    return {name: float(number) for name, number in _FIGURE.findall(text)}
