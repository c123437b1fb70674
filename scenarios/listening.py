"""Whether the listeners that a scenario names are there, and take what it gives them."""

from locust_agents.scenarios import checks, suggest
from locust_agents.scenarios.places import KeyPath, Reading
from locust_agents.scenarios.units import shown


def check_listeners(reading: Reading, known: checks.Behaviours) -> None:
    """`listeners:` is a list of names, or a mapping of each to its parameters; other forms are left to the model."""
    wanted = reading.data.get("listeners")
    for path, name, given in _wanted(wanted):
        if name not in known:
            guess = suggest.instead(name, known, "there are")
            reading.report(path, f"no listener is called {shown(name)}; {guess}", at_value=isinstance(wanted, list))
        else:
            checks.check_parameters(reading, path, name, known[name], given)


def _wanted(listeners: object) -> list[tuple[KeyPath, str, dict[str, object]]]:
    if isinstance(listeners, str):
        return [(("listeners",), listeners, {})]
    if isinstance(listeners, list):
        named = [(("listeners", f"[{place}]"), name) for place, name in enumerate(listeners)]
        return [(path, name, {}) for path, name in named if isinstance(name, str)]
    if isinstance(listeners, dict):
        pairs = [(name, given) for name, given in listeners.items() if isinstance(given, dict)]
        return [(("listeners", name), name, given) for name, given in pairs]
    return []
