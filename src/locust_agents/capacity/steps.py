"""How a step of a search is made: its runs against the one server, and again where they were too noisy to call."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from locust_agents import stored_run
from locust_agents.capacity import judging, words
from locust_agents.capacity import question as capacity_question
from locust_agents.capacity import search as capacity
from locust_agents.capacity.judging import Call
from locust_agents.capacity.question import Question
from locust_agents.capacity.search import Verdict
from locust_agents.errors import ClusterError, PluginError, ScenarioError
from locust_agents.outcome import Outcome
from locust_agents.records import TurnRecord
from locust_agents.scenarios import loader
from locust_agents.scenarios.model import Scenario
from locust_agents.sweep.child import Answer
from locust_agents.telling import Say

INTERRUPTED = 130
_LAUNCH = "launch"
"""The line of cluster.jsonl that tells of a start of the server."""

# A repetition that needs more turns gets them, within reason.
_MOST_TIMES = 4


class Door(Protocol):
    """Makes a run against the one server; raises ClusterError where it cannot any more."""

    def run(self, scenario: str, out: Path, shared_ok: bool) -> Answer:
        """Returns at its end."""


@dataclass(frozen=True, slots=True)
class Step:
    """All runs of one value. `untrusted` are the reasons for which some of them do not count among the `records`."""

    value: int
    agents: int
    runs: tuple[Path, ...]
    untrusted: tuple[str, ...]
    records: tuple[TurnRecord, ...]
    call: Call

    @property
    def verdict(self) -> Verdict:
        """What the search goes by."""
        return self.call.verdict

    @property
    def was_served(self) -> bool:
        """Whether any turn was ok."""
        return any(record.outcome is Outcome.OK for record in self.records)


@dataclass(slots=True)
class Series:
    """The steps of one search, as far as it has come. `shared_ok`: the user lets an attached server be shared.

    `demand_server` raises ClusterError where a server that is not ours is gone: who watches it sees that late.
    """

    question: Question
    door: Door
    folder: Path
    shared_ok: bool
    say: Say
    demand_server: Callable[[], None]
    steps: list[Step] = field(default_factory=list)
    _runs: int = 0

    def known(self) -> Mapping[int, Verdict]:
        """By value."""
        return {step.value: step.verdict for step in self.steps}

    def step(self, value: int | None) -> Step | None:
        """The step of a value, None where it has none."""
        return next((step for step in self.steps if step.value == value), None)

    def search(self) -> Iterator[Step]:
        """Every step as it ends. Raises ClusterError, ScenarioError or PluginError where the search cannot go on."""
        search = self.question.search
        at_most = capacity.most_steps(search.lowest, search.highest)
        self.say(f"at most {at_most} steps, each of one run, or of up to {1 + search.repeats} where that is too noisy")
        while (value := capacity.next_value(search.lowest, search.highest, self.known())) is not None:
            step = self._step(value)
            self.steps.append(step)
            yield step

    def _step(self, value: int) -> Step:
        """A run, then repetitions of it; what can be trusted of them is judged together."""
        scenario = capacity_question.step(self.question, value)
        wanted = capacity_question.turns(self.question, scenario)
        runs: list[Path] = []
        doubts: list[str] = []
        records: list[TurnRecord] = []
        call, times = judging.call(scenario.limits, ()), 1.0
        while call.verdict is Verdict.UNDECIDED and len(runs) <= self.question.search.repeats:
            turns, number = round(wanted * times), len(runs) + 1
            again = ", once more" if runs else ""
            self.say(f"{words.named(self.question, value)}{again}: {turns} turns")
            runs.append(self._run(scenario, turns, f"{value}-{number}"))
            doubt, found = _read(runs[-1])
            doubts += [doubt] if doubt else []
            records += [] if doubt else found
            if any(record.is_failure for record in found):
                self.demand_server()
            call = judging.call(scenario.limits, records)
            times = min(_MOST_TIMES, max(1.0, call.short_by - 1))
        agents = sum(entry.agents for entry in scenario.swarm.values())
        return Step(value, agents, tuple(runs), tuple(doubts), tuple(records), call)

    def _run(self, scenario: Scenario, turns: int, name: str) -> Path:
        """Its folder. What an earlier step left open is ours: only before the first one, others are asked for."""
        warm_up = scenario.warm_up
        whole = scenario.model_copy(update={"turns": turns + ((warm_up.turns or 0) if warm_up else 0)})
        folder, is_first = self.folder / name, not self._runs
        self._runs += 1
        _demand(self.door.run(loader.dump(whole), folder, self.shared_ok or not is_first))
        if not is_first and any(note.get("event") == _LAUNCH for note in stored_run.read(folder).notes):
            raise ClusterError("the server died between two steps; its log is in the first step's folder")
        return folder


def _demand(answer: Answer) -> None:
    """Raises for what must end the search."""
    if answer.status == INTERRUPTED:
        raise KeyboardInterrupt
    if answer.error is not None:
        is_ours = answer.status == ScenarioError.exit_status
        raise ScenarioError(answer.error) if is_ours else ClusterError(answer.error)


def _read(folder: Path) -> tuple[str | None, Sequence[TurnRecord]]:
    """Why the run cannot be trusted, and its turns without the warm-up; raises PluginError where a plugin failed."""
    run = stored_run.read(folder)
    if faults := run.summary.get("plugin_faults"):
        raise PluginError("\n".join(faults))
    return run.summary.get("untrusted"), stored_run.measured(run)
