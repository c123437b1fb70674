"""Whether a twin does the same work as the entry that it names, and what it takes from there where it says nothing."""

import copy
from collections.abc import Iterator, Mapping

from pydantic import ValidationError

from locust_agents.scenarios import suggest, units
from locust_agents.scenarios.model import Entry
from locust_agents.scenarios.places import Reading

# The keys that decide what agents draw and send; when they start (`after`) is what twins may differ in.
_WORK = ("behaviour", "profile", "with", "agents", "arrival", "cap_prompt", "prefix")
_FIELDS = {field.alias or name: name for name, field in Entry.model_fields.items()}

Entries = dict[str, dict[str, object]]


def fill(reading: Reading) -> None:
    """Give a twin what it leaves out; of an entry that is wrong itself only the behaviour, which every entry needs.

    How many agents it has is left to the stages, where there are any.
    """
    entries, has_stages = _entries(reading), "stages" in reading.data
    for name, twin in _twins(entries):
        if _refused(name, twin, entries) is None and twin in entries:
            own, other = entries[name], entries[twin]
            wanted = _WORK if _read(other) is not None else _WORK[:1]
            left_out = [key for key in wanted if key in other and key not in own]
            own.update({key: copy.deepcopy(other[key]) for key in left_out if key != "agents" or not has_stages})


def check(reading: Reading) -> None:
    """Report a twin of nobody, of itself or of another twin, and each key by which it would do other work."""
    entries = _entries(reading)
    for name, twin in _twins(entries):
        refused = _refused(name, twin, entries)
        if refused is not None:
            reading.report(("swarm", name, "twin_of"), refused)
            entries[name].setdefault("behaviour", "none")  # that it has none is no second mistake
        elif twin in entries:
            _check_work(reading, name, twin, entries)


def _entries(reading: Reading) -> Entries:
    """Those that are mappings; the model refuses the others."""
    swarm = reading.data.get("swarm")
    return {name: entry for name, entry in swarm.items() if isinstance(entry, dict)} if isinstance(swarm, dict) else {}


def _twins(entries: Entries) -> Iterator[tuple[str, str]]:
    for name, entry in entries.items():
        if isinstance(twin := entry.get("twin_of"), str):
            yield name, twin


def _refused(name: str, twin: str, entries: Entries) -> str | None:
    others = [other for other in entries if other != name]
    if twin == name:
        return f"an entry is no twin of itself; the others are {suggest.listed(others)}"
    if twin not in entries:
        return f"no entry is called {units.shown(twin)}; {suggest.instead(twin, others, 'the others are')}"
    first = entries[twin].get("twin_of")
    return None if first is None else f"{twin} is a twin itself; name the entry that it repeats: {units.shown(first)}"


def _check_work(reading: Reading, name: str, twin: str, entries: Entries) -> None:
    own, other = _read(entries[name]), _read(entries[twin])
    if own is None or other is None:
        return  # what is wrong with it is told by the model
    for key in _WORK:
        if getattr(own, _FIELDS[key]) != getattr(other, _FIELDS[key]):
            path = ("swarm", name, key)
            reading.report(path, _other_work(key, twin, entries[twin], path in reading.keys))
            if key == "behaviour":
                return  # its parameters are others then, and nothing is said by that


def _other_work(key: str, twin: str, other: Mapping[str, object], is_written: bool) -> str:
    there = units.shown(other.get(key) or Entry.model_fields[_FIELDS[key]].default or None)
    cure = "leave it out here, or write the same" if is_written else "let the stages have as many of both"
    return f"a twin does the same work as {twin}, where it is {there}; {cure}"


def _read(entry: Mapping[str, object]) -> Entry | None:
    try:
        return Entry.model_validate(entry)
    except ValidationError:
        return None
