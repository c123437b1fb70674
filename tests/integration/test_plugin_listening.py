"""Listeners of a run: each hears every record once, in a thread beside the load, and none changes what is measured."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE_S

SCRIPT = Path(__file__).parent / "gevent_scripts" / "listen.py"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("listening")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "."], cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stderr
    values: dict[str, Any] = json.loads(done.stdout)
    return values


def test_each_record_is_heard_once_and_in_order(made: dict[str, Any]) -> None:
    assert made["heard"] == list(range(10))
    assert made["closed"] == 1


def test_they_hear_in_another_thread_and_a_slow_one_delays_nobody(made: dict[str, Any]) -> None:
    assert made["is_beside"]
    assert made["heard_by_then"] <= 1  # one of them has not done with the first record, and ten were handed over


def test_one_that_raises_is_told_of_once_with_its_line_and_the_others_go_on(made: dict[str, Any]) -> None:
    assert sorted(made["faults"]) == [
        "plugin.py:22: KeyError: 'x' (listener 'Raises', which heard nothing more of this run)",
        "plugin.py:27: SystemExit: 7 (listener 'Exits', which heard nothing more of this run)",
        "plugin.py:46: OSError: disk full (listener 'Closes', which heard nothing more of this run)",
    ]


def test_what_one_does_to_a_record_does_not_reach_it(made: dict[str, Any]) -> None:
    assert made["unchanged"]


def test_one_that_cannot_be_made_is_refused_before_the_run(made: dict[str, Any]) -> None:
    assert "unexpected keyword argument 'kep' (listener 'Hears' cannot be made)" in made["refused"]


def test_one_that_hangs_does_not_keep_the_run(made: dict[str, Any]) -> None:
    assert made["late"] == ["still busy 0 s after the run, with records not heard (listener 'Hangs')"]
