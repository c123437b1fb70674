"""`locust-agents capacity` against a replay server whose TTFT grows with the open turns by a known rule."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from locust_agents import run_folder
from locust_agents.cluster.replay import ReplayServer, chat_stream
from tests.patience import PATIENCE_S, undisturbed, was_disturbed

SCENARIO: dict[str, Any] = {
    "name": "a known rule",
    "scale": 0.01,
    "gaps": {"scale": 0},
    "start": {"apart": "0s"},
    "drain": "5s",
    "swarm": {"fixers": {"behaviour": "fix_failing_test"}},
    "limits": {"ttft.p95": "600ms"},
    "capacity": {"over": "swarm.fixers.agents", "to": 4, "turns": 20},
}
# Alone a turn waits 0.1 s, with two beside it 0.5 s, with three 0.7 s: three agents keep 0.6 s.
ALONE_S, BESIDE_S = 0.1, 0.2
RULE = replace(chat_stream(["so ", "it ", "is"], ALONE_S, 0.005, usage=(400, 100, 3)), per_open_s=BESIDE_S)
# What a machine that is busy does not break.
WIDE = {"ttft.p95": "30s"}


@contextmanager
def started(folder: Path, url: str, *arguments: str, **values: Any) -> Iterator["subprocess.Popen[str]"]:
    """Interrupted at the end where it still runs: it stops what it started."""
    (folder / "s.yaml").write_text(json.dumps({**SCENARIO, **values}))
    command = [sys.executable, "-m", "locust_agents", "capacity", "s.yaml", "--attach", url, "--shared-ok"]
    command += ["--out", "out", *arguments]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.communicate(timeout=PATIENCE_S)
            finally:
                process.kill()


def finish(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in stderr, stderr
    return process.returncode, stdout, stderr


def document(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "out" / "capacity.json").read_text())
    return found


def turns(folder: Path) -> int:
    path = folder / "turns.jsonl"
    return len(path.read_text().splitlines()) if path.is_file() else 0


def wait_for(process: "subprocess.Popen[str]", what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not what():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.05)


@dataclass(frozen=True)
class Searched:
    """A search that has ended."""

    folder: Path
    status: int
    stdout: str

    @property
    def steps(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = document(self.folder)["steps"]
        return found

    def waits_s(self, step: dict[str, Any]) -> list[float]:
        """The TTFT of the turns that count, the smallest first."""
        folders = [self.folder / "out" / run for run in step["runs"]]
        trusted = [one for one in folders if not json.loads((one / "summary.json").read_text())["untrusted"]]
        turns = [turn for one in trusted for turn in run_folder.turns(one)]
        return sorted((turn.first_token_s or 0.0) - (turn.sent_s or 0.0) for turn in turns)

    def is_known(self) -> bool:
        """Whether it found what is known."""
        found = document(self.folder)
        return (found["keeps"], found["breaks"], found["undecided"]) == (3, 4, [])

    def is_disturbed(self) -> bool:
        """Whether it failed, and any turn waited for longer than the server's rule says, or the client was late."""
        if self.is_known():
            return False
        runs = [self.folder / "out" / run for step in self.steps for run in step["runs"]]
        most_s = {step["value"]: ALONE_S + BESIDE_S * (step["value"] - 1) + 0.05 for step in self.steps}
        is_slow = any(wait_s > most_s[step["value"]] for step in self.steps for wait_s in self.waits_s(step))
        return is_slow or any(map(was_disturbed, runs))


def searched(folder: Path) -> Searched:
    folder.mkdir()
    with ReplayServer([RULE]) as server, started(folder, server.url) as process:
        status, stdout, _ = finish(process)
    return Searched(folder, status, stdout)


def test_the_known_number_is_found(tmp_path: Path) -> None:
    """Where the machine lets no search be undisturbed, what is said of each step is what its turns saw all the same."""
    numbers = map(str, count())
    made = undisturbed(lambda: searched(tmp_path / next(numbers)), Searched.is_disturbed, times=3)
    for step in made.steps:
        waits_s = made.waits_s(step)
        assert step["verdict"] != "keeps" or waits_s[len(waits_s) * 9 // 10] <= 0.6
        assert step["verdict"] != "breaks" or waits_s[-1] > 0.6
    if not made.is_disturbed():
        assert_is_known(made)


def assert_is_known(made: Searched) -> None:
    found = document(made.folder)
    assert made.status == 0
    assert made.is_known(), found
    assert [step["value"] for step in found["steps"]] == [1, 2, 4, 3]
    assert made.stdout.splitlines()[-2].startswith("3 agents keep TTFT p95 ≤ 0.6 s; 4 do not (")
    shares = found["steps"][-1]["waiting"]
    assert sorted(shares) == ["fixers/0.0", "fixers/0.1", "fixers/0.2"]
    assert all(0.5 < share < 1 for share in shares.values())
    assert (made.folder / "out" / "3-1" / "turns.jsonl").is_file()
    assert "3 agents keep TTFT p95 ≤ 0.6 s" in (made.folder / "out" / "capacity.html").read_text()


def test_an_interrupt_tells_what_was_known(tmp_path: Path) -> None:
    slow = replace(RULE, per_open_s=60.0)
    with ReplayServer([slow]) as server, started(tmp_path, server.url, "--json", limits=WIDE) as process:
        wait_for(process, lambda: (tmp_path / "out" / "2-1" / "turns.jsonl").is_file())
        wait_for(process, lambda: '"load"' in (tmp_path / "out" / "2-1" / "cluster.jsonl").read_text())
        process.send_signal(signal.SIGINT)
        status, stdout, stderr = finish(process)
    printed = json.loads(stdout)
    assert status == printed["exit_status"] == 130
    assert printed == document(tmp_path)
    assert printed["sentence"] == "1 agent keeps TTFT p95 ≤ 30 s"
    assert "interrupted" in stderr
    summary = json.loads((tmp_path / "out" / "2-1" / "summary.json").read_text())
    assert summary["exit_status"] == 130


def test_a_server_that_goes_away_is_status_3_and_not_a_number(tmp_path: Path) -> None:
    # a client that tries nothing twice
    swarm = {"fixers": {"behaviour": "fix_failing_test", "profile": "cline"}}
    slow = replace(RULE, per_open_s=1.5)  # two agents have ten seconds and more for their turns, in which it goes
    with ReplayServer([slow]) as server, started(tmp_path, server.url, swarm=swarm, limits=WIDE) as process:
        wait_for(process, lambda: turns(tmp_path / "out" / "2-1") > 1)
        server.stop()
        status, stdout, stderr = finish(process)
    assert (status, document(tmp_path)["exit_status"]) == (3, 3)
    assert "127.0.0.1" in stderr.splitlines()[-1]
    assert "1 agent keeps TTFT p95 ≤ 30 s" in stdout


def test_what_cannot_be_searched_starts_nothing(tmp_path: Path) -> None:
    with started(tmp_path, "127.0.0.1:9", limits={}) as process:
        status, stdout, stderr = finish(process)
    assert (status, stdout, len(stderr.splitlines())) == (2, "", 1)
    assert stderr.startswith("limits: nothing to keep but failures")
    assert not (tmp_path / "out").exists()
