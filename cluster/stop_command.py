"""The command `locust-agents stop`: decides which runs are looked at, and says what became of each process."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from locust_agents.cluster import process_list
from locust_agents.cluster.stop import Fate, Lines, stop
from locust_agents.errors import ScenarioError

RUNS = Path("runs")


def main(argv: Sequence[str]) -> int:
    """0 when nothing is left, 3 when something could not be ended or looked at; raises ScenarioError."""
    parser = argparse.ArgumentParser(
        prog="locust-agents stop",
        description="Ends what a killed run left: the processes that its processes.json names by host, pid and start"
        " time. A run that still goes on loses its server.",
    )
    parser.add_argument("folders", metavar="RUN_FOLDER", nargs="*", type=Path, help="default: all those below runs/")
    named: list[Path] = parser.parse_args(argv).folders
    lines = Lines()
    try:
        folders = [each for run in named for each in _of_run(run)] or _all_runs()
        fates = [fate for folder in folders for fate in _stop(folder, lines, bool(named))]
    finally:
        lines.close()
    if not any(fate.ran or fate.left for fate in fates):
        print("nothing of ours runs" + ("" if named else f" by what the folders in {RUNS.absolute()} say"))
    return 3 if any(fate.left for fate in fates) else 0


def _all_runs() -> list[Path]:
    return sorted(folder for run in RUNS.glob("*") for folder in _with_processes(run))


def _of_run(run: Path) -> list[Path]:
    if not (found := _with_processes(run)):
        raise ScenarioError(f"{run} has no {process_list.NAME}: name the folder of a run that launched a server")
    return found


def _with_processes(run: Path) -> list[Path]:
    """Where a run says what it started: its server, the benchmark before it, each run of a sweep or of a search."""
    return sorted(found.parent for found in run.rglob(process_list.NAME) if found.is_file())


def _stop(folder: Path, lines: Lines, is_named: bool) -> list[Fate]:
    """Where all runs are looked at, only those are spoken of in which something ran, and one odd file stops nothing."""
    try:
        fates = stop(folder, lines)
    except ScenarioError as error:
        if is_named:
            raise
        print(error, flush=True)
        return [Fate(str(error), left=True)]
    if is_named or any(fate.ran or fate.left for fate in fates.values()):
        for record, fate in fates.items():
            print(f"{folder}: {record.name} {fate.text}", flush=True)
    return list(fates.values())
