"""The line that lives while a run waits and runs: agents, turns, the worst TTFT so far, what is in prefill."""

import contextlib
import math
from time import perf_counter
from typing import IO, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from locust_agents import figures, metrics, stages, table
from locust_agents.locustfiles import stopping
from locust_agents.locustfiles.conductor import Conductor
from locust_agents.locustfiles.sentences import words
from locust_agents.locustfiles.swarm import OpenTurn, Swarm
from locust_agents.quantities import counted

_SAME_WORDS_S = 30.0


class ProgressLine:
    """One line that is rewritten in a terminal, below what was said; elsewhere only that, each a line of its own."""

    def __init__(self, conductor: Conductor, file: IO[str]) -> None:
        self._conductor, self._file = conductor, file
        self._console = Console(file=file, highlight=False, markup=False)
        # In a dumb terminal rich would show nothing at all; in a file, with FORCE_COLOR, what only a terminal can read.
        self._is_rewritten = file.isatty() and self._console.is_terminal and not self._console.is_dumb_terminal
        # Refreshed by hand: rich's own thread would tick inside the event loop that takes the time.
        self._live = Live(Text(""), console=self._console, auto_refresh=False, transient=True)
        self._said = self._said_words = ""
        self._printed = 0.0

    def __enter__(self) -> Self:
        if self._is_rewritten:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._keep()
        self._live.stop()

    def say(self, text: str) -> None:
        """What is being waited for, or went wrong, in one line.

        In a terminal it is the line itself until something else is said, then it stays above, whole: nobody reads a
        sentence that is there for a tenth of a second. While a swarm runs the line is the swarm's.
        """
        if self._is_rewritten:
            self._replace(text)
        elif self._is_news(text):
            with contextlib.suppress(OSError):  # that nobody listens any more is no reason to end the run
                print(text, file=self._file, flush=True)

    def _replace(self, text: str) -> None:
        if words(text) != words(self._said):
            self._keep()
        self._said = text
        if self._conductor.swarm is not None:
            self._keep()
        self.show()

    def _keep(self) -> None:
        if self._is_rewritten and self._said:
            with contextlib.suppress(OSError):
                self._console.print(self._said, soft_wrap=True)
            self._said = ""

    def _is_news(self, text: str) -> bool:
        """In a log, words that differ in their figures alone are said again after half a minute."""
        new, now = words(text), perf_counter()
        if new == self._said_words and now - self._printed < _SAME_WORDS_S:
            return False
        self._said_words, self._printed = new, now
        return True

    def show(self) -> None:
        """Draws the line anew."""
        if self._is_rewritten:
            swarm = self._conductor.swarm
            if swarm is not None:
                self._keep()
            text = self._said if swarm is None else describe(self._conductor, swarm)
            with contextlib.suppress(OSError):  # the terminal was closed; who is told so stops the run
                self._live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)


def describe(conductor: Conductor, swarm: Swarm) -> str:
    """The line's words at this moment."""
    records = conductor.records
    worst = figures.statistic(metrics.waits(records, "ttft"), "max")
    failed = sum(record.is_failure for record in records)
    parts = [
        f"{swarm.elapsed_s():.0f} s" + _draining(conductor),
        _agents(conductor, swarm),
        f"{len(records)} done" + (f", {failed} failed" if failed else ""),
        f"worst TTFT {table.seconds(worst)}",
        *(f"{turn.agent} prefill {_done(turn)}" for turn in swarm.open.values() if _is_in_prefill(turn)),
    ]
    return " · ".join(parts)


def _draining(conductor: Conductor) -> str:
    left_s = stopping.left_s(conductor)
    if left_s == math.inf:
        return ""
    return f" draining, {max(0.0, left_s):.0f} s left" + (" (Ctrl-C cuts)" if conductor.stops else "")


def _agents(conductor: Conductor, swarm: Swarm) -> str:
    """Of a run with stages, those that the plan has now; who must go is leaving until its turn is over."""
    now_s, plan = swarm.elapsed_s(), swarm.stages
    entries = conductor.running.swarm if conductor.running is not None else {}
    agents = len(swarm.slots) if plan is None else sum(plan.wanted(entry, now_s) for entry in entries)
    leaving = stages.leaving(plan, [turn.agent for turn in swarm.open.values()], now_s)
    return (
        f"{agents} agents"
        + (f" (missing {conductor.missing[0]} of {conductor.missing[1]})" if conductor.missing is not None else "")
        + (f", {leaving} leaving" if leaving else "")
        + f", {counted(len(swarm.open), 'turn')} open"
    )


def _is_in_prefill(turn: OpenTurn) -> bool:
    answer = turn.exchange.answer
    return bool(answer.progress) and answer.first_token_s is None


def _done(turn: OpenTurn) -> str:
    step = turn.exchange.answer.progress[-1]
    return f"{table.count(step.done)} of {table.count(step.total)}"
