"""How a fault of a plugin is told: one line, with the file and line of it that raised, and who it was."""

from locust_agents.errors import PluginError
from locust_agents.plugins import fault_lines
from locust_agents.plugins.api import Behaviour


def describe(behaviour: Behaviour | str, error: BaseException) -> str:
    """What its author must see; a PluginError says it all itself.

    A call that did not fit the behaviour's parameters raised in no line of its own: then its definition is named. What
    raised in ours alone is ours.
    """
    if isinstance(error, PluginError):
        return " ".join(str(error).split())
    name = behaviour if isinstance(behaviour, str) else behaviour.name
    place, reason = fault_lines.line_of(error), fault_lines.reason_of(error)
    if place is None and isinstance(behaviour, Behaviour) and fault_lines.is_of_a_call(error):
        place = fault_lines.defined_at(behaviour.function.__code__)
    if place is None:
        return (
            f"a fault in locust-agents, please report it: {fault_lines.innermost(error)}{reason} (behaviour {name!r})"
        )
    return f"{place}: {reason} (behaviour {name!r})"
