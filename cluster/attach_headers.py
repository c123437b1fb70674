"""Decides which headers go with every request to an attached server, and where their secrets come from."""

import os
import re
from collections.abc import Mapping

from locust_agents.errors import ScenarioError
from locust_agents.scenarios.model import Attach

_NAME = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def headers(attach: Attach, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The headers with each `${NAME}` filled in; raises ScenarioError that names the variable that is not set."""
    found = {name: _filled(f"server.attach.headers.{name}", text, environment) for name, text in attach.headers.items()}
    if attach.api_key is not None:
        found["Authorization"] = f"Bearer {_filled('server.attach.api_key', attach.api_key, environment)}"
    return found


def _filled(key: str, text: str, environment: Mapping[str, str]) -> str:
    for name in _NAME.findall(text):
        if name not in environment:
            raise ScenarioError(f"{key}: ${{{name}}} is not set: export {name}=… before the run")
    return _NAME.sub(lambda match: environment[match[1]], text)
