"""The identity check on two real ranks: a tiny model says in the crowd what it said alone."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE_S

SCRIPT = Path(__file__).parent / "gevent_scripts" / "drive_identity_real.py"


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    values: dict[str, Any] = json.loads(done.stdout)
    return values


def test_a_tiny_model_is_asked_for_its_identity_in_the_place_of_code_words(made: dict[str, Any]) -> None:
    assert made["told"] == ["tiny cannot be asked for a code word; identity is checked instead"]
    assert made["left"] == []


def test_it_is_the_same_in_the_crowd(made: dict[str, Any]) -> None:
    canaries = [record for record in made["records"] if record["kind"] == "canary"]
    assert [(record["outcome"], record["same"], record["canary_detail"]) for record in canaries] == [
        ("ok", True, None)
    ] * 6
    assert sorted({record["turn"] for record in canaries}) == [2, 5]


def test_agents_find_their_history_in_the_cache_as_if_nobody_had_asked(made: dict[str, Any]) -> None:
    later = [record for record in made["records"] if record["kind"] == "later"]
    assert len(later) == 15
    assert {record["outcome"] for record in later} == {"ok"}
    assert sum(record["cached_tokens"] for record in later) >= 0.95 * sum(record["expected_tokens"] for record in later)
