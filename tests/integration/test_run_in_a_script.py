"""Runs against a replay server as scripts have them: run_scenario, --json, --junit, and `show` of what they left."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from locust_agents import run_scenario, stored_run
from locust_agents.child_run import RunSummary
from locust_agents.cluster.replay import ReplayServer, chat_stream
from locust_agents.errors import ScenarioError
from tests.patience import PATIENCE_S, undisturbed, was_disturbed

SCENARIO: dict[str, Any] = {
    "name": "one <fixer>",
    "turns": 3,
    "scale": 0.01,
    "curve": False,
    "gaps": {"scale": 0},
    "start": {"apart": "0s"},
    "drain": "5s",
    "swarm": {"fixer": {"behaviour": "fix_failing_test"}},
    "limits": {"ttft.max": "1ms"},
}
OK = chat_stream(["so ", "it ", "is"], 0.02, 0.01, usage=(400, 100, 3))
SLOW = chat_stream(["so ", "it ", "is"], 0.05, 60.0, usage=(400, 100, 3))

NOISY = """\
from locust_agents.plugins.api import Agent, Session, behaviour

@behaviour
def noisy(agent: Agent) -> Session:
    print("a plugin that prints")
    yield agent.user("Go.", tokens=50)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[ReplayServer]:
    with ReplayServer([OK]) as running:
        yield running


def command(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    words = [sys.executable, "-m", "locust_agents", *arguments]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S)


def run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Runs s.yaml, its run's folder being the only one in `runs`."""

    def make() -> "subprocess.CompletedProcess[str]":
        shutil.rmtree(folder / "runs", ignore_errors=True)
        return command(folder, "run", "s.yaml", "--shared-ok", *arguments)

    return undisturbed(make, lambda _: any(map(was_disturbed, (folder / "runs").glob("*"))))


def write(folder: Path, **values: Any) -> None:
    (folder / "s.yaml").write_text(json.dumps({**SCENARIO, **values}))


def test_a_mapping_is_run_and_its_summary_returns(server: ReplayServer, tmp_path: Path) -> None:
    patched = "gevent" in sys.modules  # another test of this process may have imported it
    out = tmp_path / "out"

    def make() -> RunSummary | None:
        shutil.rmtree(out, ignore_errors=True)
        try:
            return run_scenario(SCENARIO, out=out, overrides=["turns=4"], attach=server.url, quiet=True)
        except ScenarioError as error:
            if not was_disturbed(tmp_path, str(error)):
                raise
            return None

    found = undisturbed(make, lambda _: was_disturbed(out))
    assert found is not None
    assert (found.status, found.folder, found.error) == (1, out, None)
    assert (found.turns, found.outcomes) == (4, {"ok": 4})
    assert [one.limit.key for one in found.judgements if one.held is False] == ["ttft.max"]
    assert ("gevent" in sys.modules) is patched
    stored = stored_run.read(found.folder)
    assert (stored.scenario["name"], stored.summary["turns"], stored.unread) == ("one <fixer>", 4, ())


def test_a_wrong_mapping_is_an_error_with_its_key(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"stdin:\d+:\d+: swarm.fixer.behaviour: .*'fix_failing_test'"):
        run_scenario({**SCENARIO, "swarm": {"fixer": {"behaviour": "fix_failing_tests"}}}, quiet=True)


def test_show_says_what_the_run_said(server: ReplayServer, tmp_path: Path) -> None:
    write(tmp_path)
    done = run(tmp_path, "--attach", server.url, "--junit", "junit.xml")
    assert done.returncode == 1
    shown = command(tmp_path, "show", "last")
    assert (shown.stdout, shown.stderr, shown.returncode) == (done.stdout, "", 0)
    assert "broken ttft.max" in done.stdout
    (folder,) = (tmp_path / "runs").iterdir()
    page = (folder / "summary.md").read_text()
    assert done.stdout.partition("\nall of it")[0] in page
    assert "| versions | Python " in page
    listed = command(tmp_path, "runs").stdout.splitlines()
    assert [line.split()[0] for line in listed] == ["run", folder.name]
    assert listed[1].endswith("broken ttft.max")
    (suite,) = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert (suite.get("name"), suite.get("failures"), suite.get("errors")) == ("one <fixer>", "1", "0")


