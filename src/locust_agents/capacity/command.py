"""`locust-agents capacity`: the most agents, or the largest value of a key, that keep the limits; found by search."""

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from time import localtime, strftime

from locust_agents.capacity import curve, document, page, search
from locust_agents.capacity import question as capacity_question
from locust_agents.capacity.steps import INTERRUPTED, Series
from locust_agents.cluster import attach
from locust_agents.errors import LocustAgentsError, ScenarioError
from locust_agents.scenarios import loader, with_plugins
from locust_agents.scenarios.loader import Override, read_override
from locust_agents.scenarios.model import Scenario
from locust_agents.scenarios.overrides import attaching
from locust_agents.sweep import folder as sweep_folder
from locust_agents.sweep.child import Child

RESULT = "capacity.json"


def main(argv: Sequence[str]) -> int:
    """0 where a value keeps the limits, 1 where none is known to; what cannot go on is raised when all is told."""
    options = _parser().parse_args(argv)
    question = capacity_question.ask(partial(_read, options), options.over, options.lowest, options.highest)
    folder = _folder(options.out, question.scenario.name)
    lock = os.open(folder, os.O_RDONLY)
    child = Child(lock)
    try:
        series = Series(question, child, folder, options.shared_ok, _say, partial(_demand_server, question.scenario))
        return _search(series, options.json)
    finally:
        child.close()
        os.close(lock)


def exit_status(series: Series) -> int:
    """Of a search that came to its end: 0, or 1; 3 where nobody was served at all, 4 where nothing can be trusted."""
    if search.found(series.known()).keeps is not None:
        return 0
    if all(step.untrusted and not step.records for step in series.steps):
        return 4
    return 1 if any(step.was_served for step in series.steps) else 3


def _parser() -> argparse.ArgumentParser:
    about = "The most agents, or the largest value of KEY, that keep the limits. The server is started once."
    parser = argparse.ArgumentParser("locust-agents capacity", description=about)
    parser.add_argument("scenario", help="a file with limits, or the name of one that ships")
    parser.add_argument("--over", metavar="KEY", help="what to search (default: the agents of the only entry)")
    parser.add_argument("--from", metavar="N", dest="lowest", help="the least value (default: 1)")
    parser.add_argument("--to", metavar="N", dest="highest", help="the largest value (default: 32)")
    parser.add_argument("--out", metavar="DIR", type=Path, help="a new folder (default: runs/<time>-capacity-<name>)")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="set a key of the scenario")
    parser.add_argument("--attach", metavar="URL", help="use a server that is already there, and never stop it")
    parser.add_argument("--shared-ok", action="store_true", help="load an attached server although others use it")
    parser.add_argument("--plugin", metavar="FILE", action="append", default=[], help="a Python file with plugins")
    parser.add_argument("--json", action="store_true", help="print what capacity.json holds instead of the curve")
    return parser


def _read(options: argparse.Namespace, own: Sequence[Override]) -> Scenario:
    chosen = [read_override(text) for text in options.set]
    if options.attach is not None:
        chosen += attaching(options.attach)
    return with_plugins.load(loader.find(options.scenario), [*chosen, *own], options.plugin)


def _folder(out: Path | None, name: str) -> Path:
    """A new or empty one; raises ScenarioError."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
    path = out or Path("runs") / f"{strftime('%Y%m%d-%H%M%S', localtime())}-capacity-{slug}"
    try:
        path.mkdir(parents=True, exist_ok=out is not None)
    except OSError as error:
        raise ScenarioError(f"{path} cannot be made ({error.strerror}); name another folder with --out") from None
    if any(path.iterdir()):
        raise ScenarioError(f"{path} is not empty; name another folder with --out")
    return path


def _demand_server(scenario: Scenario) -> None:
    """Raises ClusterError where nobody listens any more; one that we launched is looked after in its run."""
    if scenario.server.attach is not None:
        attach.attach(scenario.server.attach.url, lambda _: None, lambda _event, _fields: None)


def _search(series: Series, as_json: bool) -> int:
    """Whatever ends it, what is known is in the folder and told."""
    status, error = INTERRUPTED, None
    try:
        for step in series.search():
            _say(curve.step_line(series, step))
            _keep(series, INTERRUPTED, "it has not ended")
        status = exit_status(series)
    except LocustAgentsError as raised:
        status, error = raised.exit_status, str(raised)
        raise
    except KeyboardInterrupt:
        error = "interrupted"
    finally:
        _keep(series, status, error)
        _draw(series, error)
        _show(series, status, error, as_json)
    return status


def _keep(series: Series, status: int, error: str | None) -> None:
    text = json.dumps(document.document(series, status, error), indent=1, ensure_ascii=False)
    sweep_folder.write(series.folder / RESULT, text)


def _draw(series: Series, error: str | None) -> None:
    if series.steps:
        sweep_folder.write(series.folder / page.NAME, page.render(series, error))


def _show(series: Series, status: int, error: str | None, as_json: bool) -> None:
    if as_json:
        print(json.dumps(document.document(series, status, error)))
    elif series.steps:
        print(curve.text(series), f"all of it: {series.folder} (plots in {page.NAME})", sep="\n")
    if status == INTERRUPTED:
        _say(f"interrupted: {'this is what was known by then' if series.steps else 'no step had ended'}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
