"""Decides what the checks of a server's options must know of the run around it, and how they answer."""

from collections.abc import Mapping
from dataclasses import dataclass

from locust_agents.cluster.options.known import Scalar
from locust_agents.cluster.options.model_facts import ModelFacts


@dataclass(frozen=True, slots=True)
class Situation:
    """The run in which a server gets its options.

    `histories` are the conversations alive at once: agents, and sub-agents beside them. `starts` are the different
    system prompts with their tools, one for each profile. `max_tokens` says for each profile what its requests carry,
    None for a profile that sends none. `model` is None where the model folder is not on this machine. `is_local`: the
    agents run on the machine of rank 0; `rank_0_address` is the name or IP under which others reach that.
    """

    ranks: int = 1
    pipeline: bool = False
    model: ModelFacts | None = None
    histories: int = 1
    starts: int = 1
    max_tokens: Mapping[str, int | None] | None = None
    is_local: bool = True
    rank_0_address: str | None = None

    def pipeline_key(self, options: Mapping[str, Scalar]) -> str | None:
        """Return the scenario's key that gives each rank whole layers, None where nothing does."""
        if options.get("pipeline") is True:
            return "server.options.pipeline"
        return "server.launch.pipeline" if self.pipeline else None


@dataclass(frozen=True, slots=True)
class Findings:
    """What is wrong and what is unwise, one sentence each that says what to do; an error forbids the start."""

    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
