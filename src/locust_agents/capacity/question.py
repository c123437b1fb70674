"""Decides what is searched for: which key, between which values, under which limits, with how many turns a step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

from locust_agents.capacity import judging
from locust_agents.errors import ScenarioError
from locust_agents.limits import Limit
from locust_agents.scenarios.loader import Override
from locust_agents.scenarios.model import Scenario
from locust_agents.scenarios.questions import Capacity

Read = Callable[[Sequence[Override]], Scenario]
"""Reads the scenario with overrides on top of the user's own; raises what is wrong with it."""

_AGENTS = ".agents"
# An agent that took fewer turns than this was hardly there.
_EACH = 5
# Turns are not dealt out evenly, and the first of a session are not the later ones that most limits are about.
_SPARE = 1.25


@dataclass(frozen=True, slots=True)
class Question:
    """The search, and how a scenario with a value in it is read."""

    scenario: Scenario
    search: Capacity
    read: Read

    @property
    def noun(self) -> str:
        """What the values are values of: `agents`, `agents of fixers`, or the key."""
        own = self.search.over.removeprefix("swarm.")
        if not self.counts_agents:
            return own
        return "agents" if len(self.scenario.swarm) == 1 else f"agents of {own.removesuffix(_AGENTS)}"

    @property
    def counts_agents(self) -> bool:
        """Whether the values are numbers of agents."""
        return self.search.over.endswith(_AGENTS)

    @property
    def limits(self) -> tuple[Limit, ...]:
        """Those that the user wrote: without the default one, that no turn fails."""
        return tuple(limit for limit in self.scenario.limits if not judging.is_default(limit))


def ask(read: Read, over: str | None, lowest: str | None, highest: str | None) -> Question:
    """The options, else the scenario's `capacity:`, else the agents of its only entry; raises ScenarioError."""
    chosen = [] if over is None else [Override("capacity.over", over, option="--over")]
    plain = read(chosen)
    if plain.capacity is None:
        chosen = [Override("capacity.over", _only_entry(plain), option="--over")]
    ends = (("from", lowest), ("to", highest))
    chosen += [Override(f"capacity.{key}", value, option=f"--{key}") for key, value in ends if value is not None]
    scenario = read(chosen)
    assert scenario.capacity is not None
    question = Question(scenario, scenario.capacity, read)
    _check(question)
    return question


def step(question: Question, value: int) -> Scenario:
    """The scenario of one step; it ends when its turns are done, however long they take.

    A step that was cut by the clock would say the less, the slower the server is. Raises what is wrong with it.
    """
    alone = (Override("sweep", "null"), Override("capacity", "null"))
    made = question.read([*alone, Override(question.search.over, str(value))])
    return made.model_copy(
        update={
            "duration_s": None,
            "sessions": None,
            "curve": False,
            "stop_on_breach": False,
            "server": made.server.model_copy(update={"on_failure": "stop"}),
        }
    )


def turns(question: Question, scenario: Scenario) -> int:
    """How many a step is to be judged by at least: `turns`, a few of each agent, and what the limits need."""
    agents = [entry.agents for entry in scenario.swarm.values()]
    of_limits = max(map(judging.turns_for, scenario.limits))
    # an entry is judged by its own turns, of which it has a part
    return max(question.search.turns, _EACH * sum(agents), ceil(_SPARE * of_limits * sum(agents) / min(agents)))


def _only_entry(scenario: Scenario) -> str:
    names = list(scenario.swarm)
    if len(names) > 1:
        raise ScenarioError(f"more than one entry may grow: name the key, such as --over swarm.{names[0]}.agents")
    return f"swarm.{names[0]}.agents"


def _check(question: Question) -> None:
    if question.search.over.partition(".")[0] in ("server", "probe"):
        over = question.search.over
        raise ScenarioError(f"--over {over}: a search keeps one server; try its settings with  sweep: {{{over}: […]}}")
    if question.scenario.stages is not None:
        raise ScenarioError("stages: a search needs a load that stays the same; take them out")
    if not question.limits:
        raise ScenarioError("limits: nothing to keep but failures; add one, as in --set limits.later.ttft.p95=20s")
