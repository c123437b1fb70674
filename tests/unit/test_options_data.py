"""What our tables say of mlx-lm, against the one that is installed; each reads it in a process of its own."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from locust_agents.cluster.options import model_classes
from locust_agents.cluster.options.cache_entries import entries_needed
from locust_agents.cluster.options.known import OPTIONS, Kind
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.skipif(importlib.util.find_spec("mlx_lm") is None, reason="mlx-lm is not installed")

# the parser's own word for each kind
PARSED_BY: dict[Kind, str] = {
    "text": "str",
    "whole number": "int",
    "number": "float",
    "flag": "flag",
    "size": "_parse_size",
    "JSON object": "loads",
    "comma-separated list": "<lambda>",
}


def printed(script: str, *arguments: str) -> Any:
    command = [sys.executable, str(Path(__file__).with_name(script)), *arguments]
    child = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE_S)
    return json.loads(child.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def parser() -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in printed("print_server_options.py")}


@pytest.fixture(scope="module")
def classes() -> dict[str, Any]:
    found: dict[str, Any] = printed("derive_model_classes.py")
    return found


def test_the_options_are_the_server_s_in_its_order(parser: dict[str, dict[str, Any]]) -> None:
    assert list(OPTIONS) == list(parser)


@pytest.mark.parametrize("name", OPTIONS)
def test_type_and_default_are_the_server_s(name: str, parser: dict[str, dict[str, Any]]) -> None:
    option, row = OPTIONS[name], parser[name]
    assert (PARSED_BY[option.kind], option.default) == (row["type"], row["default"])
    if option.kind == "text":  # for numbers the server names no choices, and ours are what mlx can do
        assert list(option.choices) == row["choices"]


@pytest.mark.parametrize("name", [name for name in vars(model_classes) if name.isupper() and name != "MLX_LM"])
def test_model_classes_are_mlx_lm_s(name: str, classes: dict[str, Any]) -> None:
    ours, theirs = getattr(model_classes, name), classes[name]
    if name == "RENAMED_BY_ARCHITECTURE":
        theirs = {(model_type, architecture): module for model_type, architecture, module in theirs}
    theirs = theirs if isinstance(theirs, dict) else set(theirs)
    releases = f"{name}: the table was read from mlx-lm {model_classes.MLX_LM}, installed is {classes['MLX_LM']}"
    assert ours == theirs, releases


ENOUGH = [
    (4, 1, True, "one profile"),
    (8, 1, True, "an agent for each of eight, one profile"),
    (6, 3, True, "three profiles"),
    (4, 1, False, "a hybrid"),
    (5, 1, False, "a hybrid that fills the server's default of 10"),
    (6, 3, False, "a hybrid, three profiles"),
]
TOO_FEW = [
    (7, 8, 1, True, "fewer than histories"),
    (4, 8, 1, True, "half as many"),
    (9, 5, 1, False, "one fewer than we demand"),
    (10, 6, 1, False, "the sixth agent on the server's default"),
    (13, 6, 3, False, "one fewer than we demand, three profiles"),
]


def test_the_entries_that_we_demand_suffice() -> None:
    rows = [
        (entries_needed(histories, starts, trims), histories, starts, trims) for histories, starts, trims, _ in ENOUGH
    ]
    found = printed("interleave_histories.py", json.dumps(rows))
    assert [row for row, share in zip(ENOUGH, found, strict=True) if share < 0.95] == []


def test_fewer_entries_lose_much() -> None:
    found = printed("interleave_histories.py", json.dumps([row[:4] for row in TOO_FEW]))
    assert [row for row, share in zip(TOO_FEW, found, strict=True) if share > 0.85] == []
