"""Which scenario the argument of a command means: a file, one that ships, standard input, or none at all."""

import functools
import sys
from collections.abc import Sequence

from locust_agents.errors import ScenarioError
from locust_agents.scenarios import loader, with_plugins
from locust_agents.scenarios.model import Scenario
from locust_agents.scenarios.overrides import Override

_STDIN = "-"


def read(name: str | None, overrides: Sequence[Override] = (), plugins: Sequence[str] = ()) -> Scenario:
    """None is the scenario of a run that names none, `-` what comes in; raises what `with_plugins.load` raises."""
    if name is None:
        return with_plugins.parse(loader.default_text(), "the default scenario", overrides, plugins)
    if name == _STDIN:
        return with_plugins.parse(_stdin(), "stdin", overrides, plugins)
    return with_plugins.load(loader.find(name), overrides, plugins)


@functools.cache
def _stdin() -> str:
    """All of it, read once: a command may read its scenario again, with more overrides."""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScenarioError(f"stdin: not UTF-8 text (byte {error.start}); send it as UTF-8") from None
