"""The profiles that ship: each is a YAML file beside this module, and an attribute of it named after the file."""

from pathlib import Path

from locust_agents.plugins.profiles.reading import read as read
from locust_agents.plugins.profiles.reading import read_file as read_file
from locust_agents.profile import Profile

_FOLDER = Path(__file__).parent


def shipped(name: str) -> Profile:
    """A profile that lies beside this module."""
    return read_file(_FOLDER / f"{name}.yaml")


def __getattr__(name: str) -> Profile:
    """The way of an entry point to a file: `locust_agents.plugins.profiles:qwen_code` is qwen-code.yaml, once read."""
    file = f"{name.replace('_', '-')}.yaml"
    if not (_FOLDER / file).is_file():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return read_file(_FOLDER / file)
