"""Decides what processes.json says of a launch, and which of its entries are still of interest."""

import json
import os
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from locust_agents.errors import ScenarioError

NAME = "processes.json"

SAME_S = 2.0
"""Two looks at one process differ by this much at most: ps counts whole seconds, and a clock that is set moves Linux's
start times, since those are counted from the boot. A pid comes back only after all others, minutes or days later."""


@dataclass(frozen=True, slots=True)
class ProcessRecord:
    """An entry of processes.json: enough to know later, on that host, whether a pid is still the process we started.

    `start_time` is in UNIX seconds by that host's clock; `ssh` is what ssh is given to reach the host, None where the
    process is on the machine that started it.
    """

    host: str
    pid: int
    start_time: float
    role: str
    rank: int | None = None
    ssh: str | None = None

    def is_same(self, start_time: float) -> bool:
        """Whether a process of this pid, begun at that time, can be this one."""
        return abs(start_time - self.start_time) <= SAME_S

    @property
    def name(self) -> str:
        """How people are told of it."""
        who = self.role if self.rank is None else f"rank {self.rank}"
        return f"{who} (pid {self.pid})" + (f" on {self.host}" if self.ssh else "")


def write(folder: Path, records: Iterable[ProcessRecord], ended: Collection[ProcessRecord] = ()) -> None:
    """Replaces the file; who is `ended` was looked for and runs no more."""
    entries = [asdict(each) | ({"ended": True} if each in ended else {}) for each in records]
    draft = folder / f"{NAME}.part"
    draft.write_text(json.dumps(entries, indent=1) + "\n")
    os.replace(draft, folder / NAME)


def read(folder: Path) -> tuple[list[ProcessRecord], set[ProcessRecord]]:
    """All entries, and those of them known to have ended; none without a file. Raises ScenarioError if it is odd."""
    path = folder / NAME
    try:
        entries = [(_record(entry), bool(entry.get("ended"))) for entry in json.loads(path.read_text())]
    except FileNotFoundError:
        return [], set()
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise ScenarioError(f"{path} cannot be read ({error}): look yourself which of its processes run") from None
    return [record for record, _ in entries], {record for record, ended in entries if ended}


def _record(entry: dict[str, Any]) -> ProcessRecord:
    fields = {name: value for name, value in entry.items() if name != "ended"}
    record = ProcessRecord(**fields)
    if not isinstance(record.pid, int) or record.pid < 2 or not isinstance(record.start_time, int | float):
        raise ValueError(f"no process is {fields}")
    return record
