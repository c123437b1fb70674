"""Locustfiles as Locust itself runs them: written by hand, in the web UI, and with a mistake in the scenario."""

import json
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from locust_agents import run_folder
from locust_agents.cluster import ports
from locust_agents.cluster.replay import ReplayServer, chat_stream
from locust_agents.outcome import Outcome
from tests.patience import PATIENCE_S, undisturbed, was_disturbed

BIN = Path(sys.executable).parent
LOCUSTFILES = Path(__file__).parents[2] / "locustfiles"
ANSWER = chat_stream(["It ", "is ", "fixed."], 0.02, 0.01, prefill=[(50, 100, 0.01), (100, 100, 0.015)])

HAND_WRITTEN = '''
from locust import run_single_user
from locust_agents.locustfiles.user import CodingAgent
from locust_agents.plugins.api import Agent, Session, behaviour


@behaviour
def ask_twice(agent: Agent, tokens: int = 50) -> Session:
    """Asks, reads, asks again."""
    for _ in range(2):
        yield agent.user("And now?", tokens=tokens)


class Fixer(CodingAgent):
    behaviour = ask_twice
    profile = "opencode"
    scale = 0.01
    sessions = 2


if __name__ == "__main__":
    run_single_user(Fixer)
'''


@pytest.fixture
def server() -> Iterator[ReplayServer]:
    with ReplayServer([ANSWER]) as running:
        yield running


@pytest.fixture
def fixer(tmp_path: Path) -> Path:
    path = tmp_path / "fixer.py"
    path.write_text(HAND_WRITTEN)
    return path


def finished(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Its run, if it makes one, is the only one of the folder, and one that the machine did not disturb."""

    def make() -> subprocess.CompletedProcess[str]:
        shutil.rmtree(folder / "runs", ignore_errors=True)
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False)

    return undisturbed(make, lambda _: any(map(was_disturbed, (folder / "runs").glob("*"))))


def test_a_class_written_by_hand_runs_under_locust(server: ReplayServer, fixer: Path) -> None:
    command = [str(BIN / "locust"), "-f", str(fixer), "--headless", "-u", "2", "-r", "2", "--host", server.url]
    ended = finished(command, fixer.parent)
    assert ended.returncode == 0, ended.stderr
    [out] = (fixer.parent / "runs").iterdir()
    records = list(run_folder.turns(out))
    assert sorted((record.agent, record.session, record.turn) for record in records) == [
        (f"Fixer/0.{agent}", f"Fixer/0.{agent}#{session}", turn)
        for agent in (0, 1)
        for session in (0, 1)
        for turn in (0, 1)
    ]
    assert {record.outcome for record in records} == {Outcome.OK}
    assert json.loads((out / "summary.json").read_text())["turns"] == 8


def test_run_single_user_runs_one_agent(server: ReplayServer, fixer: Path) -> None:
    ended = finished([sys.executable, str(fixer), "--host", server.url], fixer.parent)
    assert ended.returncode == 0, ended.stderr
    [out] = (fixer.parent / "runs").iterdir()
    assert [record.kind for record in run_folder.turns(out)] == ["first", "later"] * 2


def test_a_class_without_a_host_says_what_to_give(fixer: Path) -> None:
    command = [str(BIN / "locust"), "-f", str(fixer), "--headless", "-u", "1", "-t", "5s"]
    ended = finished(command, fixer.parent)
    assert "Fixer has no host: give --host http://mac1:8080" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_agents_ttft_asks_once_for_each_agent_and_ends(server: ReplayServer, tmp_path: Path) -> None:
    example = str(LOCUSTFILES / "agents_ttft.py")
    command = [str(BIN / "locust"), "-f", example, "--headless", "-u", "3", "-r", "100", "--host", server.url]
    ended = finished(command, tmp_path)
    assert ended.returncode == 0, ended.stderr
    lines = [line for line in ended.stdout.splitlines() if line.startswith("Asker/")]
    assert len(lines) == 3
    assert "median" in lines[-1]
    assert "worst" in lines[-1]
    assert len(Path(example).read_text().splitlines()) <= 30


def test_the_web_ui_shows_the_scenarios_entries(server: ReplayServer, tmp_path: Path) -> None:
    port = ports.free_ports(1)
    (tmp_path / "locust.conf").write_text(f"web-port = {port}\n")
    command = [str(BIN / "locust-agents"), "run", "quickstart", "--web", "--attach", server.url, "--out", "mine"]
    command += ["--shared-ok"]  # though it answer late
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        names, deadline = set[str](), time.monotonic() + PATIENCE_S
        while not names >= {"fixers first", "fixers later", "Aggregated"}:
            assert process.poll() is None, (tmp_path / "log").read_text()
            assert time.monotonic() < deadline, names
            names |= {row["name"] for row in _stats(port)}
            time.sleep(0.2)
        page = urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=PATIENCE_S).read().decode()
        assert '"fixers"' in page
        assert '"giant"' in page
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(PATIENCE_S)
        finally:
            process.kill()
    assert "four agents and a giant" in (tmp_path / "log").read_text(), "the table is printed at the end"
    assert (tmp_path / "mine" / "summary.json").exists()
    assert not (tmp_path / "runs").exists()


def _stats(port: int) -> list[dict[str, str]]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/stats/requests", timeout=PATIENCE_S) as answer:
            stats: list[dict[str, str]] = json.load(answer)["stats"]
            return stats
    except OSError:
        return []  # the page is not up yet


def test_a_wrong_scenario_ends_plain_locust_with_its_mistakes(tmp_path: Path) -> None:
    scenario = tmp_path / "wrong.yaml"
    scenario.write_text("name: x\nswarm: {a: {behaviour: fix_failing_tests}}\ndurration: 3s\n")
    command = [str(BIN / "locust"), "-f", str(LOCUSTFILES / "coding_agents.py"), "--scenario", str(scenario)]
    ended = finished([*command, "--headless"], tmp_path)
    assert ended.returncode == 2
    assert "wrong.yaml:2:24: swarm.a.behaviour" in ended.stderr
    assert "wrong.yaml:3:1: durration: unknown key; did you mean 'duration'?" in ended.stderr
    assert "Traceback" not in ended.stderr
