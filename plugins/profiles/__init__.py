"""The profiles that ship, and how a YAML file becomes a Profile."""

from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from locust_agents.errors import PluginError
from locust_agents.messages import ReasoningReplay
from locust_agents.patience import Timeouts
from locust_agents.profile import Profile

# Ours to say. Another model's name makes the server drain its batch and load weights, `seed` takes a request out of it.
_RESERVED = ("model", "stream", "stream_options", "messages", "tools", "seed", "max_tokens")


def _without_reserved(parameters: dict[str, object]) -> dict[str, object]:
    if taken := sorted(parameters.keys() & set(_RESERVED)):
        raise ValueError(f"{', '.join(taken)}: not for a profile to say")
    return parameters


def _fillable(headers: dict[str, str]) -> dict[str, str]:
    for name, text in headers.items():
        try:
            text.format(session="s")
        except (KeyError, IndexError, ValueError):
            raise ValueError(f"{name}: only {{session}} can be filled in, got {text!r}") from None
    return headers


Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Timeouts(_Strict):
    connect_s: Seconds | None = Timeouts().connect_s
    headers_s: Seconds | None = Timeouts().headers_s
    first_token_s: Seconds | None = Timeouts().first_token_s
    silence_s: Seconds | None = Timeouts().silence_s
    turn_s: Seconds | None = Timeouts().turn_s


class _File(_Strict):
    """The keys of a profile file; their meaning is that of Profile's fields."""

    name: str
    product: str
    source: str
    system_tokens: Count
    tool_tokens: Count
    tools: tuple[str, ...]
    max_tokens: Count | None
    parameters: Annotated[dict[str, object], AfterValidator(_without_reserved)] = {}
    headers: Annotated[dict[str, str], AfterValidator(_fillable)] = {}
    reasoning_replay: ReasoningReplay = "none"
    tool_result_cap_tokens: Count | None = None
    timeouts: _Timeouts = _Timeouts()
    comments_reset: bool = False
    retry_waits_s: tuple[Seconds, ...] = ()


def read(text: str, file: str) -> Profile:
    """The profile in a YAML text; raises PluginError, one line for each mistake with the key it is at."""
    try:
        values: Any = yaml.safe_load(text)
        found = _File.model_validate(values)
    except yaml.YAMLError as error:
        raise PluginError(f"{file}: not YAML: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        lines = (f"{file}: {'.'.join(map(str, wrong['loc']))}: {wrong['msg']}" for wrong in error.errors())
        raise PluginError("\n".join(lines)) from None
    fields = {name: getattr(found, name) for name in _File.model_fields}
    return Profile(**{**fields, "timeouts": Timeouts(**found.timeouts.model_dump())})


def read_file(path: Path) -> Profile:
    """The profile of a YAML file."""
    return read(path.read_text(encoding="utf-8"), str(path))


def shipped(name: str) -> Profile:
    """A profile that lies beside this module."""
    file = resources.files("locust_agents.plugins.profiles") / f"{name}.yaml"
    return read(file.read_text(encoding="utf-8"), f"{name}.yaml")


def opencode() -> Profile:
    """OpenCode, the entry point's way to its file."""
    return shipped("opencode")
