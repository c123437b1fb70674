"""What no single key can tell: defaults that depend on others, names that must exist, keys that exclude each other.

Each check changes the reading's data to what the model takes and reports what is wrong; the model judges the rest.
"""

import inspect
import re
from collections.abc import Collection, Mapping
from pathlib import PurePath

from locust_agents.limits import KINDS, METRICS, BoundError, Limit, parse_limit, with_default_failures
from locust_agents.scenarios import parameters, suggest
from locust_agents.scenarios.places import KeyPath, Reading
from locust_agents.scenarios.units import shown

_ENTRY_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_DEFAULT_DURATION = "90s"
# The keys of `server` that lead to one, and which built-in launcher the first two stand for.
_WAYS = {"launch": "mlx_launch", "attach": "attach", "launcher": None}
_NO_PROBE = "measures the ranks before the run starts a server on them; remove it, or launch with server.launch"

Behaviours = Mapping[str, Mapping[str, inspect.Parameter]]


def drop_empty(reading: Reading) -> None:
    """Report keys without a value, which are often a line half commented out, and take them away."""
    _drop_empty(reading, reading.data, ())


def _drop_empty(reading: Reading, mapping: dict[str, object], path: KeyPath) -> None:
    if path[:1] == ("swarm",) and path[2:] == ("with",):  # there null may be a value
        return
    for key, value in list(mapping.items()):
        if isinstance(value, dict):
            _drop_empty(reading, value, (*path, key))
        elif value is None:
            del mapping[key]
            if not reading.is_reported((*path, key)):
                reading.report((*path, key), "has no value; give it one or remove the key", at_value=False)


def fill_defaults(reading: Reading, file: str) -> None:
    """Name the scenario after its file, end it after 90 s and launch the tiny model where it says nothing else."""
    data = reading.data
    data.setdefault("name", PurePath(file).stem or "scenario")
    if not data.keys() & {"duration", "turns", "sessions", "stages"}:
        data["duration"] = _DEFAULT_DURATION
    server = data.setdefault("server", {})
    if isinstance(server, dict) and not server.keys() & _WAYS.keys():
        server["launch"] = {}
    _fill_capacity(data.get("capacity"), data.get("swarm"))


def _fill_capacity(search: object, swarm: object) -> None:
    """Where there is one entry only, it is the number of its agents that is searched."""
    if isinstance(search, dict) and isinstance(swarm, dict) and len(swarm) == 1:
        search.setdefault("over", f"swarm.{next(iter(swarm))}.agents")


def check_server(reading: Reading, launchers: Collection[str] | None) -> None:
    """Refuse two ways to a server at once, a launcher that is not there, and settings that only a launch takes.

    `launchers` None leaves it to the run whether there is one of that name.
    """
    server = reading.data["server"]
    if not isinstance(server, dict):
        return
    ways = [way for way in _WAYS if way in server]
    if len(ways) > 1:
        one, *_, other = ways
        reading.report(("server", other), f"excludes {one}; keep one of the two", at_value=False)
    elif ways == ["attach"]:
        _refuse_launch_settings(reading, server)
    elif ways == ["launcher"]:
        _check_launcher(reading, server["launcher"], launchers)
    if server.get("with") and "launcher" not in ways:
        reading.report(("server", "with"), "holds a launcher's parameters; name it: launcher: …", at_value=False)
    if "probe" in reading.data and "launch" not in ways:
        reading.report(("probe",), _NO_PROBE, at_value=False)


def _refuse_launch_settings(reading: Reading, server: dict[str, object]) -> None:
    for key in ("options", "port"):
        if server.get(key):
            text = "only a server that the run launches takes it; remove it or attach"
            reading.report(("server", key), text, at_value=False)


def _check_launcher(reading: Reading, name: object, launchers: Collection[str] | None) -> None:
    own = next((way for way, launcher in _WAYS.items() if name == launcher), None)
    if own is not None:
        reading.report(("server", "launcher"), f"{shown(name)} is built in, and has a key of its own: {own}: …")
    elif launchers is not None:
        _check_known(reading, ("server", "launcher"), name, launchers)


def check_swarm(reading: Reading, behaviours: Behaviours, profiles: Collection[str]) -> None:
    """Check the names of entries, behaviours and profiles, and read each `with:`."""
    swarm = reading.data.get("swarm")
    if swarm == {}:
        reading.report(("swarm",), "needs at least one entry, such as fixers: {behaviour: fix_failing_test}")
    for name, entry in swarm.items() if isinstance(swarm, dict) else ():
        _check_name(reading, name)
        if isinstance(entry, dict):
            path = ("swarm", name)
            _check_known(reading, (*path, "profile"), entry.get("profile"), profiles)
            behaviour = entry.get("behaviour")
            if _check_known(reading, (*path, "behaviour"), behaviour, behaviours):
                _check_with(reading, path, entry, behaviours)


def _check_name(reading: Reading, name: str) -> None:
    if not _ENTRY_NAME.fullmatch(name):
        text = "the name of an entry is lower-case letters, digits, _ and -, and begins with a letter"
    elif name in KINDS or name in METRICS:
        text = f"'{name}' is a word of the limits; choose another name for the entry"
    else:
        return
    reading.report(("swarm", name), text, at_value=False)


def _check_known(reading: Reading, path: KeyPath, name: object, known: Collection[str]) -> bool:
    """Tell whether `name` is known; one that is not text is left to the model."""
    if isinstance(name, str) and name not in known:
        reading.report(path, f"no {path[-1]} is called {shown(name)}; {suggest.instead(name, known, 'there are')}")
    return isinstance(name, str) and name in known


def _check_with(reading: Reading, path: KeyPath, entry: dict[str, object], behaviours: Behaviours) -> None:
    behaviour = str(entry["behaviour"])
    given = entry.get("with", {})
    if isinstance(given, dict):
        check_parameters(reading, (*path, "with"), behaviour, behaviours[behaviour], given)


def check_parameters(
    reading: Reading, path: KeyPath, taker: str, takes: parameters.Parameters, given: dict[str, object]
) -> None:
    """Read what is given to a plugin, each value as its parameter wants it."""
    for name in parameters.missing(takes, given):
        reading.report((*path, name), f"{taker} needs this parameter", at_value=False)
    for name, value in given.items():
        refused = parameters.not_taken(taker, name, takes)
        if refused is not None:
            reading.report((*path, name), refused, at_value=False)
        elif name in takes:
            given[name] = _converted(reading, (*path, name), value, takes[name])


def _converted(reading: Reading, path: KeyPath, value: object, parameter: inspect.Parameter) -> object:
    try:
        return parameters.converted(value, parameter)
    except ValueError as error:
        if not reading.is_reported(path):
            reading.report(path, str(error))
        return None


def check_limits(reading: Reading) -> None:
    """Replace the limits by what they mean, with the default one for failures."""
    swarm, given = reading.data.get("swarm"), reading.data.get("limits", {})
    entries = list(swarm) if isinstance(swarm, dict) else []
    if not isinstance(given, dict):
        reading.report(("limits",), f"expected a mapping, got {shown(given)}")
        given = {}
    limits = [limit for key, value in given.items() if (limit := _limit(reading, key, value, entries))]
    reading.data["limits"] = with_default_failures(limits, entries)


def _limit(reading: Reading, key: str, value: object, entries: list[str]) -> Limit | None:
    try:
        return parse_limit(key, value, entries)
    except ValueError as error:
        reading.report(("limits", key), str(error), at_value=isinstance(error, BoundError))
        return None
