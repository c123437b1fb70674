"""Which behaviours and profiles there are: entry points of installed packages, the built-ins among them."""

import functools
import inspect
from collections.abc import Mapping
from importlib import metadata
from types import ModuleType
from typing import Any, TypeVar

from locust_agents.errors import PluginError
from locust_agents.plugins.api import Behaviour
from locust_agents.profile import Profile

T = TypeVar("T")


@functools.cache
def behaviours() -> Mapping[str, Behaviour]:
    """Every behaviour by its name; raises PluginError, which names the package whose plugin does not load."""
    found = {}
    for point in metadata.entry_points(group="locust_agents.behaviours"):
        for made in _behaviours_of(_load(point), point):
            found[made.name] = made
    return found


@functools.cache
def profiles() -> Mapping[str, Profile]:
    """Every profile by its name."""
    found = {}
    for point in metadata.entry_points(group="locust_agents.profiles"):
        made = _load(point)
        found_profile = made() if callable(made) else made
        if not isinstance(found_profile, Profile):
            raise PluginError(f"{_origin(point)}: expected a Profile or a function that makes one, got {made!r}")
        found[found_profile.name] = found_profile
    return found


def parameters() -> Mapping[str, Mapping[str, inspect.Parameter]]:
    """What each behaviour takes, as the scenario loader checks it."""
    return {name: found.parameters for name, found in behaviours().items()}


def behaviour(wanted: Behaviour | str) -> Behaviour:
    """The object itself, or the behaviour of that name; raises PluginError with the names that there are."""
    return wanted if isinstance(wanted, Behaviour) else _named("behaviour", wanted, behaviours())


def profile(wanted: Profile | str) -> Profile:
    """The object itself, or the profile of that name; raises PluginError with the names that there are."""
    return wanted if isinstance(wanted, Profile) else _named("profile", wanted, profiles())


def _named(kind: str, name: str, known: Mapping[str, T]) -> T:
    if name not in known:
        raise PluginError(f"no {kind} is called {name!r}; there are {', '.join(sorted(known))}")
    return known[name]


def _behaviours_of(made: Any, point: metadata.EntryPoint) -> list[Behaviour]:
    if isinstance(made, Behaviour):
        return [made]
    found = []
    if isinstance(made, ModuleType):
        found = [value for value in vars(made).values() if isinstance(value, Behaviour)]
    if not found:
        raise PluginError(f"{_origin(point)}: no behaviour in {point.value}; make one with @behaviour")
    return found


def _load(point: metadata.EntryPoint) -> Any:
    try:
        return point.load()
    except Exception as error:
        raise PluginError(f"{_origin(point)}: cannot be loaded: {type(error).__name__}: {error}") from error


def _origin(point: metadata.EntryPoint) -> str:
    package = point.dist.name if point.dist else "an unknown package"
    return f"plugin {point.name!r} of {package} (group {point.group})"
