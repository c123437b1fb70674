"""`locust-agents capacity` against a replay server whose TTFT grows with the open turns by a known rule."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from locust_agents.cluster.replay import ReplayServer, chat_stream
from tests.patience import PATIENCE_S

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
RULE = replace(chat_stream(["so ", "it ", "is"], 0.1, 0.005, usage=(400, 100, 3)), per_open_s=0.2)


@contextmanager
def started(folder: Path, url: str, *arguments: str, **values: Any) -> Iterator["subprocess.Popen[str]"]:
    """Interrupted at the end where it still runs: it stops what it started."""
    (folder / "s.yaml").write_text(json.dumps({**SCENARIO, **values}))
    command = [sys.executable, "-m", "locust_agents", "capacity", "s.yaml", "--attach", url, "--out", "out", *arguments]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=PATIENCE_S)


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


def wait_for(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.05)


def test_the_known_number_is_found(tmp_path: Path) -> None:
    with ReplayServer([RULE]) as server, started(tmp_path, server.url) as process:
        status, stdout, _ = finish(process)
    assert status == 0
    found = document(tmp_path)
    assert (found["keeps"], found["breaks"], found["undecided"]) == (3, 4, [])
    assert [step["value"] for step in found["steps"]] == [1, 2, 4, 3]
    assert stdout.splitlines()[-2].startswith("3 agents keep TTFT p95 ≤ 0.6 s; 4 do not (0.7")
    shares = found["steps"][-1]["waiting"]
    assert sorted(shares) == ["fixers/0.0", "fixers/0.1", "fixers/0.2"]
    assert all(0.5 < share < 1 for share in shares.values())
    assert (tmp_path / "out" / "3-1" / "turns.jsonl").is_file()
    assert "3 agents keep TTFT p95 ≤ 0.6 s" in (tmp_path / "out" / "capacity.html").read_text()


def test_an_interrupt_tells_what_was_known(tmp_path: Path) -> None:
    slow = replace(RULE, per_open_s=60.0)
    with ReplayServer([slow]) as server, started(tmp_path, server.url, "--json") as process:
        wait_for(lambda: (tmp_path / "out" / "2-1" / "turns.jsonl").is_file())
        wait_for(lambda: "load" in (tmp_path / "out" / "2-1" / "cluster.jsonl").read_text())
        process.send_signal(signal.SIGINT)
        status, stdout, stderr = finish(process)
    printed = json.loads(stdout)
    assert status == printed["exit_status"] == 130
    assert printed == document(tmp_path)
    assert printed["sentence"] == "1 agent keeps TTFT p95 ≤ 0.6 s"
    assert "interrupted" in stderr
    summary = json.loads((tmp_path / "out" / "2-1" / "summary.json").read_text())
    assert summary["exit_status"] == 130


def test_a_server_that_goes_away_is_status_3_and_not_a_number(tmp_path: Path) -> None:
    # a client that tries nothing twice
    swarm = {"fixers": {"behaviour": "fix_failing_test", "profile": "cline"}}
    with ReplayServer([RULE]) as server, started(tmp_path, server.url, swarm=swarm) as process:
        wait_for(lambda: turns(tmp_path / "out" / "2-1") > 5)
        server.stop()
        status, stdout, stderr = finish(process)
    assert (status, document(tmp_path)["exit_status"]) == (3, 3)
    assert "127.0.0.1" in stderr.splitlines()[-1]
    assert "1 agent keeps TTFT p95 ≤ 0.6 s" in stdout


def test_what_cannot_be_searched_starts_nothing(tmp_path: Path) -> None:
    with started(tmp_path, "127.0.0.1:9", limits={}) as process:
        status, stdout, stderr = finish(process)
    assert (status, stdout, len(stderr.splitlines())) == (2, "", 1)
    assert stderr.startswith("limits: nothing to keep but failures")
    assert not (tmp_path / "out").exists()
