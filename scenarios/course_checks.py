"""Whether what a scenario says of its course fits together: one end, stages of its entries, more than a warm-up."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from locust_agents.scenarios import rates, suggest, units
from locust_agents.scenarios.places import KeyPath, Reading

_Read = TypeVar("_Read")
_ENDS = ("duration", "turns", "sessions")
_NO_STAGES = "says what becomes of agents that a stage has no room for; write stages: too, or remove it"


def check_course(reading: Reading) -> None:
    """Check stages, arrivals and warm-up; an entry gets as many agents as the stage with the most of them has."""
    if "stages" in reading.data:
        _check_stages(reading, reading.data["stages"])
    elif "on_retire" in reading.data:
        reading.report(("on_retire",), _NO_STAGES, at_value=False)
    for path, arrival in _arrivals(reading):
        _check_arrival(reading, path, arrival)
    if "warm_up" in reading.data:
        _check_warm_up(reading, reading.data["warm_up"])


def _check_stages(reading: Reading, stages: object) -> None:
    reading.data.setdefault("on_retire", "finish")
    for key in _ENDS:
        if key in reading.data:
            reading.report((key,), "excludes stages, whose times end the run; keep one of the two", at_value=False)
    if stages == []:
        reading.report(("stages",), "needs at least one stage, such as {for: 60s, fixers: 1}")
    swarm = reading.data.get("swarm")
    if not isinstance(stages, list) or not stages or not isinstance(swarm, dict) or not swarm:
        return
    _check_names(reading, stages, list(swarm))
    for name, entry in swarm.items():
        if isinstance(entry, dict):
            _fill_agents(reading, stages, name, entry)


def _check_names(reading: Reading, stages: list[object], entries: list[str]) -> None:
    if "for" in entries:
        text = "'for' is a word of the stages; choose another name for the entry"
        reading.report(("swarm", "for"), text, at_value=False)
    for number, stage in enumerate(stages):
        for name in stage if isinstance(stage, dict) else ():
            if name != "for" and name not in entries:
                text = f"no entry is called {units.shown(name)}; {suggest.instead(name, entries, 'there are')}"
                reading.report(("stages", f"[{number}]", name), text, at_value=False)


def _fill_agents(reading: Reading, stages: list[object], name: str, entry: dict[str, object]) -> None:
    counts = [stage.get(name, 0) for stage in stages if isinstance(stage, dict)]
    most = max((_or_none(units.count, count) or 0 for count in counts), default=0)
    if most == 0:
        if counts and all(_or_none(units.count, count) == 0 for count in counts):
            text = "no stage has an agent of it; give it a number in one, or remove it"
            reading.report(("swarm", name), text, at_value=False)
        entry.setdefault("agents", 1)
    elif _or_none(units.count, entry.setdefault("agents", most)) not in (most, None):
        text = f"the stages have up to {most} of them; write that, or leave it to the stages"
        reading.report(("swarm", name, "agents"), text)


def _arrivals(reading: Reading) -> Iterator[tuple[KeyPath, object]]:
    if "arrival" in reading.data:
        yield ("arrival",), reading.data["arrival"]
    swarm = reading.data.get("swarm")
    for name, entry in swarm.items() if isinstance(swarm, dict) else ():
        if isinstance(entry, dict) and "arrival" in entry:
            yield ("swarm", name, "arrival"), entry["arrival"]


def _check_arrival(reading: Reading, path: KeyPath, arrival: object) -> None:
    if not isinstance(arrival, dict):
        return
    is_burst = arrival.get("process") == "burst"
    if is_burst and "burst" not in arrival:
        reading.report((*path, "process"), "needs to know how many sessions come at once, such as burst: 4")
    elif "burst" in arrival and not is_burst:
        reading.report((*path, "burst"), "is only for process: burst; write that too, or remove it", at_value=False)


def _check_warm_up(reading: Reading, warm_up: object) -> None:
    parts = _or_none(rates.warm_up, warm_up) if isinstance(warm_up, str | int | float) else warm_up
    if not isinstance(parts, dict):
        return
    if parts.keys() >= {"for", "turns"}:
        reading.report(("warm_up", "turns"), "excludes for; keep one of the two", at_value=False)
    elif not parts:
        reading.report(("warm_up",), "needs for: or turns:, such as {turns: 20}")
    seconds, turns = _or_none(units.duration, parts.get("for")), _or_none(units.count, parts.get("turns"))
    whole_s, all_turns = _length_s(reading), _or_none(units.count, reading.data.get("turns"))
    if (seconds and whole_s and seconds >= whole_s) or (turns and all_turns and turns >= all_turns):
        length = units.duration_text(whole_s) if seconds and whole_s else f"{all_turns} turns"
        reading.report(("warm_up",), f"takes the whole run of {length}; nothing would be measured")


def _length_s(reading: Reading) -> float | None:
    stages = reading.data.get("stages")
    if not isinstance(stages, list):
        return _or_none(units.duration, reading.data.get("duration"))
    lengths = [_or_none(units.duration, stage.get("for")) for stage in stages if isinstance(stage, dict)]
    return None if None in lengths else sum(length or 0.0 for length in lengths)


def _or_none(read: Callable[[object], _Read], value: object) -> _Read | None:
    """What is read, None for a value that the model is going to refuse."""
    try:
        return read(value)
    except ValueError:
        return None
