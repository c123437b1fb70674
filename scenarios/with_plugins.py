"""Decides what is loaded before a scenario is checked: plugin files and profile files, named in it or beside it."""

import dataclasses
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from locust_agents.errors import PluginError
from locust_agents.plugins import fault_lines, files, registry
from locust_agents.scenarios import layers, loader
from locust_agents.scenarios.model import Scenario
from locust_agents.scenarios.overrides import Override
from locust_agents.scenarios.places import KeyPath, Problem, Reading, ScenarioProblems

PLUGINS = "LOCUST_AGENTS_PLUGINS"
"""Environment variable: paths of plugin files, with `:` between them, as in PATH. Workers read it too."""

_UNKNOWN = re.compile(r"no (behaviour|profile|launcher|listener) is called '(.*?)'")
_PROFILE_FILE = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class _Named:
    """The plugin files of a run, and its profile files by the text that stands for each."""

    plugins: tuple[Path, ...]
    profiles: Mapping[str, Path]


def load(path: Path, overrides: Sequence[Override] = (), plugins: Sequence[str] = ()) -> Scenario:
    """Reads a file, once its plugins, those of the variable and `plugins` are in.

    What it names by a relative path lies beside it, or beside the file that it extends and that does so; all else, in
    the working folder. Texts that ask for environment variables are filled in. The scenario that returns has full
    paths. Raises PluginError for what cannot be loaded, else what `loader.load` raises.
    """
    return _judged(layers.open_file(path, overrides, os.environ), str(path), plugins)


def parse(text: str, file: str, overrides: Sequence[Override] = (), plugins: Sequence[str] = ()) -> Scenario:
    """Like `load`, for a text that lies in no file."""
    return _judged(layers.open_text(text, file, overrides, os.environ), file, plugins)


def of_plan(text: str) -> Scenario:
    """The scenario of a master's plan. A worker may lack its plugin files, or have been given them under other paths.

    Raises PluginError, which names them, only where it does not come out without them.
    """
    add_files()
    opened = layers.open_text(text, "the master's plan", (), None)
    named = _named(opened, ())
    own = {path.name for path in files.plugins()}
    absent = [path for path in named.plugins if not path.is_file() and path.name not in own]
    usable = tuple(path for path in named.plugins if path.is_file() and path.name not in own)
    present = dataclasses.replace(named, plugins=usable)
    try:
        return _read(present, lambda *known: loader.judged(opened, "the master's plan", loader.Known(*known)))
    except ScenarioProblems as error:
        if not absent:
            raise
        lacking = ", ".join(map(str, absent))
        cure = f"{lacking} is not on this machine; give this worker --plugin with its own path"
        raise PluginError(f"{error.problems[0]}; {cure}") from None


def add_files(plugins: Sequence[str] = ()) -> None:
    """Loads those of the variable, and `plugins`; raises PluginError for the first that cannot be."""
    for name in (*os.environ.get(PLUGINS, "").split(os.pathsep), *plugins):
        if name:
            files.add(Path(name))


def _judged(opened: Reading, file: str, plugins: Sequence[str]) -> Scenario:
    """The process that conducts a run knows launchers and listeners besides."""

    def read(behaviours: Any, profiles: Collection[str]) -> Scenario:
        known = loader.Known(behaviours, profiles, registry.launchers(), registry.listener_parameters())
        return loader.judged(opened, file, known)

    return _read(_named(opened, plugins), read)


def _read(named: _Named, read: Callable[[Any, Collection[str]], Scenario]) -> Scenario:
    add_files()
    for path in named.plugins:
        files.add(path)
    full = {text: files.add_profile(path) for text, path in named.profiles.items() if path.is_file()}
    try:
        found = read(registry.parameters(), {**registry.profiles(), **full})
    except ScenarioProblems as error:
        raise ScenarioProblems(_explained(problem, named) for problem in error.problems) from None
    swarm = {
        name: entry.model_copy(update={"profile": full.get(entry.profile, entry.profile)})
        for name, entry in found.swarm.items()
    }
    return found.model_copy(update={"swarm": swarm, "plugins": tuple(map(str, files.plugins()))})


def _explained(problem: Problem, named: _Named) -> Problem:
    """Why a name is unknown, where a file that is not there or a broken package may be the reason."""
    unknown = _UNKNOWN.match(problem.text)
    if unknown is None:
        return problem
    kind, name = unknown.groups()
    if name in named.profiles:
        return dataclasses.replace(problem, text=f"no such file: {fault_lines.shown(named.profiles[name])}")
    why = registry.why_unknown(kind, name)
    return problem if why is None else dataclasses.replace(problem, text=f"{problem.text}; {why}")


def _named(opened: Reading, plugins: Sequence[str]) -> _Named:
    """Each lies beside the file that names it; what an option names, in the working folder."""
    swarm = opened.data.get("swarm")
    entries = swarm.items() if isinstance(swarm, dict) else ()
    written = [(("swarm", name, "profile"), entry.get("profile")) for name, entry in entries if isinstance(entry, dict)]
    profiles = {text: beside for text, beside in _files(opened, written) if text.endswith(_PROFILE_FILE)}
    own = [beside for _, beside in _files(opened, _each(("plugins",), opened.data.get("plugins")))]
    return _Named((*own, *map(Path, plugins)), profiles)


def _each(path: KeyPath, values: object) -> list[tuple[KeyPath, object]]:
    """The items of a list with their paths, or what stands there without brackets."""
    if not isinstance(values, list):
        return [(path, values)]
    return [((*path, f"[{number}]"), value) for number, value in enumerate(values)]


def _files(opened: Reading, written: Sequence[tuple[KeyPath, object]]) -> Iterator[tuple[str, Path]]:
    """The texts among what was written, with the file that each means."""
    for path, text in written:
        if isinstance(text, str):
            yield text, Path(opened.place(path).file).parent / text
