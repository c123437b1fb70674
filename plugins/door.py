"""Decides how a plugin gets in: an entry point of an installed package, or a file; its fault is told with its line."""

import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Generic, TypeVar

from locust_agents.errors import PluginError
from locust_agents.plugins import fault_lines

T = TypeVar("T")
Offers = Callable[[object, str], Mapping[str, T]]


@dataclass(frozen=True, slots=True)
class Broken:
    """An entry point that gave nothing; `why` is one line that names its package and the line at fault."""

    kind: str
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Installed(Generic[T]):
    """What the entry points of a kind gave by name, the package that each came from, and what is wrong with others."""

    found: dict[str, T] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    broken: list[Broken] = field(default_factory=list)


def installed(kind: str, offers: Offers[T]) -> Installed[T]:
    """Loads the group `locust_agents.<kind>`; a point that fails does so alone, and ours come before others."""
    made: Installed[T] = Installed()
    points = metadata.entry_points(group=f"locust_agents.{kind}")
    for point in sorted(points, key=lambda point: (package_of(point) != "locust-agents", package_of(point))):
        try:
            _take(offers(load(point), point.name), package_of(point), made)
        except PluginError as error:
            made.broken.append(Broken(kind, point.name, f"{origin(point)}: {error}"))
        except (Exception, SystemExit) as error:  # noqa: BLE001 (a function that is to make a profile may raise anything)
            made.broken.append(Broken(kind, point.name, f"{origin(point)}: {fault_lines.told(error)}"))
    return made


def _take(offered: Mapping[str, T], package: str, made: Installed[T]) -> None:
    for name, one in offered.items():
        if made.found.setdefault(name, one) is not one:
            raise PluginError(f"{name!r} is taken by {made.origins[name]}; another name is needed")
        made.origins.setdefault(name, package)


def load(point: metadata.EntryPoint) -> object:
    """The object that an entry point names; raises PluginError, whatever its import raised."""
    try:
        made: object = point.load()
    except (Exception, SystemExit) as error:
        raise PluginError(fault_lines.told(error)) from error
    return made


def from_file(path: Path) -> ModuleType:
    """Runs a file as a module of its own; raises PluginError, whatever the file raised, with the file's line."""
    shown = fault_lines.shown(path)
    if not path.is_file():
        raise PluginError(f"{shown}: no such file; --plugin and `plugins:` take the path of a Python file")
    spec = importlib.util.spec_from_file_location(_module_name(path), path)
    if spec is None or spec.loader is None:
        raise PluginError(f"{shown}: not a Python file; its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and pickle look a class's module up by its name
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[spec.name]
        place = fault_lines.line_of(error) or shown
        raise PluginError(f"{place}: {fault_lines.reason_of(error)}") from error
    return module


def _module_name(path: Path) -> str:
    """No import statement can mean it, so that a file called json.py stands in nobody's way."""
    return f"<plugin>{path.resolve()}"


def origin(point: metadata.EntryPoint) -> str:
    """An entry point as its package's author knows it."""
    return f"plugin {point.name!r} of {package_of(point)} (group {point.group})"


def package_of(point: metadata.EntryPoint) -> str:
    """The distribution that declares it."""
    return point.dist.name if point.dist else "an unknown package"
