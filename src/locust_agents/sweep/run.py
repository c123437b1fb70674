"""The loop of a sweep: which cells are run, which are there already, and when it gives up."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from locust_agents import stored_run
from locust_agents.errors import ClusterError
from locust_agents.sweep import cells as sweep_cells
from locust_agents.sweep import figures
from locust_agents.sweep import folder as sweep_folder
from locust_agents.sweep.cells import Cell
from locust_agents.sweep.child import Answer, Child
from locust_agents.sweep.figures import Result
from locust_agents.telling import Say

INTERRUPTED = 130

# So many servers in a row that answered nothing are the machine's doing, and each further start may make it worse.
_DEAD = 2


@dataclass(slots=True)
class Sweep:
    """What is known of the cells so far; `stopped` is why not all of them were run."""

    folder: Path
    ordered: tuple[Cell, ...]
    results: dict[int, Result] = field(default_factory=dict)
    stopped: str | None = None
    interrupted: bool = False

    def in_file_order(self) -> list[Result]:
        """A result for each cell, whether it was run or not."""
        cells = sorted(self.ordered, key=lambda cell: cell.number)
        return [self.results.get(cell.number) or figures.not_run(cell) for cell in cells]

    @property
    def is_finished(self) -> bool:
        """Whether every cell has a run."""
        return len(self.results) == len(self.ordered) and not self.stopped


def run(
    sweep: Sweep, lock: int, say: Say, shared_ok: bool = False, restart: bool = False
) -> Generator[Sweep, None, None]:
    """Yields after each cell. An interrupt ends the cell that is under way, and the sweep."""
    for cell in sweep.ordered:
        if sweep_folder.is_done(sweep.folder, cell):
            sweep.results[cell.number] = _stored(sweep.folder, cell)
    left = [cell for cell in sweep.ordered if cell.number not in sweep.results]
    if len(left) < len(sweep.ordered):
        say(
            f"{len(sweep.results)} of {len(sweep.ordered)} cells are there already; to run one again, remove its folder"
        )
    for group in _groups(left, restart):
        yield from _run_group(sweep, group, lambda: Child(lock), say, shared_ok)
        if sweep.stopped:
            return


def _groups(cells: Sequence[Cell], restart: bool) -> Iterator[list[Cell]]:
    """Neighbours that can share a server."""
    group: list[Cell] = []
    for cell in cells:
        if group and (restart or cell.server != group[-1].server):
            yield group
            group = []
        group.append(cell)
    if group:
        yield group


def _run_group(
    sweep: Sweep, group: Sequence[Cell], begin: Callable[[], Child], say: Say, shared_ok: bool
) -> Generator[Sweep, None, None]:
    child = begin()
    try:
        for cell in group:
            try:
                answer = _answer(sweep, cell, child, say, shared_ok)
            except ClusterError as error:
                answer = Answer(error.exit_status, str(error))
                child.close()
                child = begin()
            sweep.results[cell.number] = _result(sweep.folder, cell, answer)
            sweep.stopped = _hopeless(sweep)
            yield sweep
            if sweep.stopped:
                return
    except KeyboardInterrupt:
        sweep.interrupted, sweep.stopped = True, "interrupted"
    finally:
        child.close()


def _answer(sweep: Sweep, cell: Cell, child: Child, say: Say, shared_ok: bool) -> Answer:
    if (aside := sweep_folder.make_room(sweep.folder, cell)) is not None:
        say(f"half a cell is now {aside}")
    names = sweep_cells.labels(cell.values)
    say(f"cell {cell.number} of {len(sweep.ordered)}: {sweep_cells.told(cell, names)}")
    answer = child.run(cell.text, sweep.folder / cell.folder, shared_ok)
    if answer.status == INTERRUPTED:
        raise KeyboardInterrupt
    return answer


def _result(folder: Path, cell: Cell, answer: Answer) -> Result:
    if sweep_folder.is_done(folder, cell):
        return _stored(folder, cell)
    return figures.not_run(cell, answer.status, answer.error or "it left no summary")


def _stored(folder: Path, cell: Cell) -> Result:
    return figures.result(cell, stored_run.read(folder / cell.folder))


def _hopeless(sweep: Sweep) -> str | None:
    """Why it makes no sense to go on: the last servers all came to nothing."""
    done = [one for cell in sweep.ordered if (one := sweep.results.get(cell.number)) is not None]
    dead = [one.status == 3 and not (one.figures and one.figures.ttft_p50) for one in done[-_DEAD:]]
    if len(dead) < _DEAD or not all(dead) or len(done) == len(sweep.ordered):
        return None
    return f"{_DEAD} cells in a row had no server that answered: look at {done[-1].cell.folder} before you go on"
