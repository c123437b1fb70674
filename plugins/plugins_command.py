"""`locust-agents plugins`: prints what is installed, what each takes, and what is broken; with a name, all of it."""

import argparse
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

from locust_agents.errors import PluginError
from locust_agents.plugins import descriptions, registry
from locust_agents.plugins.descriptions import Description
from locust_agents.quantities import WIDTH
from locust_agents.scenarios import suggest, with_plugins

_OURS = "locust-agents"


def main(argv: Sequence[str]) -> int:
    """Status 0 although a plugin is broken, since whoever does not use it loses nothing; 2 for an unknown name."""
    options = _parser().parse_args(argv)
    with_plugins.add_files(options.plugin)
    print("\n".join(lines() if options.name is None else details(options.name)))
    return 0


def lines() -> list[str]:
    """Each kind with its plugins, one line of 80 columns each; the reasons of broken ones are not cut."""
    found = [line for kind, rows in descriptions.every().items() for line in (kind, *_rows(rows))]
    broken = [f"  {one.why}" for one in registry.broken()]
    return [*found, "broken", *broken] if broken else found


def details(name: str) -> list[str]:
    """All that is known of the plugins of that name; raises PluginError where there is none."""
    every = descriptions.every()
    meant = [(kind, one) for kind, rows in every.items() for one in rows if one.name == name]
    if not meant:
        why = "; ".join(one.why for one in registry.broken() if one.name == name)
        names = sorted({one.name for rows in every.values() for one in rows})
        raise PluginError(f"no plugin is called {name!r}; {why or suggest.instead(name, names, 'there are')}")
    return [line for kind, one in meant for line in _whole(kind, one)]


def _rows(rows: Sequence[Description]) -> list[str]:
    width = max((cell_len(one.name) for one in rows), default=0)
    return [_cut(f"  {one.name:{width}}  {_short(one)}") for one in rows] or ["  none"]


def _short(one: Description) -> str:
    """Parameters first: who looks here wants to write a scenario."""
    origin = "" if one.origin == _OURS else f"[{one.origin}]"
    return "  ".join(part for part in (origin, ", ".join(one.parameters), one.summary) if part)


def _cut(line: str) -> str:
    return (line if cell_len(line) <= WIDTH else set_cell_size(line, WIDTH - 1) + "…").rstrip()


def _whole(kind: str, one: Description) -> list[str]:
    """`behaviours` says in the singular what it is."""
    told = [f"  {line}".rstrip() for line in one.text.splitlines()]
    return [f"{kind[:-1]} {one.name} ({one.origin})", *told, *(f"    {parameter}" for parameter in one.parameters)]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("locust-agents plugins", description="Every plugin there is. Starts nothing.")
    parser.add_argument("name", nargs="?", help="tell all of this one")
    parser.add_argument("--plugin", metavar="FILE", action="append", default=[], help="a Python file with plugins")
    return parser
