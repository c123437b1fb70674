"""Decides which earlier run says how fast a server is: the last one whose scenario has the very same server."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from locust_agents.forecast.prefill_curve import Curve, Speed, through

EVENT = "curve"
"""The line of cluster.jsonl that holds the points and the tokens/s of an answer."""

# What does not change the speed of a server.
_BESIDE = ("port", "ready")


@dataclass(frozen=True, slots=True)
class Found:
    """A run's folder, and the speed that was measured at its start."""

    run: str
    speed: Speed


def fields_of(curve: Curve, decode_tok_s: float | None) -> dict[str, Any]:
    """What is noted of a measurement; `find` reads it back."""
    return {"points": [list(point) for point in curve.points], "decode_tok_s": decode_tok_s}


def find(runs: Path, server: Mapping[str, Any]) -> Found | None:
    """The newest run below `runs` with this `server:` (as `loader.dump` writes it) and a curve; None without one."""
    wanted = _compared(server)
    for notes in sorted(runs.glob("*/cluster.jsonl"), key=lambda notes: notes.stat().st_mtime, reverse=True):
        folder = notes.parent
        if _server_of(folder) == wanted and (speed := _speed_of(notes)) is not None:
            return Found(folder.name, speed)
    return None


def _server_of(folder: Path) -> Mapping[str, Any] | None:
    try:
        scenario = yaml.safe_load((folder / "scenario.yaml").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):  # a folder of another kind, or a run killed at its start
        return None
    server = scenario.get("server") if isinstance(scenario, dict) else None
    return _compared(server) if isinstance(server, dict) else None


def _compared(server: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in server.items() if name not in _BESIDE}


def _speed_of(notes: Path) -> Speed | None:
    found = None
    with notes.open("rb") as lines:
        for line in lines:
            found = _speed(line) or found
    return found


def _speed(line: bytes) -> Speed | None:
    try:
        values = json.loads(line)
        if values["event"] != EVENT:
            return None
        points = [(int(tokens), float(took_s)) for tokens, took_s in values["points"]]
        decode = values["decode_tok_s"]
        return Speed(through(points), None if decode is None else float(decode))
    except (ValueError, KeyError, TypeError):  # the last line of a killed run, or one of a later release
        return None
