"""Which files this process was told to load besides what is installed: plugins, and profiles named by their path."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from locust_agents.errors import PluginError
from locust_agents.plugins import door, fault_lines, offers
from locust_agents.plugins.profiles import read_file
from locust_agents.profile import Profile

_plugins: dict[Path, Mapping[str, Mapping[str, Any]]] = {}
_profiles: dict[str, Profile] = {}


def add(path: Path) -> None:
    """Takes in what a Python file offers, once; raises PluginError where it cannot be loaded or offers nothing."""
    full = path.resolve()
    if full in _plugins:
        return
    module = door.from_file(path)
    try:
        offered = offers.offered(module)
    except PluginError as error:
        raise PluginError(f"{fault_lines.shown(path)}: {error}") from None
    except Exception as error:  # an annotation that cannot be evaluated
        raise PluginError(f"{fault_lines.shown(path)}: {fault_lines.reason_of(error)}") from error
    _refuse_twice(offered, full)
    _plugins[full] = offered


def add_profile(path: Path) -> str:
    """Takes in the profile of a YAML file, and returns the name by which it is now known: its full path."""
    full = str(path.resolve())
    if full not in _profiles:
        try:
            _profiles[full] = read_file(path)
        except (OSError, UnicodeDecodeError) as error:
            raise PluginError(f"{fault_lines.shown(path)}: cannot be read: {error}") from None
    return full


def plugins() -> Mapping[Path, Mapping[str, Mapping[str, Any]]]:
    """What each plugin file offered, by kind and name, in the order in which the files were named."""
    return dict(_plugins)


def profiles() -> dict[str, Profile]:
    """The profiles of YAML files, by their full paths."""
    return dict(_profiles)


def of_kind(kind: str) -> dict[str, Any]:
    """What all plugin files offer of one kind, by name."""
    return {name: one for offered in _plugins.values() for name, one in offered[kind].items()}


def _refuse_twice(offered: Mapping[str, Collection[str]], full: Path) -> None:
    for other, known in _plugins.items():
        for kind, names in offered.items():
            if twice := sorted(set(names) & set(known[kind])):
                where = f"{fault_lines.shown(full)}: {', '.join(twice)}"
                raise PluginError(f"{where}: {fault_lines.shown(other)} offers {kind} of the same name; rename one")
