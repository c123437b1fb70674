"""How a fault of a behaviour is told: one line that names the behaviour, and the file and line of it that raised."""

import traceback

from locust_agents.errors import PluginError


def describe(behaviour: str, error: Exception) -> str:
    """What its author must see; a PluginError says it all itself."""
    words = " ".join(str(error).split())
    if isinstance(error, PluginError):
        return words
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"behaviour {behaviour!r} raised {type(error).__name__}: {words}{place}"
