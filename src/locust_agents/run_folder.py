"""A run's folder: where each file lies, and how lines get into it so that a killed run leaves whole ones."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import localtime, strftime, time
from typing import IO, Any

from locust_agents import records
from locust_agents.errors import ScenarioError
from locust_agents.records import TurnRecord


class RunFolder:
    """Writes a run's files. Each line goes out in one write as it is known; nothing is kept back."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._turns = _open(path / "turns.jsonl")
        self._cluster = _open(path / "cluster.jsonl")

    def turn(self, record: TurnRecord) -> None:
        """Adds a line to turns.jsonl."""
        self._turns.write(records.to_line(record).encode() + b"\n")

    def note(self, event: str, fields: Mapping[str, Any]) -> None:
        """Adds a line to cluster.jsonl: what happened, and at which UNIX time."""
        self._cluster.write(json.dumps({"event": event, "time": round(time(), 3), **fields}).encode() + b"\n")

    def write(self, name: str, text: str) -> None:
        """Writes a whole file, replacing one of that name; a run killed in between leaves the old one."""
        part = self.path / f"{name}.part"
        part.write_text(text, encoding="utf-8")
        part.replace(self.path / name)

    def close(self) -> None:
        """Closes the files that grow."""
        self._turns.close()
        self._cluster.close()


def create(out: Path | None, name: str) -> RunFolder:
    """A new folder: `out` itself, or runs/<time>-<name> below the current one.

    Raises ScenarioError where it cannot be made, or has the turns of another run: the two would be summed up as one.
    """
    path = out or _unused(Path("runs") / f"{strftime('%Y%m%d-%H%M%S', localtime())}-{_slug(name)}")
    try:
        path.mkdir(parents=True, exist_ok=out is not None)
    except OSError as error:
        raise ScenarioError(f"{path} cannot be made ({error.strerror}); name another folder with --out") from None
    if out is not None and (out / "turns.jsonl").exists() and (out / "turns.jsonl").stat().st_size:
        raise ScenarioError(f"{out} holds the turns of another run already; name another folder with --out")
    return RunFolder(path)


def turns(path: Path) -> Iterator[TurnRecord]:
    """The records of a run's folder, in the order in which the turns ended."""
    with (path / "turns.jsonl").open("rb") as lines:
        for line in lines:
            if line.endswith(b"\n"):  # the last line of a killed run may be half written
                yield records.from_line(line)


def _open(path: Path) -> IO[bytes]:
    # Unbuffered and appending: one write is one line.
    return path.open("ab", buffering=0)


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "run"


def _unused(path: Path) -> Path:
    """The path, or with -2, -3, … behind it where runs started in the same second."""
    names = (path, *(path.with_name(f"{path.name}-{number}") for number in range(2, 1000)))
    return next(name for name in names if not name.exists())
