"""The tab's line of the client's own part, and its doubts: while a run goes on, at its end, and as a worker is lost."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE_S

SCRIPT = Path(__file__).parent / "gevent_scripts" / "drive_web_client.py"
LAGS = "the client's own loop was 750 ms late, more than 500 ms: use fewer agents here"
MISSING = "1 of 3 agents were missing: the load was not the scenario's"


@pytest.fixture(scope="module")
def said() -> dict[str, Any]:
    """The script fails where anything goes through all records again."""
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_line_is_whole_before_the_first_turn(said: dict[str, Any]) -> None:
    nothing = said["alone"][0]
    assert (nothing["turns"], nothing["doubts"]) == (0, [])
    assert nothing["client"] == {
        "loop lag": "worst –",
        "CPU": "–",
        "turns late": "worst –",
        "agents missing": "0",
        "turns lost": "0",
        "tokens in clumps": "–",
    }


def test_a_session_that_a_clock_made_due_is_not_late_by_the_client(said: dict[str, Any]) -> None:
    sound = said["alone"][1]
    assert sound["doubts"] == []
    assert sound["client"]["turns late"] == "worst –"
    assert sound["client"]["loop lag"] == "worst 4.0 ms"


def test_a_doubt_is_told_as_soon_as_there_is_one_and_in_the_words_of_the_end(said: dict[str, Any]) -> None:
    lagging, ended = said["alone"][3], said["alone"][6]
    assert lagging["doubts"] == ended["doubts"] == [LAGS, MISSING]
    assert lagging["client"]["agents missing"] == "1 of 3"
    assert lagging["client"]["turns late"] == ended["client"]["turns late"] == "worst 2.0 ms"


def test_the_run_ends_early_with_the_turn_that_broke_its_limit(said: dict[str, Any]) -> None:
    assert [said["alone"][place] for place in (2, 4)] == [None, None]
    assert said["alone"][5] == "the run ends early: ttft.max 39.9 s > 30 s by 9.90 s, worst s10 turn 0"


def test_what_was_said_stays_until_the_next_run(said: dict[str, Any]) -> None:
    prepared, running, next_one, passed_on = said["sentences"]
    assert prepared == ["the server starts, 1 s", "measuring"], "seconds that are counted are one sentence"
    assert running == [*prepared, "1 of 3 agents is missing"]
    assert next_one == []
    assert passed_on == ["the server starts, 0 s", *running], "the terminal says all of it too"


def test_an_open_turn_is_lost_once_its_worker_is(said: dict[str, Any]) -> None:
    both, soon_after, sure = said["workers"]
    assert (both["client"]["turns lost"], both["client"]["CPU"]) == ("0", "35 % of a core")
    assert soon_after["doubts"] == both["doubts"] == [], "its last records may be on their way"
    assert sure["client"]["turns lost"] == "1 at least"
    assert sure["doubts"] == ["1 turn at least were sent and have no record: a worker was lost"]
