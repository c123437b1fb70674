"""How the load of a run goes over time, as a scenario says it: stages, arrivals, warm-up, and questions in between."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field, PlainSerializer, model_validator

from locust_agents.scenarios import rates, units
from locust_agents.scenarios.section import AsDuration, Count, OneOrMore, SecondsAboveZero, Section, written


def _drain(value: object) -> float:
    return 0.0 if value == "cut" else units.duration(value)


Drain = Annotated[float, BeforeValidator(_drain), AsDuration, written("drain")]
"""Seconds that open turns get when the run ends; `cut` is none."""


class Stage(Section):
    """For `for_s` seconds so many agents of each entry may start turns: each other key is an entry with its number."""

    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[str, Count] = Field(init=False)

    for_s: SecondsAboveZero = Field(alias="for")

    @property
    def agents(self) -> Mapping[str, int]:
        """How many of each entry that is named; one that is not has none."""
        return MappingProxyType(self.__pydantic_extra__)


class Arrival(Section):
    """Sessions start on a clock, `per_s` of them a second in the mean, whether the server keeps up or not.

    `poisson` draws the gaps, `constant` has equal ones, `burst` lets `burst` sessions come at once, so that there are
    per_s / burst bursts a second. A session for which no agent is free waits, and its wait is the client's lateness.
    """

    per_s: Annotated[float, BeforeValidator(rates.rate), PlainSerializer(rates.rate_text), written("rate")] = Field(
        alias="rate"
    )
    process: Literal["poisson", "constant", "burst"] = "poisson"
    burst: OneOrMore | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: object) -> object:
        return {"rate": value} if isinstance(value, str) else value


class WarmUp(Section):
    """The start of the load whose turns are recorded and left out of the figures: a time or a number of turns."""

    for_s: SecondsAboveZero | None = Field(default=None, alias="for")
    turns: OneOrMore | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: object) -> object:
        return rates.warm_up(value) if isinstance(value, str | int | float) else value


class Canary(Section):
    """Each agent is asked for its code word once in `every` turns."""

    every: OneOrMore = 20
