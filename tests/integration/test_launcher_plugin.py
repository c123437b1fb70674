"""A run whose server comes from another package's launcher, which replays; then one whose server says 503."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from locust_agents.cluster.replay import ReplayServer, Script, chat_stream
from tests.patience import PATIENCE_S, is_sound

LAUNCHER = """
from locust_agents.cluster.replay import ReplayServer, chat_stream

class Running:
    model = "org/model"

    def __init__(self, server, epoch, folder):
        self.server, self.epoch, self.folder = server, epoch, folder
        self.url = server.url

    def failure(self):
        return None

    def stop(self):
        self.server.stop()
        (self.folder / "stopped").write_text(json.dumps([json.loads(one.body)["model"] for one in self.server.requests()
                                                         if one.method == "POST"]))
        return ["one process was left for the sake of the test"]

class Replayed:
    name = "replayed"

    def start(self, scenario, folder, say, note, epoch):
        server = ReplayServer([chat_stream(["so ", "it ", "is"], 0.02, 0.01, usage=(400, 100, 3))])
        server.start()
        say(f"serving by a replay, {scenario.server.parameters['mood']}")
        note("launch", {"launcher": self.name})
        return Running(server, epoch, folder)

replayed = Replayed()
"""
SCENARIO = """\
turns: {turns}
duration: {duration}
scale: 0.01
gaps: {{scale: 0}}
start: {{apart: 0s}}
drain: 60s
server: {server}
swarm: {{fixer: {{behaviour: fix_failing_test}}}}
"""


def run(folder: Path, server: str, turns: int, duration: str = "600s") -> "subprocess.CompletedProcess[str]":
    (folder / "s.yaml").write_text(SCENARIO.format(server=server, turns=turns, duration=duration))
    command = [str(Path(sys.executable).with_name("locust-agents")), "run", "s.yaml", "--out", "out"]
    env = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def notes(folder: Path, event: str) -> list[dict[str, Any]]:
    found = map(json.loads, (folder / "out" / "cluster.jsonl").read_text().splitlines())
    return [note for note in found if note["event"] == event]


def test_a_run_on_the_server_of_another_package(tmp_path: Path) -> None:
    info = tmp_path / "replayed-1.0.dist-info"
    info.mkdir()
    (tmp_path / "replayed.py").write_text("import json\n" + LAUNCHER)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: replayed\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[locust_agents.launchers]\nreplayed = replayed:replayed\n")
    done = run(tmp_path, "{launcher: replayed, with: {mood: gladly}}", turns=3)
    assert is_sound(done.returncode, done.stdout), done.stdout + done.stderr
    assert "serving by a replay, gladly" in done.stderr
    assert "one process was left for the sake of the test" in done.stderr
    assert [note["launcher"] for note in notes(tmp_path, "launch")] == ["replayed"]
    assert set(json.loads((tmp_path / "out" / "stopped").read_text())) == {"org/model"}
    assert "by the launcher replayed" in done.stdout


def test_a_server_that_says_that_it_is_dead_ends_the_run(tmp_path: Path) -> None:
    def page(status: int, body: bytes) -> Script:
        return Script(
            ((0.0, body),), status=status, framing="length", path="/health", headers={"Server": "BaseHTTP/0.6"}
        )

    answers = chat_stream(["so ", "it ", "is"], 0.02, 0.01, usage=(400, 100, 3))
    pages = [page(200, b'{"status": "ok"}'), page(503, b'{"status": "unavailable"}')]
    with ReplayServer([answers, *pages]) as server:
        done = run(tmp_path, f"{{attach: '{server.url}'}}", turns=100_000)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "the server's generation thread died (/health says 503)" in done.stderr
    assert [note["says"] for note in notes(tmp_path, "health")] == ["generation thread died"]
