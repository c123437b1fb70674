"""The cells of a sweep: what each is called, in which order they run, and which of them can share one server."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import yaml

from locust_agents.scenarios import cells as combinations
from locust_agents.scenarios import loader
from locust_agents.scenarios.model import Scenario
from locust_agents.scenarios.overrides import Override
from locust_agents.scenarios.questions import Sweep

_LONGEST_NAME = 60
_SERVER = "server."


@dataclass(frozen=True, slots=True)
class Cell:
    """One run. `number` counts from 1 in the order of the file, whatever the order of the runs; `text` is its YAML."""

    number: int
    values: Mapping[str, object]
    scenario: Scenario
    text: str

    @property
    def folder(self) -> str:
        """The name of its run's folder, which tells its values."""
        told = "-".join(map(_slug, self.values.values()))
        return f"cell-{self.number:03}-{told}"[:_LONGEST_NAME].rstrip("-.")

    @property
    def server(self) -> str:
        """What must be the same for two cells to be able to run against one start of the server."""
        keys = ("server", "probe")
        return yaml.safe_dump({key: value for key, value in yaml.safe_load(self.text).items() if key in keys})

    @property
    def starts_server(self) -> bool:
        """False where the server is attached to."""
        return self.scenario.server.attach is None

    @property
    def load(self) -> tuple[str, ...]:
        """The values of the axes that are not about the server."""
        return tuple(shown(value) for key, value in self.values.items() if not is_choice(key))

    @property
    def agents(self) -> int:
        """The most that work at once by the plan."""
        stages = self.scenario.stages
        if stages is not None:
            return max(sum(stage.agents.values()) for stage in stages)
        return sum(entry.agents for entry in self.scenario.swarm.values())


def is_choice(key: str) -> bool:
    """Whether somebody who serves chooses this value; other axes are what the server is asked for."""
    return key.startswith(_SERVER) or key.partition(".")[0] == "cap_prompt"


def make(sweep: Sweep, read: Callable[[Sequence[Override]], Scenario]) -> tuple[Cell, ...]:
    """Every cell in the order of the file; `read` makes a scenario of overrides, and raises what is wrong with it."""
    found = []
    for number, values in enumerate(combinations.cells(sweep), 1):
        scenario = read(combinations.overrides(values))
        found.append(Cell(number, values, scenario, loader.dump(scenario)))
    return tuple(found)


def in_order(cells: Sequence[Cell], order: str, seed: int) -> tuple[Cell, ...]:
    """As they run: cells of one server beside each other, or shuffled."""
    if order == "shuffled":
        mixed = list(cells)
        Random(seed).shuffle(mixed)
        return tuple(mixed)
    first = {cell.server: number for number, cell in reversed(list(enumerate(cells)))}
    return tuple(sorted(cells, key=lambda cell: first[cell.server]))


def starts(ordered: Iterable[Cell]) -> int:
    """How often a server is started for them, if none fails and neighbours share one."""
    count, before = 0, None
    for cell in ordered:
        count += cell.starts_server and cell.server != before
        before = cell.server
    return count


def labels(keys: Iterable[str]) -> dict[str, str]:
    """Keys as short as they can be told apart: `prefill-step-size`, `fixers.agents`."""
    whole = list(keys)
    parts = {key: key.split(".") for key in whole}
    found: dict[str, str] = {}
    for key, words in parts.items():
        others = [other for other in whole if other != key]
        sizes = range(1, len(words) + 1)
        size = next((n for n in sizes if not any(parts[other][-n:] == words[-n:] for other in others)), len(words))
        found[key] = ".".join(words[-size:])
    return found


def shown(value: object) -> str:
    """A value as it stands in the file."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def told(cell: Cell, names: Mapping[str, str]) -> str:
    """Its values by name: `prefill-step-size 4096, agents 2`."""
    return ", ".join(f"{names[key]} {shown(value)}" for key, value in cell.values.items())


def _slug(value: object) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", shown(value)).strip("-.") or "none"
