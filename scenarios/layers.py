"""What a scenario's keys are before any check: its file laid over the one that it extends, and the options on top."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from locust_agents.errors import ScenarioError
from locust_agents.scenarios import shelf
from locust_agents.scenarios.model import EXTENDS
from locust_agents.scenarios.overrides import Override, apply_overrides, forget, nulls_are_values
from locust_agents.scenarios.places import KeyPath, Problem, Reading, ScenarioProblems
from locust_agents.scenarios.reading import read_text
from locust_agents.scenarios.units import shown

Variables = Mapping[str, str] | None
"""The environment that `${NAME}` is taken from; None leaves such texts as they are."""


def open_file(path: Path, overrides: Sequence[Override], variables: Variables) -> Reading:
    """Read a file with all below it; raises ScenarioError when it cannot be read, ScenarioProblems for no YAML."""
    return open_text(shelf.text_of(path), str(path), overrides, variables)


def open_text(text: str, file: str, overrides: Sequence[Override], variables: Variables) -> Reading:
    """Like `open_file`; what the text extends lies beside `file`, which need not be there."""
    reading = _with_below(read_text(text, file, variables), file, [Path(file)])
    apply_overrides(reading, overrides)
    if EXTENDS in reading.data:
        reading.report((EXTENDS,), "only a file names what it extends", at_value=False)
        del reading.data[EXTENDS]
    return reading


def _with_below(reading: Reading, file: str, chain: list[Path]) -> Reading:
    """The reading laid over what it extends, if anything; `chain` holds the files from the first to this one."""
    if EXTENDS not in reading.data:
        return reading
    wanted = reading.data.pop(EXTENDS)
    if not isinstance(wanted, str) or not wanted:
        _refuse(reading, f"expected the path of a scenario file, got {shown(wanted)}")
    path = _beside(reading, Path(file).parent, str(wanted))
    names = [each.name for each in (*chain, path)]
    if any(path.resolve() == each.resolve() for each in chain):
        _refuse(reading, f"leads back to a file that extends this one: {' → '.join(names)}; remove one of them")
    below = read_text(_text(reading, path), str(path), reading.environment, len(chain))
    return _laid_over(_with_below(below, str(path), [*chain, path]), reading)


def _beside(reading: Reading, folder: Path, wanted: str) -> Path:
    """The file that is meant: a path from the folder of the file that says so, else a scenario that ships."""
    try:
        return folder / wanted if (folder / wanted).exists() else shelf.find(wanted)
    except ScenarioError as error:
        _refuse(reading, str(error))


def _text(reading: Reading, path: Path) -> str:
    try:
        return shelf.text_of(path)
    except ScenarioError as error:
        _refuse(reading, str(error))


def _refuse(reading: Reading, text: str) -> NoReturn:
    """Nothing else can be said before this is put right: half of the scenario is not known."""
    raise ScenarioProblems([*reading.problems, Problem(reading.place((EXTENDS,)), (EXTENDS,), text)]) from None


def _laid_over(below: Reading, above: Reading) -> Reading:
    """The lower reading, changed: keys of mappings are replaced one by one, all else as a whole."""
    _lay(below, above, below.data, above.data, ())
    for mine, theirs in ((below.keys, above.keys), (below.values, above.values)):
        mine.update(theirs)
    below.nulls |= above.nulls
    below.problems += above.problems
    return below


def _lay(below: Reading, above: Reading, lower: dict[str, object], upper: dict[str, object], path: KeyPath) -> None:
    for key, value in upper.items():
        here, old = (*path, key), lower.get(key)
        if isinstance(value, dict) and isinstance(old, dict):
            _lay(below, above, old, value, here)
            continue
        forget(below, here)
        if key in lower and here in above.nulls and not nulls_are_values(here):
            del lower[key]
        else:
            lower[key] = value
