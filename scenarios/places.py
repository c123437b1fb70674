"""Where each part of a scenario was written, and how a mistake there is reported."""

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from locust_agents.errors import ScenarioError

KeyPath = tuple[str, ...]
"""The keys from the top to a value; `()` is the whole scenario and `[0]` the first item of a list."""


@dataclass(frozen=True, slots=True)
class Place:
    """`label` is file:line:column or the option; `order` sorts a file's places before those of options.

    `file` is the one that it is in, empty for an option.
    """

    label: str
    order: tuple[int, int, int]
    names_key: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake and what to do about it."""

    place: Place
    path: KeyPath
    text: str

    def __str__(self) -> str:
        key = dotted(self.path)
        parts = (self.place.label, key if key != self.place.names_key else "", self.text)
        return " ".join(": ".join(part for part in parts if part).splitlines())  # a quoted key may hold line ends


class ScenarioProblems(ScenarioError):
    """Every mistake of a scenario at once, in the order of the file, one on each line of the text."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: problem.place.order))
        super().__init__("\n".join(map(str, self.problems)))


@dataclass(slots=True)
class Reading:
    """A scenario as plain mappings, lists and single values, while options and defaults are still being put in.

    `keys` and `values` say where the key and the value at each path begin; `problems` grows until all checks ran.
    `nulls` are written as null in so many letters. `environment` fills in texts as they are read; None leaves them.
    """

    data: dict[str, object] = field(default_factory=dict)
    keys: dict[KeyPath, Place] = field(default_factory=dict)
    values: dict[KeyPath, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    nulls: set[KeyPath] = field(default_factory=set)
    environment: Mapping[str, str] | None = None

    def report(self, path: KeyPath, text: str, *, at_value: bool = True) -> None:
        """Add a problem with the value at `path` or with its key, placed at the nearest one above that was written."""
        self.problems.append(Problem(self.place(path, at_value=at_value), path, text))

    def place(self, path: KeyPath, *, at_value: bool = True) -> Place:
        """Return where the value at `path`, or its key, was written, or the nearest one above that was."""
        return _nearest(self.values if at_value else self.keys, path)

    def copy(self) -> "Reading":
        """Return one that can be changed without this one."""
        own = (copy.deepcopy(self.data), dict(self.keys), dict(self.values), list(self.problems), set(self.nulls))
        return Reading(*own, self.environment)

    def is_reported(self, path: KeyPath) -> bool:
        """Tell whether something was already found wrong with exactly this value."""
        return any(problem.path == path for problem in self.problems)


def _nearest(places: Mapping[KeyPath, Place], path: KeyPath) -> Place:
    while path and path not in places:
        path = path[:-1]
    return places[path]


def dotted(path: KeyPath) -> str:
    """Write a path as the user would: server.options.prefill-step-size, stages[1].for."""
    return ".".join(path).replace(".[", "[")
