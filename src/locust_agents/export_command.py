"""`locust-agents export`: a run's turns as one flat table, for a spreadsheet or a data frame."""

import argparse
import csv
import dataclasses
import io
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from locust_agents import find_run, stored_run
from locust_agents.errors import ScenarioError
from locust_agents.records import TurnRecord

_STDOUT = "-"
_BAD = "tool_calls_bad"
"""The second number of `tool_calls`, which a flat table has in a column of its own."""


def main(argv: Sequence[str]) -> int:
    """Writes the table; raises ScenarioError where there is no such run, or no place for the file."""
    parser = argparse.ArgumentParser("locust-agents export", description="A run's turns for other programs.")
    parser.add_argument("run", metavar="RUN", help="its folder, a part of its name below runs/, or `last`")
    parser.add_argument(
        "--csv", metavar="FILE", nargs="?", const=_STDOUT, required=True, help="a line for each turn (default: stdout)"
    )
    options = parser.parse_args(argv)
    run = stored_run.read(find_run.find(options.run))
    _write(as_csv(run.records).encode("utf-8", "backslashreplace"), options.csv)
    for line in run.unread:
        print(f"left out, not readable: {line}", file=sys.stderr)
    return 0


def as_csv(records: Sequence[TurnRecord]) -> str:
    """A column for each field, as turns.jsonl has them; what did not happen is an empty cell, a mapping is JSON."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(columns())
    table.writerows([_cell(value) for value in _values(record)] for record in records)
    return text.getvalue()


def columns() -> list[str]:
    """Their names, in their order."""
    names = [field.name for field in dataclasses.fields(TurnRecord)]
    place = names.index("tool_calls") + 1
    return [*names[:place], _BAD, *names[place:]]


def _values(record: TurnRecord) -> Iterator[Any]:
    calls, bad = record.tool_calls
    apart = {"tool_calls": calls, _BAD: bad}
    return (apart[name] if name in apart else getattr(record, name) for name in columns())


def _cell(value: Any) -> Any:
    if isinstance(value, Mapping):
        return json.dumps(value)
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6f}" if isinstance(value, float) else value


def _write(table: bytes, place: str) -> None:
    if place == _STDOUT:
        sys.stdout.buffer.write(table)
        return
    try:
        Path(place).write_bytes(table)
    except OSError as error:
        raise ScenarioError(f"{place} cannot be written ({error.strerror}); name another file") from None
