"""Which folder is meant by a run's name: a path, a part of a name below runs/, or `last`."""

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from locust_agents.errors import ScenarioError

RUNS = Path("runs")
_SHOWN = 5


def find(name: str, below: Path = RUNS) -> Path:
    """The folder; raises ScenarioError where there is none, or where several have that part in their name."""
    if is_run(Path(name)):
        return Path(name)
    if name and is_sweep(Path(name)):
        raise ScenarioError(f"{name} is a sweep; name one of its cells: {_listed(map(str, folders(Path(name))))}")
    runs = folders(below)
    if name == "last" and runs:
        return max(runs, key=_began)
    exact = [run for run in runs if run.name == name]
    matching = exact or [run for run in runs if name and name in run.name]
    if len(matching) != 1:
        raise ScenarioError(_complaint(name, below, matching or runs, bool(matching)))
    return matching[0]


def folders(below: Path) -> list[Path]:
    """All runs directly below, by name, which is by time where the names are ours."""
    return sorted(path for path in below.glob("*") if is_run(path))


def is_run(folder: Path) -> bool:
    """Whether turns were recorded there, or could have been."""
    return (folder / "turns.jsonl").is_file()


def is_sweep(folder: Path) -> bool:
    """Whether a sweep was begun there, which is a folder of runs and none itself."""
    return (folder / "sweep.json").is_file()


def _began(run: Path) -> tuple[float, str]:
    # Its scenario is the first that is written, and never changed.
    first = run / "scenario.yaml"
    return (first if first.exists() else run / "turns.jsonl").stat().st_mtime, run.name


def _complaint(name: str, below: Path, runs: Sequence[Path], several: bool) -> str:
    if not runs:
        return f"{name}: no run's folder, and {below}/ holds none; name a folder, or run one first"
    newest = sorted(runs, key=_began, reverse=True)
    listed = _listed(run.name for run in newest)
    if several:
        return f"{name}: {len(runs)} runs below {below}/ have that in their name ({listed}); name more of it"
    return f"{name}: no run's folder, and none below {below}/ has that in its name ({listed})"


def _listed(names: Iterable[str]) -> str:
    first = list(islice(names, _SHOWN + 1))
    return ", ".join(first[:_SHOWN]) + (", …" if len(first) > _SHOWN else "")
