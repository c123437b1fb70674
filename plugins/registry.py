"""Which plugins there are of each kind: entry points of installed packages, ours among them, and named files."""

import functools
import inspect
from collections.abc import Mapping
from typing import TypeVar

from locust_agents.errors import PluginError
from locust_agents.plugins import door, files, offers
from locust_agents.plugins.api import Behaviour, Launcher
from locust_agents.plugins.door import Broken, Installed
from locust_agents.plugins.offers import ListenerMaker
from locust_agents.profile import Profile

T = TypeVar("T")


def behaviours() -> Mapping[str, Behaviour]:
    """Every behaviour by its name; a file's goes before an installed one."""
    return installed_behaviours().found | files.of_kind("behaviours")


def profiles() -> Mapping[str, Profile]:
    """Every profile by its name; a file's goes before an installed one."""
    by_path = files.profiles()
    by_name = {one.name: one for one in by_path.values()}  # by which records know it
    return by_name | installed_profiles().found | by_path | files.of_kind("profiles")


def listeners() -> Mapping[str, ListenerMaker]:
    """Every listener by its name; a file's goes before an installed one."""
    return installed_listeners().found | files.of_kind("listeners")


def launchers() -> Mapping[str, Launcher]:
    """Every launcher by its name; a file's goes before an installed one."""
    return installed_launchers().found | files.of_kind("launchers")


@functools.cache
def installed_behaviours() -> Installed[Behaviour]:
    """From the group `locust_agents.behaviours`."""
    return door.installed("behaviours", offers.behaviours_in)


@functools.cache
def installed_profiles() -> Installed[Profile]:
    """From the group `locust_agents.profiles`."""
    return door.installed("profiles", offers.profiles_in)


@functools.cache
def installed_listeners() -> Installed[ListenerMaker]:
    """From the group `locust_agents.listeners`."""
    return door.installed("listeners", offers.listeners_in)


@functools.cache
def installed_launchers() -> Installed[Launcher]:
    """From the group `locust_agents.launchers`."""
    return door.installed("launchers", offers.launchers_in)


def broken() -> tuple[Broken, ...]:
    """The entry points that gave nothing, each with its reason. They matter to nobody who does not name them."""
    kinds = (installed_behaviours(), installed_profiles(), installed_listeners(), installed_launchers())
    return tuple(one for kind in kinds for one in kind.broken)


def parameters() -> Mapping[str, Mapping[str, inspect.Parameter]]:
    """What each behaviour takes, as the scenario loader checks it."""
    return {name: found.parameters for name, found in behaviours().items()}


def listener_parameters() -> Mapping[str, Mapping[str, inspect.Parameter]]:
    """What each listener takes, as the scenario loader checks it."""
    return {name: found.parameters for name, found in listeners().items()}


def behaviour(wanted: Behaviour | str) -> Behaviour:
    """The object itself, or the behaviour of that name; raises PluginError with the names that there are."""
    return wanted if isinstance(wanted, Behaviour) else _named("behaviour", wanted, behaviours())


def profile(wanted: Profile | str) -> Profile:
    """The object itself, or the profile of that name; raises PluginError with the names that there are."""
    return wanted if isinstance(wanted, Profile) else _named("profile", wanted, profiles())


def listener(wanted: str) -> ListenerMaker:
    """The listener of that name; raises PluginError with the names that there are."""
    return _named("listener", wanted, listeners())


def launcher(wanted: str) -> Launcher:
    """The launcher of that name; raises PluginError with the names that there are."""
    return _named("launcher", wanted, launchers())


def why_unknown(kind: str, name: str) -> str | None:
    """Of the broken plugins of this kind (`behaviour`, …) those that may have been meant; None where all are well."""
    broken_ones = [one for one in broken() if one.kind == f"{kind}s"]
    meant = [one for one in broken_ones if one.name == name] or broken_ones
    return "; ".join(one.why for one in meant) or None


def _named(kind: str, name: str, known: Mapping[str, T]) -> T:
    if name not in known:
        there_are = f"no {kind} is called {name!r}; there are {', '.join(sorted(known))}"
        why = why_unknown(kind, name)
        raise PluginError(there_are if why is None else f"{there_are}; {why}")
    return known[name]