def test_json_is_alone_on_stdout_though_a_plugin_prints(server: ReplayServer, tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(NOISY)
    write(tmp_path, swarm={"fixer": {"behaviour": "noisy"}}, plugins=["noisy.py"], limits={})
    done = run(tmp_path, "--attach", server.url, "--json", "--out", "runs/out")
    document = json.loads(done.stdout)
    assert (document["exit_status"], document["folder"]) == (0, str(tmp_path / "runs" / "out"))
    assert document == {
        **json.loads((tmp_path / "runs" / "out" / "summary.json").read_text()),
        "folder": document["folder"],
    }
    assert document["machine"]["versions"]["locust"]
    assert "a plugin that prints" in done.stderr
    assert "\x1b" not in done.stderr


def test_a_run_that_cannot_begin_has_its_document_and_its_case_too(tmp_path: Path) -> None:
    write(tmp_path, turms=3)
    done = command(tmp_path, "run", "s.yaml", "--json", "--junit", "junit.xml")
    document = json.loads(done.stdout)
    assert (done.returncode, document["exit_status"], document["folder"]) == (2, 2, None)
    assert "turms: unknown key" in document["error"]
    assert "turms: unknown key" in done.stderr
    (suite,) = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert suite.get("errors") == "1"


def test_a_junit_file_without_a_place_is_told_before_the_run(tmp_path: Path) -> None:
    write(tmp_path)
    done = command(tmp_path, "run", "s.yaml", "--attach", "127.0.0.1:9", "--junit", "no/junit.xml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--junit no/junit.xml" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_in_a_log_of_both_what_was_complained_of_stands_last(server: ReplayServer, tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(NOISY + "    1 / 0\n")
    write(tmp_path, swarm={"fixer": {"behaviour": "noisy"}}, plugins=["wrong.py"], limits={})
    for words in (["run", "s.yaml", "--shared-ok", "--attach", server.url], ["show", "last"]):
        told = [sys.executable, "-m", "locust_agents", *words]
        pipe, both = subprocess.PIPE, subprocess.STDOUT
        done = subprocess.run(told, cwd=tmp_path, stdout=pipe, stderr=both, text=True, timeout=PATIENCE_S)
        assert "ZeroDivisionError" in done.stdout.splitlines()[-1], words


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="this machine has no /dev/full")
def test_a_junit_file_that_finds_no_room_costs_no_figures(server: ReplayServer, tmp_path: Path) -> None:
    write(tmp_path)
    done = run(tmp_path, "--attach", server.url, "--json", "--junit", "/dev/full")
    assert (done.returncode, json.loads(done.stdout)["exit_status"]) == (2, 1), "one document, that of the run"
    assert "--junit /dev/full: cannot be written (No space left on device)" in done.stderr


INTERRUPTED = """\
import json, sys
from pathlib import Path
from locust_agents import run_scenario

try:
    run_scenario(json.loads(sys.argv[1]), out=Path("out"), attach=sys.argv[2], quiet=True)
except KeyboardInterrupt:
    print("interrupted")
"""


def wait_for(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.05)


def test_an_interrupt_ends_the_run_and_then_the_script(tmp_path: Path) -> None:
    with ReplayServer([SLOW]) as server:
        script = [sys.executable, "-c", INTERRUPTED, json.dumps(SCENARIO), server.url]
        process = subprocess.Popen(script, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
        try:
            wait_for(lambda: any(request.method == "POST" for request in server.requests()))
            time.sleep(0.3)
            os.kill(process.pid, signal.SIGINT)
            printed, _ = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert (printed, process.returncode) == ("interrupted\n", 0)
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["exit_status"] == 130


@pytest.mark.parametrize("option", [["--json"], ["--junit", "out.xml"]])
def test_the_page_prints_no_document_and_says_so(tmp_path: Path, option: list[str]) -> None:
    ended = command(tmp_path, "run", "quickstart", "--web", *option)
    assert ended.returncode == 2
    assert ended.stderr == "--json and --junit are of a run in this terminal: leave out either them or --web\n"
