"""Which server a scenario is for, and how it comes to be there: launched, attached to, or a plugin's."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from locust_agents.scenarios import units
from locust_agents.scenarios.section import OneOrMore, Plain, Port, Scalar, SecondsAboveZero, Section, Switch, Text


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
    pipeline: Switch = False
    starting_port: Port | None = None


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
    """Exactly one of `launch`, `attach` and `launcher` is set; `options` are mlx_lm.server's own, without the dashes.

    `launcher` names a plugin, which `parameters` are for. A server on which nothing moves for `silence_s` while turns
    are open is asked for a sign of life.
    """

    launch: Launch | None = None
    attach: Attach | None = None
    launcher: Text | None = None
    parameters: Mapping[str, Plain] = Field(default={}, alias="with")
    options: Annotated[Mapping[str, Plain], AfterValidator(_option_names)] = {}
    port: Port | None = None
    ready_s: SecondsAboveZero = Field(default=900.0, alias="ready")
    silence_s: SecondsAboveZero = Field(default=120.0, alias="silence")
    on_failure: Literal["stop", "restart"] = "stop"
