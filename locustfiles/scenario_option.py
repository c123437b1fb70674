"""Reads `--scenario` and `--plugin` before Locust parses its options, since the classes must exist by then."""

import contextlib
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path

from locust_agents.errors import LocustAgentsError
from locust_agents.scenarios import loader, with_plugins
from locust_agents.scenarios.model import Scenario

RESOLVED = "LOCUST_AGENTS_RESOLVED"
"""Environment variable with the path of a resolved scenario; `locust-agents run --web` hands its own over with it."""

OUT = "LOCUST_AGENTS_OUT"
"""Environment variable: the folder of the first run, as `locust-agents run --web --out` was given it."""

START = "LOCUST_AGENTS_START"
"""Environment variable: start the run at once. Locust's --autostart leaves a process that one Ctrl-C does not end."""


def is_worker(argv: Sequence[str] | None = None) -> bool:
    """This process is going to be a worker."""
    arguments = sys.argv[1:] if argv is None else argv
    return "--worker" in arguments or os.environ.get("LOCUST_MODE_WORKER", "").lower() in ("1", "true")


def requested(argv: Sequence[str] | None = None) -> Scenario:
    """The scenario that this Locust process was asked for. Mistakes in it end the process: a line each, status 2."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--scenario", default=os.environ.get("LOCUST_AGENTS_SCENARIO", "quickstart"))
    known, _ = parser.parse_known_args(argv)
    with _told():
        path = Path(os.environ[RESOLVED]) if RESOLVED in os.environ else loader.find(known.scenario)
        return with_plugins.load(path, plugins=_plugins(argv))


def load_plugins(argv: Sequence[str] | None = None) -> None:
    """What a worker was given of plugin files; its scenario comes with the master's plan."""
    with _told():
        with_plugins.add_files(_plugins(argv))


def _plugins(argv: Sequence[str] | None) -> list[str]:
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--plugin", action="append", default=[])
    known, _ = parser.parse_known_args(argv)
    return list(known.plugin)


@contextlib.contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except LocustAgentsError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(error.exit_status) from None
