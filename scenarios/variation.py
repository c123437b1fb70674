"""Whether every value that a sweep or a search for capacity is going to try is one that its key can have."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from locust_agents.scenarios import suggest, units
from locust_agents.scenarios.model import EXTENDS
from locust_agents.scenarios.overrides import path_of, put
from locust_agents.scenarios.places import KeyPath, Place, Problem, Reading, ScenarioProblems, dotted
from locust_agents.scenarios.questions import Capacity

Judge = Callable[[Reading], object]
"""Adds to a reading what is wrong with it."""

VARIES = ("sweep", "capacity")
"""The keys of a scenario that are about more than one run."""

_FIXED = (*VARIES, EXTENDS, "name", "plugins")
_ENDS = (("from", "lowest"), ("to", "highest"))
_MOST_CELLS = 500


@dataclass(frozen=True, slots=True)
class _Axis:
    """The values for one key; `path` is where the key stands in the file, `places` are where the values do."""

    key: str
    path: KeyPath
    values: Sequence[object]
    places: Sequence[KeyPath]


def check(untouched: Reading, reading: Reading, judge: Judge) -> None:
    """Report what would be wrong with a cell and is not with the scenario itself, at the value that brings it about.

    `untouched` is the reading as it was opened, which `judge` has not filled in yet.
    """
    trial = untouched.copy()
    sweep, search = trial.data.pop("sweep", None), reading.data.get("capacity")
    trial.data.pop("capacity", None)
    known = {str(problem) for problem in reading.problems}

    def wrong(values: Mapping[str, tuple[object, Place]]) -> list[Problem]:
        found = _judged(trial.copy(), values, judge)
        return [problem for problem in found if str(problem) not in known]

    axes = [axis for axis in _axes(sweep) if _can_be_varied(reading, axis.key, axis.path)]
    for axis in axes:
        _check_axis(reading, axis, wrong)
    if not any(problem.path[:1] == ("sweep",) for problem in reading.problems):
        _check_cells(reading, axes, wrong)
    if isinstance(search, dict):
        _check_search(reading, search, wrong)


Wrong = Callable[[Mapping[str, tuple[object, Place]]], list[Problem]]


def _judged(trial: Reading, values: Mapping[str, tuple[object, Place]], judge: Judge) -> list[Problem]:
    try:
        for key, (value, place) in values.items():
            put(trial, key, value, place)
    except ScenarioProblems as error:
        return list(error.problems)
    judge(trial)
    return trial.problems


def _axes(sweep: object) -> Iterator[_Axis]:
    """What is no list is left to the model."""
    for key, values in sweep.items() if isinstance(sweep, dict) else ():
        if isinstance(values, list):
            path = ("sweep", key)
            yield _Axis(key, path, values, [(*path, f"[{n}]") for n in range(len(values))])


def _can_be_varied(reading: Reading, key: str, path: KeyPath, *, at_value: bool = False) -> bool:
    """`path` is where the key itself is written, as a key or as a value."""
    above, *below = path_of(key)
    swarm = reading.data.get("swarm")
    entries = list(swarm) if isinstance(swarm, dict) else []
    if not above or not all(below):
        text = "the key has an empty part"
    elif above in _FIXED:
        text = f"{above} is the same for all runs"
    elif above == "swarm" and below and below[0] not in entries:
        text = f"no entry is called {units.shown(below[0])}; {suggest.instead(below[0], entries, 'there are')}"
    else:
        return True
    reading.report(path, text, at_value=at_value)
    return False


def _check_axis(reading: Reading, axis: _Axis, wrong: Wrong) -> None:
    if not axis.values:
        reading.report(axis.path, "needs at least one value")
    mistakes = []
    for value, path in zip(axis.values, axis.places, strict=True):
        if axis.values.index(value) < axis.places.index(path):
            reading.report(path, f"{units.shown(value)} is there twice; keep one")
        found = [] if reading.is_reported(path) else wrong({axis.key: (value, reading.place(path))})
        mistakes.append(_texts(found, axis.key))
    if len(mistakes) > 1 and all(texts == mistakes[0] for texts in mistakes):
        _report(reading, axis.path, mistakes[0], at_value=False)
        return
    for path, texts in zip(axis.places, mistakes, strict=True):
        _report(reading, path, texts)


def _texts(problems: Sequence[Problem], key: str) -> list[str]:
    own = path_of(key)
    return [each.text if each.path == own else f"{dotted(each.path)}: {each.text}" for each in problems]


def _report(reading: Reading, path: KeyPath, texts: Sequence[str], *, at_value: bool = True) -> None:
    for text in texts:
        reading.report(path, text, at_value=at_value)


def _check_cells(reading: Reading, axes: Sequence[_Axis], wrong: Wrong) -> None:
    """Values that are right by themselves may exclude each other; a mistake is told of the first cell that has it."""
    count, told = _product(axes), set[str]()
    if count > _MOST_CELLS:
        reading.report(("sweep",), f"has {count:,} cells; at most {_MOST_CELLS} can be run", at_value=False)
    elif len(axes) > 1:
        for numbers in itertools.product(*(range(len(axis.values)) for axis in axes)):
            cell = {
                axis.key: (axis.values[number], reading.place(axis.places[number]))
                for axis, number in zip(axes, numbers, strict=True)
            }
            for problem in wrong(cell):
                if str(problem) not in told:
                    told.add(str(problem))
                    others = ", ".join(f"{key} {units.shown(value)}" for key, (value, _) in list(cell.items())[:-1])
                    text = f"with {others}: {dotted(problem.path)}: {problem.text}"
                    reading.report(axes[-1].places[numbers[-1]], text)


def _product(axes: Sequence[_Axis]) -> int:
    count = 1
    for axis in axes:
        count *= len(axis.values)
    return count


def _check_search(reading: Reading, search: Mapping[str, object], wrong: Wrong) -> None:
    """The ends of the search must be values of its key, and the first the smaller one."""
    key, path = search.get("over"), ("capacity", "over")
    if not isinstance(key, str) or not _can_be_varied(reading, key, path, at_value=True):
        return
    fields = Capacity.model_fields
    try:
        ends = [units.count(search.get(name, fields[field].default)) for name, field in _ENDS]
    except ValueError:
        return
    if ends[0] >= ends[1]:
        reading.report(("capacity", "to"), f"must be more than from, which is {ends[0]}; got {ends[1]}")
    mistakes = [_texts(wrong({key: (end, reading.place(path))}), key) for end in ends]
    if all(mistakes):
        _report(reading, path, [f"with {ends[0]} in {key}: {text}" for text in mistakes[0]])
        return
    for (name, _), texts in zip(_ENDS, mistakes, strict=True):
        _report(reading, ("capacity", name), texts)
