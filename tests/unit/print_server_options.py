"""Prints, as JSON, what the parser of the installed mlx_lm.server takes; run by a test in a process of its own."""

import argparse
import json
from typing import Any

from mlx_lm import server


def row(action: argparse.Action) -> dict[str, Any]:
    return {
        "name": action.option_strings[-1].removeprefix("--"),
        "type": "flag" if action.nargs == 0 else getattr(action.type, "__name__", "str"),
        "default": action.default,
        "choices": list(action.choices or ()),
    }


def print_and_stop(parser: argparse.ArgumentParser, *_args: object) -> None:
    print(json.dumps([row(action) for action in parser._actions if action.dest != "help"]))
    raise SystemExit


argparse.ArgumentParser.parse_args = print_and_stop  # type: ignore[assignment, method-assign]
server.main()  # type: ignore[no-untyped-call]
