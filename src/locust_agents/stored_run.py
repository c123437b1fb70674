"""What can be read again of a run's folder, whole or of a run that was killed; its records say all figures anew."""

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from locust_agents import records, window
from locust_agents import trust as trusts
from locust_agents.errors import ScenarioError
from locust_agents.forecast.prefill_curve import Curve, through
from locust_agents.limits import Limit, parse_limit
from locust_agents.records import TurnRecord
from locust_agents.scenarios.model import Scenario
from locust_agents.setting import DRAIN, LOAD, Setting
from locust_agents.summary import Summary, summarise
from locust_agents.trust import Trust, Witness
from locust_agents.why import reasons as causes
from locust_agents.why.reasons import Cause

_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class StoredRun:
    """`summary` is what summary.json holds, empty where the run was killed before it was written.

    `notes` are the lines of cluster.jsonl, `unread` names each line of either file that could not be read: at most the
    last one of a killed run, unless somebody else wrote in it.
    """

    path: Path
    scenario_text: str
    scenario: Mapping[str, Any]
    records: tuple[TurnRecord, ...]
    summary: Mapping[str, Any]
    notes: tuple[Mapping[str, Any], ...]
    unread: tuple[str, ...] = ()


def read(folder: Path) -> StoredRun:
    """Raises ScenarioError, which names the folder, where it is none of a run."""
    if not (folder / "turns.jsonl").is_file():
        raise ScenarioError(f"{folder} holds no run (no turns.jsonl); name a run's folder, which is below runs/")
    unread: list[str] = []
    text = _text(folder / "scenario.yaml")
    return StoredRun(
        folder,
        text,
        _scenario(folder, text),
        tuple(_lines(folder / "turns.jsonl", records.from_line, unread)),
        read_summary(folder),
        tuple(_lines(folder / "cluster.jsonl", _mapping, unread)),
        tuple(unread),
    )


def read_summary(folder: Path) -> Mapping[str, Any]:
    """What summary.json holds, empty where there is none; raises ScenarioError where it is not what a run wrote."""
    path = folder / "summary.json"
    text = _text(path)
    try:
        return _mapping(text.encode()) if text else {}
    except ValueError:
        raise ScenarioError(f"{path} is not what a run wrote; remove it, its figures are in turns.jsonl too") from None


def limits(run: StoredRun) -> tuple[Limit, ...]:
    """Those of the run's scenario; raises ScenarioError for one that this release does not know."""
    entries, written = run.scenario.get("swarm") or {}, run.scenario.get("limits") or {}
    try:
        return tuple(parse_limit(key, bound, tuple(entries)) for key, bound in written.items())
    except (ValueError, AttributeError) as error:
        raise ScenarioError(f"{run.path / 'scenario.yaml'}: limits: {error}; was it changed by hand?") from None


def summary(run: StoredRun) -> Summary:
    """The figures once more, from the records and the scenario's limits; raises ScenarioError as `limits` does."""
    return summarise(run.records, limits(run), curve(run), setting=setting(run))


def curve(run: StoredRun) -> Curve | None:
    """The timed prompts that the run knew its server by."""
    points = (run.summary.get("curve") or {}).get("points")
    return through([(int(tokens), float(took_s)) for tokens, took_s in points]) if points else None


def why(run: StoredRun) -> tuple[Cause, ...]:
    """Why the worst turns waited, worked out anew."""
    is_shared = "attach" in (run.scenario.get("server") or {})
    entries = run.summary.get("cache_entries")
    return causes.why(run.records, run.notes, entries, curve(run), is_shared, measured(run))


def notes(folder: Path) -> tuple[Mapping[str, Any], ...]:
    """The lines of cluster.jsonl, for a run that is not over yet."""
    return tuple(_lines(folder / "cluster.jsonl", _mapping, []))


def setting(run: StoredRun) -> Setting:
    """When the run's load began and ended, and what its scenario leaves out of the figures."""
    found = scenario(run)
    times = {note["event"]: float(note["time"]) for note in run.notes if note.get("event") in (LOAD, DRAIN)}
    return Setting() if found is None else Setting.of(found, times.get(LOAD), times.get(DRAIN))


def trust(run: StoredRun) -> Trust:
    """The client's own part; what records do not tell is taken from summary.json, where there is one."""
    told = (run.summary.get("trust") or {}).get("witness") or {}
    names = {field.name for field in dataclasses.fields(Witness)}
    witness = Witness(**{name: value for name, value in told.items() if name in names})
    return trusts.of(run.records, setting(run), limits(run), witness)


def measured(run: StoredRun) -> list[TurnRecord]:
    """The records that figures are made of: those of the warm-up are left out."""
    return window.measured(run.records, setting(run))


def scenario(run: StoredRun) -> Scenario | None:
    """The frozen scenario, without a look at plugins that may be gone; None where another release wrote it."""
    try:
        return Scenario.model_validate({**run.scenario, "limits": limits(run)})
    except ValidationError:
        return None


def _lines(path: Path, parse: Callable[[bytes], _Read], unread: list[str]) -> Iterator[_Read]:
    if not path.is_file():
        return
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield parse(line)
            except (ValueError, KeyError, TypeError, AttributeError):
                half = "" if line.endswith(b"\n") else " (half a line: the run was killed)"
                unread.append(f"{path.name}:{number}{half}")


def _mapping(line: bytes) -> Mapping[str, Any]:
    found = json.loads(line)
    if not isinstance(found, dict):
        raise ValueError("not an object")
    return found


def _scenario(folder: Path, text: str) -> Mapping[str, Any]:
    try:
        found = yaml.safe_load(text) if text else {}
    except yaml.YAMLError:
        found = None
    if not isinstance(found, dict):
        raise ScenarioError(f"{folder / 'scenario.yaml'} is not what a run wrote; its limits are needed")
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path} cannot be read ({getattr(error, 'strerror', None) or 'not UTF-8'})") from None
