"""The profiles that ship, and how a YAML file becomes a Profile."""

from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from locust_agents.errors import PluginError
from locust_agents.profile import Profile

_PROFILE = TypeAdapter(Profile)


def read(text: str, file: str) -> Profile:
    """The profile in a YAML text; raises PluginError, one line for each mistake with the key it is at."""
    try:
        values: Any = yaml.safe_load(text)
        return _PROFILE.validate_python(values)
    except yaml.YAMLError as error:
        raise PluginError(f"{file}: not YAML: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        lines = (f"{file}: {'.'.join(map(str, wrong['loc']))}: {wrong['msg']}" for wrong in error.errors())
        raise PluginError("\n".join(lines)) from None


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
