"""What a scenario asks of more than one run: which values to try (sweep), and how much to search (capacity)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from locust_agents.scenarios import units
from locust_agents.scenarios.section import Count, OneOrMore, Section, Text, written


def _seeds(value: object) -> object:
    return tuple(map(units.count, value)) if isinstance(value, list | tuple) else units.count(value)


class Sweep(Section):
    """One run for each combination of the axes' values, which stand under the path of the key that they are for.

    `seed` is the one to shuffle with, None the scenario's own.
    """

    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[str, tuple[Any, ...]] = Field(init=False)

    order: Literal["fewest_restarts", "shuffled"] = "fewest_restarts"
    seed: Annotated[int | tuple[int, ...] | None, BeforeValidator(_seeds), written("seeds")] = None

    @property
    def axes(self) -> Mapping[str, tuple[Any, ...]]:
        """The values of each key, in the order of the file."""
        seeds = {"seed": self.seed} if isinstance(self.seed, tuple) else {}
        return MappingProxyType({**self.__pydantic_extra__, **seeds})


class Capacity(Section):
    """The search for the largest whole number at the key `over`, from `lowest` to `highest`, that keeps the limits.

    A step has at least `turns` turns; one too noisy to call is run up to `repeats` times more.
    """

    over: Text
    lowest: OneOrMore = Field(default=1, alias="from")
    highest: OneOrMore = Field(default=32, alias="to")
    turns: OneOrMore = 40
    repeats: Count = 2
