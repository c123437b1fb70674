"""What a scenario is once it is read: frozen values, times in seconds, every default filled in."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, model_validator

from locust_agents.cluster import byte_sizes
from locust_agents.limits import Limit
from locust_agents.scenarios import units
from locust_agents.scenarios.places import KeyPath

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


def _url(value: str) -> str:
    """Accept http://mac1:8080, https://…/v1 and plain mac1:8080; the text stays as it was written."""
    try:
        parts = urlsplit(value if "://" in value else f"http://{value}")
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port that is no number, a broken IPv6 address
        good = False
    if not good or " " in value:
        raise units.wrong("an address such as http://mac1:8080", value)
    return value


def _option_names(options: Mapping[str, Scalar]) -> Mapping[str, Scalar]:
    for name, instead in (("model", "server.launch.model"), ("port", "server.port")):
        if name in options:
            raise ValueError(f"'{name}' belongs in {instead}")
    for name in options:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
            raise ValueError(f"'{name}' is no option; write it as in --help without the leading dashes")
    return options


_AsDuration = PlainSerializer(units.duration_text)
Text = Annotated[str, BeforeValidator(units.text)]
Count = Annotated[int, BeforeValidator(units.count)]
OneOrMore = Annotated[int, BeforeValidator(units.count), AfterValidator(_one_or_more)]
Factor = Annotated[float, BeforeValidator(units.factor)]
FactorAboveZero = Annotated[float, BeforeValidator(units.factor), AfterValidator(_above_zero)]
Seconds = Annotated[float, BeforeValidator(units.duration), _AsDuration]
SecondsAboveZero = Annotated[float, BeforeValidator(units.duration), AfterValidator(_above_zero), _AsDuration]
Plain = Annotated[Scalar, BeforeValidator(_scalar)]
Limits = Annotated[tuple[Limit, ...], PlainSerializer(lambda limits: {limit.key: limit.text for limit in limits})]


class Section(BaseModel):
    """A mapping of the file: its keys are the aliases, or names, of the fields, and no others."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Launch(Section):
    """A server that the run starts: `model` is tiny, tiny-long, tiny-hybrid, a folder or a name on the hub.

    Without a hostfile all `ranks` (2) are on this machine; with one, each of its hosts is a rank. `backend` None is
    the hostfile's own, else ring.
    """

    model: Text = "tiny"
    ranks: OneOrMore | None = None
    backend: Literal["ring", "jaccl", "jaccl-ring", "mpi"] | None = None
    hostfile: Text | None = None
    python: Text | None = None
    cwd: Text | None = None
    env: Mapping[str, Text] = {}
    pipeline: Annotated[bool, BeforeValidator(units.switch)] = False
    starting_port: Annotated[int, BeforeValidator(units.count), AfterValidator(_port)] | None = None


class Attach(Section):
    """A server that is already there and is never stopped; `url` is as the user wrote it.

    `model` is what it has loaded, needed where it is not mlx_lm.server. `api_key` and `headers` may hold `${NAME}`,
    which is read from the environment as the run begins, so that no secret gets into a run's folder. `log` is rank 0's.
    """

    url: Annotated[str, BeforeValidator(units.text), AfterValidator(_url)]
    model: Text | None = None
    hostfile: Text | None = None
    log: Text | None = None
    api_key: Text | None = None
    headers: Mapping[str, Text] = {}

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: object) -> object:
        return {"url": value} if isinstance(value, str) else value


class Server(Section):
    """Exactly one of `launch` and `attach` is set; `options` are mlx_lm.server's own, without the dashes.

    A server on which nothing moves for `silence_s` while turns are open is asked for a sign of life.
    """

    launch: Launch | None = None
    attach: Attach | None = None
    options: Annotated[Mapping[str, Plain], AfterValidator(_option_names)] = {}
    port: Annotated[int, BeforeValidator(units.count), AfterValidator(_port)] | None = None
    ready_s: SecondsAboveZero = Field(default=900.0, alias="ready")
    silence_s: SecondsAboveZero = Field(default=120.0, alias="silence")
    on_failure: Literal["stop", "restart"] = "stop"


class Gaps(Section):
    """Tool and human pauses: multiplied by `scale`, then at most `cap_s`."""

    scale: Factor = 1.0
    cap_s: Seconds | None = Field(default=None, alias="cap")


class Entry(Section):
    """One line of the swarm: `agents` slots of one behaviour, the first of which starts at `after_s`."""

    behaviour: Text
    profile: Text = "opencode"
    agents: OneOrMore = 1
    parameters: Mapping[str, Plain] = Field(default={}, alias="with")
    after_s: Seconds = Field(default=0.0, alias="after")


class Start(Section):
    """How the agents of an entry come in: one each `apart_s`."""

    apart_s: Seconds = Field(default=1.0, alias="apart")


class GuardKeys(Section):
    """What ends the sending before a host comes to harm: growth of its swap (1 GB = 10^9 bytes), memory pressure."""

    swap_growth: Annotated[int, BeforeValidator(byte_sizes.size), PlainSerializer(lambda size: f"{size}B")] | None = (
        None
    )
    pressure: Literal["warn", "critical"] | None = None


class Timeouts(Section):
    """The client's patience; None means what the entry's profile does."""

    connect_s: SecondsAboveZero | None = Field(default=None, alias="connect")
    headers_s: SecondsAboveZero | None = Field(default=None, alias="headers")
    first_token_s: SecondsAboveZero | None = Field(default=None, alias="first_token")
    silence_s: SecondsAboveZero | None = Field(default=None, alias="silence")
    turn_s: SecondsAboveZero | None = Field(default=None, alias="turn")


class Scenario(Section):
    """One run, wholly described; whichever of `duration_s`, `turns` (all agents) and `sessions` (each) comes first."""

    name: Text
    server: Server
    duration_s: SecondsAboveZero | None = Field(default=None, alias="duration")
    turns: OneOrMore | None = None
    sessions: OneOrMore | None = None
    seed: Count = 1
    scale: FactorAboveZero = 1.0
    gaps: Gaps = Gaps()
    replies: Literal["live", "scripted"] = "live"
    outputs: Literal["live", "drawn"] = "live"
    cache: Literal["cold", "warm"] = "cold"
    swarm: Mapping[str, Entry]
    start: Start = Start()
    drain_s: Seconds = Field(default=30.0, alias="drain")
    limits: Limits = ()
    timeouts: Timeouts = Timeouts()
    guard: GuardKeys = GuardKeys()


_SECTIONS: Mapping[KeyPath, type[Section]] = {
    (): Scenario,
    ("server",): Server,
    ("server", "launch"): Launch,
    ("server", "attach"): Attach,
    ("gaps",): Gaps,
    ("swarm", "*"): Entry,
    ("start",): Start,
    ("timeouts",): Timeouts,
    ("guard",): GuardKeys,
}


def keys_at(path: KeyPath) -> list[str]:
    """Return the keys that the mapping at `path` may have, in the order of the documentation."""
    section = _SECTIONS[("swarm", "*") if path[:1] == ("swarm",) else path]
    return [field.alias or name for name, field in section.model_fields.items()]
