"""Decides what of a module, or of an object, counts as a plugin of which kind, and under which name."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeGuard

from locust_agents.errors import PluginError
from locust_agents.plugins.api import Behaviour, Launcher, Listener
from locust_agents.profile import Profile


@dataclass(frozen=True, slots=True)
class ListenerMaker:
    """A listener before it is made: each run makes one of its own, with what the scenario sets of `parameters`."""

    name: str
    make: Callable[..., Listener]
    parameters: Mapping[str, inspect.Parameter]
    summary: str


def behaviours_in(made: object, name: str) -> dict[str, Behaviour]:
    """Every behaviour under its own name, which is its function's."""
    del name
    found = {one.name: one for one in _values(made) if isinstance(one, Behaviour) and _is_of(one.function, made)}
    return found or _none("behaviour", made, "make one with @behaviour")


def profiles_in(made: object, name: str) -> dict[str, Profile]:
    """Every profile under its own name; a function is called for one."""
    del name
    is_maker = callable(made) and not isinstance(made, Profile | ModuleType)
    values = [made()] if is_maker and callable(made) else _values(made)
    found = {one.name: one for one in values if isinstance(one, Profile)}
    return found or _none("profile", made, "name a Profile, or a function that returns one")


def listeners_in(made: object, name: str) -> dict[str, ListenerMaker]:
    """A class or an object with `on_turn`, under `name`; those of a module under the names of their classes."""
    if _is_listener(made):
        return {name: _maker(name, made)}
    own = {word: one for word, one in _named(made) if _is_listener(one) and _is_of(one, made)}
    return {word: _maker(word, one) for word, one in own.items()} or _none("listener", made, "give a class `on_turn`")


def launchers_in(made: object, name: str) -> dict[str, Launcher]:
    """Every object with `name` and `start` under its own name; of a class that has both, one is made."""
    del name
    own = [one for one in _values(made) if _is_launcher(one) and _is_of(one, made)]
    found = {one.name: one() if isinstance(one, type) else one for one in own}
    return found or _none("launcher", made, "give an object a `name` and a method `start`")


def offered(module: ModuleType) -> dict[str, dict[str, Any]]:
    """All that a file holds, by kind; raises PluginError where it holds nothing of use."""
    kinds: Mapping[str, Callable[[object, str], dict[str, Any]]]
    kinds = {
        "behaviours": behaviours_in,
        "profiles": profiles_in,
        "listeners": listeners_in,
        "launchers": launchers_in,
    }
    found = {kind: _or_nothing(offers_in, module) for kind, offers_in in kinds.items()}
    if not any(found.values()):
        raise PluginError("it offers no behaviour, profile, listener or launcher; see docs/plugins.md")
    return found


def _or_nothing(offers_in: Callable[[object, str], dict[str, Any]], module: ModuleType) -> dict[str, Any]:
    try:
        return offers_in(module, module.__name__)
    except PluginError:
        return {}


def _named(made: object) -> Iterator[tuple[str, object]]:
    """What a module calls by a public name."""
    for name, value in vars(made).items() if isinstance(made, ModuleType) else ():
        if not name.startswith("_"):
            yield name, value


def _values(made: object) -> list[object]:
    return [value for _, value in _named(made)] if isinstance(made, ModuleType) else [made]


def _is_listener(made: object) -> TypeGuard[Any]:
    is_protocol = isinstance(made, type) and getattr(made, "_is_protocol", False)
    return callable(getattr(made, "on_turn", None)) and not is_protocol and not isinstance(made, ModuleType)


def _is_launcher(made: object) -> TypeGuard[Any]:
    is_protocol = isinstance(made, type) and getattr(made, "_is_protocol", False)
    has_name = isinstance(getattr(made, "name", None), str)
    return has_name and callable(getattr(made, "start", None)) and not is_protocol


def _is_of(value: object, made: object) -> bool:
    """Not what a module has merely imported from another package, to build on it."""
    if not isinstance(made, ModuleType):
        return True
    home = getattr(value, "__module__", None) or type(value).__module__
    return home.partition(".")[0] == made.__name__.partition(".")[0]


def _maker(name: str, made: Any) -> ListenerMaker:
    cls = made if isinstance(made, type) else type(made)
    summary = (inspect.getdoc(cls) or "").partition("\n")[0]
    if not isinstance(made, type):
        return ListenerMaker(name, lambda: made, {}, summary)
    return ListenerMaker(name, made, inspect.signature(made, eval_str=True).parameters, summary)


def _none(what: str, made: object, cure: str) -> Any:
    where = made.__name__ if isinstance(made, ModuleType) else repr(made)
    raise PluginError(f"no {what} in {where}; {cure}")
