"""`locust-agents runs`: one verdict a line of every run in a folder, the newest last."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.cells import cell_len, set_cell_size

from locust_agents import figures, find_run, metrics, stored_run
from locust_agents import verdict as verdicts
from locust_agents.errors import ScenarioError
from locust_agents.figures import Wait
from locust_agents.quantities import WIDTH, seconds
from locust_agents.stored_run import StoredRun

_NAME = 40


@dataclass(frozen=True, slots=True)
class Verdict:
    """A run in one line: `ttft_max` None where nobody was sent or nothing is known, `words` how it ended."""

    name: str
    turns: int | None
    ttft_max: Wait | None
    words: str


def main(argv: Sequence[str]) -> int:
    """Prints the lines; status 0 whatever they say."""
    parser = argparse.ArgumentParser("locust-agents runs", description="One verdict a line, the newest run last.")
    parser.add_argument("dir", nargs="?", default=find_run.RUNS, type=Path, help="whose runs (default: runs/)")
    folder = parser.parse_args(argv).dir
    if not folder.is_dir():
        raise ScenarioError(f"{folder} is no folder; name the one that holds the runs")
    runs = find_run.folders(folder)
    if not runs:
        raise ScenarioError(f"{folder} holds no runs; name the folder above them")
    print(render([verdict(run) for run in runs]))
    return 0


def verdict(folder: Path) -> Verdict:
    """Of a run's folder: from its summary.json, else from the records that a killed run left."""
    try:
        run = stored_run.read_summary(folder)
        return _ended(folder.name, run) if run else _unended(stored_run.read(folder))
    except ScenarioError as error:
        return Verdict(folder.name, None, None, str(error))


def render(found: Sequence[Verdict]) -> str:
    """A table of at most 80 columns; what is longer than its place ends in an ellipsis."""
    head = ("run", "turns", "worst TTFT", "verdict")
    rows = [head, *((one.name, _count(one.turns), seconds(one.ttft_max), one.words) for one in found)]
    width = min(_NAME, max(cell_len(row[0]) for row in rows))
    return "\n".join(_line(row, width) for row in rows)


def _line(row: tuple[str, str, str, str], width: int) -> str:
    name, turns, worst, words = row
    line = (
        f"{_cut(name, width)}{' ' * max(0, width - cell_len(name))} {turns:>5} {worst:>10}  {' '.join(words.split())}"
    )
    return _cut(line, WIDTH)


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"


def _count(turns: int | None) -> str:
    return "–" if turns is None else str(turns)


def _ended(name: str, summary: Mapping[str, Any]) -> Verdict:
    waits = [Wait(**row["ttft_max"]) for row in summary.get("rows") or () if row.get("ttft_max")]
    return Verdict(name, summary.get("turns"), figures.statistic(waits, "max"), _words(summary))


def _words(summary: Mapping[str, Any]) -> str:
    status = summary.get("exit_status")
    if status == 1:
        return f"broken {', '.join(_of_judgements(summary, False))}"
    said = summary.get("error") or summary.get("untrusted") if status in (2, 3, 4) else None
    unjudged = _of_judgements(summary, None) if status == 0 else []
    return said or verdicts.word(status) + (f", not judged {', '.join(unjudged)}" if unjudged else "")


def _of_judgements(summary: Mapping[str, Any], held: bool | None) -> list[str]:
    judged = summary.get("judgements") or ()
    return list(dict.fromkeys(one["limit"]["key"] for one in judged if one["held"] is held))


def _unended(run: StoredRun) -> Verdict:
    worst = figures.statistic(metrics.waits(run.records, "ttft"), "max")
    return Verdict(run.path.name, len(run.records), worst, verdicts.word(None))
