"""Decides what is said of a plugin: its parameters as a scenario would write them, and its own words."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from locust_agents.plugins import fault_lines, files, registry
from locust_agents.plugins.api import Behaviour, Launcher
from locust_agents.plugins.door import Installed
from locust_agents.plugins.offers import ListenerMaker
from locust_agents.profile import Profile
from locust_agents.quantities import count, counted

_UNNAMED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Description:
    """Of one plugin; `origin` is its package or its file, `text` all that it says of itself."""

    name: str
    origin: str
    parameters: tuple[str, ...]
    summary: str
    text: str


def every() -> dict[str, list[Description]]:
    """Of all that there is, by kind and in the order of their names."""
    kinds: dict[str, tuple[Mapping[str, Any], Callable[[], Installed[Any]], Callable[[Any], _Words]]] = {
        "behaviours": (registry.behaviours(), registry.installed_behaviours, _of_behaviour),
        "profiles": (registry.profiles(), registry.installed_profiles, _of_profile),
        "listeners": (registry.listeners(), registry.installed_listeners, _of_listener),
        "launchers": (registry.launchers(), registry.installed_launchers, _of_launcher),
    }
    return {
        kind: [_described(name, _origins(kind, installed()), words(one)) for name, one in sorted(found.items())]
        for kind, (found, installed, words) in kinds.items()
    }


@dataclass(frozen=True, slots=True)
class _Words:
    parameters: Mapping[str, inspect.Parameter]
    summary: str
    text: str


def _described(name: str, origins: Mapping[str, str], words: _Words) -> Description:
    given = tuple(_parameter(one) for one in words.parameters.values() if one.kind not in _UNNAMED)
    return Description(name, origins.get(name, "a profile's file"), given, words.summary, words.text)


def _origins(kind: str, installed: Installed[Any]) -> dict[str, str]:
    of_files = {name: fault_lines.shown(path) for path, offered in files.plugins().items() for name in offered[kind]}
    return installed.origins | of_files


def _parameter(parameter: inspect.Parameter) -> str:
    if parameter.default is inspect.Parameter.empty:
        return f"{parameter.name}: (needed)"
    return f"{parameter.name}: {_yaml(parameter.default)}"


def _yaml(value: object) -> str:
    """A default as a scenario writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def _of_behaviour(made: Behaviour) -> _Words:
    return _Words(made.parameters, made.summary, inspect.getdoc(made.function) or "")


def _of_listener(made: ListenerMaker) -> _Words:
    return _Words(made.parameters, made.summary, made.summary)


def _of_launcher(made: Launcher) -> _Words:
    text = inspect.getdoc(type(made)) or ""
    return _Words({}, text.partition("\n")[0], text)


def _of_profile(made: Profile) -> _Words:
    start = count(made.system_tokens + made.tool_tokens + made.few_shot_tokens + made.first_user_tokens)
    number = len(made.tools)
    tools = counted(number, "tool")
    short = f"{made.product}: {tools}, {start} tokens" if made.sent_as is None else f"{made.product}: {start} tokens"
    sent_as = "" if made.sent_as is None else ", sent as chat completions"
    lines = (f"{made.product}: {tools}, {start} tokens before the first word", made.sent_as, made.source)
    return _Words({}, short + sent_as, "\n".join(line for line in lines if line))
