"""A sweep's folder: whose it is, which of its cells have been run, and that only one process works in it."""

import fcntl
import json
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from time import localtime, strftime
from typing import Any

from locust_agents import stored_run
from locust_agents.errors import ScenarioError
from locust_agents.sweep.cells import Cell
from locust_agents.telling import Say

RUNS = Path("runs")
_SCENARIO, _RESULT, _LOCK = "scenario.yaml", "sweep.json", ".lock"
_HALVES = "halves"
_LAUNCH = b'{"event": "launch"'
_INTERRUPTED = 130
# What a killed sweep left ends its turns and its server.
_PATIENCE_S, _LOOK_S = 120.0, 0.2


def choose(out: Path | None, name: str, text: str, runs: Path = RUNS) -> Path:
    """The folder that is named, else the newest unfinished one of the very same sweep, else a new one."""
    if out is not None:
        return out
    mark = f"-sweep-{_slug(name)}"
    same = [path.parent for path in runs.glob(f"*{mark}*/{_SCENARIO}") if _read(path) == text]
    unfinished = [path for path in same if not is_finished(path)]
    if unfinished:
        return max(unfinished)
    plain = runs / f"{strftime('%Y%m%d-%H%M%S', localtime())}{mark}"
    names = (plain, *(plain.with_name(f"{plain.name}-{number}") for number in range(2, 1000)))
    return next(path for path in names if not path.exists())


def take(folder: Path, text: str, say: Say, patience_s: float = _PATIENCE_S) -> int:
    """Makes the folder this sweep's, or finds that it is; the file that is returned (its number) keeps others out.

    Raises ScenarioError where it belongs to another scenario, cannot be made, or is at work still.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise ScenarioError(f"{folder} cannot be used ({error.strerror}); name another folder with --out") from None
    _lock(lock, folder, say, patience_s)
    mine, path = _read(folder / _SCENARIO), folder / _SCENARIO
    if mine is not None and mine != text:
        raise ScenarioError(f"{folder} holds a sweep of another scenario ({path}); name another folder with --out")
    if mine is None and any(one.name != _LOCK for one in folder.iterdir()):
        raise ScenarioError(f"{folder} holds something else than a sweep; name another folder with --out")
    write(path, text)
    return lock


def _lock(lock: int, folder: Path, say: Say, patience_s: float) -> None:
    until = time.monotonic() + patience_s
    waited = False
    while not _is_taken(lock):
        if not waited:
            say(f"{folder} is in use: waiting for the other sweep, or for what a killed one left to end")
        waited = True
        if time.monotonic() >= until:
            os.close(lock)
            raise ScenarioError(f"{folder} is still in use by another sweep; wait for it, or name another with --out")
        time.sleep(_LOOK_S)


def _is_taken(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_done(folder: Path, cell: Cell) -> bool:
    """Whether its run has ended, by itself, and was of this very cell."""
    path = folder / cell.folder
    try:
        status = stored_run.read_summary(path).get("exit_status")
    except ScenarioError:
        return False
    return status not in (None, _INTERRUPTED) and _read(path / _SCENARIO) == cell.text


def make_room(folder: Path, cell: Cell) -> Path | None:
    """Moves half a cell aside; where it is now, None where nothing was in the way."""
    path = folder / cell.folder
    if not path.exists():
        return None
    aside = next(one for n in range(1, 1000) if not (one := folder / _HALVES / f"{path.name}-{n}").exists())
    aside.parent.mkdir(exist_ok=True)
    path.rename(aside)
    return aside


def server_starts(folder: Path) -> int:
    """How often a server was started for its cells, those included of which only half is there."""
    notes = [path.read_bytes() for path in folder.rglob("cluster.jsonl")]
    return sum(line.startswith(_LAUNCH) for text in notes for line in text.splitlines())


def write_result(folder: Path, result: Mapping[str, Any]) -> None:
    """sweep.json, whole at every moment."""
    write(folder / _RESULT, json.dumps(result, indent=1, ensure_ascii=False))


def is_finished(folder: Path) -> bool:
    """Whether every cell has a run."""
    try:
        return bool(json.loads((folder / _RESULT).read_text(encoding="utf-8"))["finished"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def write(path: Path, text: str) -> None:
    """Writes a file that is whole at every moment."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "cells"
