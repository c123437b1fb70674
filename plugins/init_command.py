"""`locust-agents init`: writes a scenario, a behaviour and its test to start from, over nothing that is there."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from locust_agents.errors import ScenarioError
from locust_agents.plugins import starter


def main(argv: Sequence[str]) -> int:
    """Writes all of them or none; raises ScenarioError where one is there already, or cannot be written."""
    folder = Path(_parser().parse_args(argv).folder)
    there = [str(folder / name) for name in starter.FILES if (folder / name).exists()]
    if there:
        raise ScenarioError(f"{', '.join(there)}: already there, and nothing was written; name another folder")
    try:
        _write(folder)
    except OSError as error:
        raise ScenarioError(f"{error.filename}: cannot be written: {error.strerror}") from None
    print("\n".join(_told(folder)))
    return 0


def _write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in starter.FILES.items():
        with (folder / name).open("x", encoding="utf-8") as file:
            file.write(text)


def _told(folder: Path) -> list[str]:
    scenario, behaviour, test = (folder / name for name in starter.FILES)
    return [
        f"{behaviour}   what your agent does",
        f"{test}   its test: python -m pytest {test}",
        f"{scenario}   who runs it: locust-agents check {scenario}, then locust-agents run {scenario}",
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("locust-agents init", description="A scenario and a behaviour to start from.")
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help="where they go (default: here)")
    return parser
