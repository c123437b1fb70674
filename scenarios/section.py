"""What every mapping of a scenario file is made of: strict, frozen, and of values that are read from their units."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, PlainSerializer, WithJsonSchema

from locust_agents.scenarios import units

Scalar = str | int | float | bool | None
"""A value that fits on a command line or in a behaviour's parameter."""


def _above_zero(value: float) -> float:
    if value <= 0:
        raise ValueError("must be more than 0")
    return value


def _one_or_more(value: int) -> int:
    if value < 1:
        raise ValueError(f"must be 1 or more, got {value}")
    return value


def _scalar(value: object) -> object:
    if isinstance(value, dict | list):
        raise units.wrong("text, a number, true or false", value)
    return value


def _port(value: int) -> int:
    if not 1 <= value <= 65535:
        raise ValueError(f"a port is 1 to 65535, got {value}")
    return value


def written(unit: str) -> WithJsonSchema:
    """How such a value is written, for an editor: the name of one of `schema_units.DEFINITIONS`."""
    return WithJsonSchema({"unit": unit})


AsDuration = PlainSerializer(units.duration_text)
Text = Annotated[str, BeforeValidator(units.text), written("text")]
Switch = Annotated[bool, BeforeValidator(units.switch), written("switch")]
Count = Annotated[int, BeforeValidator(units.count), written("count")]
OneOrMore = Annotated[int, BeforeValidator(units.count), AfterValidator(_one_or_more), written("count")]
Port = Annotated[int, BeforeValidator(units.count), AfterValidator(_port), written("count")]
Factor = Annotated[float, BeforeValidator(units.factor), written("factor")]
FactorAboveZero = Annotated[float, BeforeValidator(units.factor), AfterValidator(_above_zero), written("factor")]
Share = Annotated[float, BeforeValidator(units.share), written("factor")]
Seconds = Annotated[float, BeforeValidator(units.duration), AsDuration, written("duration")]
SecondsAboveZero = Annotated[
    float, BeforeValidator(units.duration), AfterValidator(_above_zero), AsDuration, written("duration")
]
Plain = Annotated[Scalar, BeforeValidator(_scalar), written("plain")]


class Section(BaseModel):
    """A mapping of the file: its keys are the aliases, or names, of the fields, and no others."""

    model_config = ConfigDict(frozen=True, extra="forbid")
