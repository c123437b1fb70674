"""Where a text of a scenario asks for an environment variable, as `${NAME}`, and what stands there instead.

`$${NAME}` is the text `${NAME}` itself. What may be a secret is never filled in here: it would get into a run's folder.
"""

import re
from collections.abc import Mapping

from locust_agents.scenarios.places import KeyPath

_ASKED = re.compile(r"\$(\$?)\{([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRETS = (("server", "attach", "api_key"), ("server", "attach", "headers"))


def is_secret(path: KeyPath) -> bool:
    """Whether the text at this path keeps its `${NAME}` until a request is made."""
    return path[:3] in _SECRETS


def complaint(text: str, environment: Mapping[str, str]) -> str | None:
    """Return why the text cannot be filled in, None when it can."""
    for escaped, name in _ASKED.findall(text):
        if not escaped and not _NAME.fullmatch(name):
            return f"'${{{name}}}' names no environment variable; for the text itself write $${{{name}}}"
        if not escaped and name not in environment:
            return f"the environment variable {name} is not set; export {name}=… first"
    return None


def filled(text: str, environment: Mapping[str, str] | None) -> str:
    """Return the text with its variables, all of which are set; without an environment only `$${` is undone."""

    def instead(match: re.Match[str]) -> str:
        if match[1]:
            return match[0][1:]
        return match[0] if environment is None else environment[match[2]]

    return _ASKED.sub(instead, text)


def escaped(value: object, path: KeyPath = ()) -> object:
    """Return plain values so that `filled` gives them back: the inverse, for a scenario that is written down."""
    if is_secret(path):
        return value
    if isinstance(value, str):
        return _ASKED.sub(lambda match: f"${match[0]}", value)
    if isinstance(value, Mapping):
        return {key: escaped(below, (*path, key)) for key, below in value.items()}
    return [escaped(each, path) for each in value] if isinstance(value, list | tuple) else value
