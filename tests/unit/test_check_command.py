"""What `check` reads, and what it says of a scenario that is to be swept."""

import io
import os
import sys
import types
from pathlib import Path

import pytest

from locust_agents.cluster import check_command
from locust_agents.errors import ScenarioError
from locust_agents.scenarios import chosen

SCENARIO = "server: {attach: http://mac1:8080}\nduration: 9s\nswarm: {solo: {behaviour: giant_prompt}}\n"


@pytest.fixture(autouse=True)
def nothing_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen._stdin.cache_clear()
    monkeypatch.chdir(tmp_path)


def sends(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(data)))


def test_without_a_scenario_it_is_the_one_that_run_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert check_command.main([]) == 0
    assert capsys.readouterr().out.startswith("four opencode agents: 4 fixers (fix_failing_test, opencode)")


def test_a_scenario_comes_in_and_may_be_read_twice(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sends(monkeypatch, b"\xef\xbb\xbf" + SCENARIO.encode())
    assert check_command.main(["-", "--set", "sweep={scale: [1, 2]}"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("stdin: 1 solo")
    assert printed.splitlines()[-1] == "sweep   2 runs, if it is swept: scale 1, 2"


def test_what_comes_in_and_is_no_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    sends(monkeypatch, b"\xff\xfe")
    with pytest.raises(ScenarioError, match="stdin: not UTF-8 text"):
        check_command.main(["-"])


def test_a_pipe_of_the_shell_is_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    reading, writing = os.pipe()
    os.write(writing, SCENARIO.encode())
    os.close(writing)
    assert check_command.main([f"/dev/fd/{reading}"]) == 0
    os.close(reading)
    assert "1 solo (giant_prompt, opencode)" in capsys.readouterr().out


def test_a_cell_that_could_not_be_launched_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ScenarioError, match=r"prompt-cache-sise: .*did you mean 'prompt-cache-size'"):
        check_command.main(["quickstart", "--set", "sweep={server.options.prompt-cache-sise: [4, 8]}"])


def test_how_many_runs_a_sweep_makes(capsys: pytest.CaptureFixture[str]) -> None:
    assert check_command.main(["cache-size"]) == 0
    told = capsys.readouterr().out.splitlines()[-1]
    assert told == "sweep   3 runs, if it is swept: server.options.prompt-cache-size 2, 4, 12"
