"""Figures of a run under gevent, while it goes on: Prometheus scrapes them, an OpenTelemetry collector gets them."""

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from locust_agents import run_folder
from locust_agents.cluster import ports
from locust_agents.cluster.replay import ReplayServer, chat_stream
from tests.patience import PATIENCE_S, is_sound

SHORT = chat_stream(["so ", "it ", "is"], 0.02, 0.01, usage=(400, 0, 3))
CHAT = 'gen_ai_operation_name="chat"'
# It goes on until the test has seen what is to be seen of a run that goes on.
SEEN = """\
from pathlib import Path

from locust_agents.plugins.api import Agent, Session, behaviour


@behaviour
def until_seen(agent: Agent) -> Session:
    yield agent.user("One.", tokens=50)
    while not Path("seen").exists():
        yield agent.pause(0.1)
    yield agent.user("Two.", tokens=50)
"""


def scenario(server: ReplayServer, port: int, collector: int) -> str:
    return f"""\
name: figures elsewhere
sessions: 1
plugins: seen.py
scale: 0.01
start: {{apart: 0s}}
curve: off
server: {{attach: '{server.url}'}}
listeners:
  prometheus: {{port: {port}}}
  otel: {{endpoint: "http://127.0.0.1:{collector}/v1/metrics", every_s: 1s}}
swarm: {{fixer: {{behaviour: until_seen, agents: 2}}}}
"""


class _Takes(BaseHTTPRequestHandler):
    bodies: list[bytes] = []  # noqa: RUF012

    def do_POST(self) -> None:
        self.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def scraped(port: int) -> str | None:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE_S) as answer:
            text: str = answer.read().decode()
            return text
    except (urllib.error.URLError, ConnectionError):
        return None


def test_both_in_a_run(tmp_path: Path) -> None:
    port = ports.free_ports(1)
    (tmp_path / "seen.py").write_text(SEEN)
    with ReplayServer([SHORT]) as server, HTTPServer(("127.0.0.1", 0), _Takes) as collector:
        thread = Thread(target=collector.serve_forever)
        thread.start()
        (tmp_path / "s.yaml").write_text(scenario(server, port, collector.server_port))
        command = [str(Path(sys.executable).with_name("locust-agents")), "run", "s.yaml", "--shared-ok", "--out", "out"]
        with (tmp_path / "log").open("wb") as log:
            run = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + PATIENCE_S
            while not (_Takes.bodies and CHAT in (scraped(port) or "")):
                assert time.monotonic() < deadline
                assert run.poll() is None, (tmp_path / "log").read_text()
                time.sleep(0.1)
            told = len(_Takes.bodies)
            (tmp_path / "seen").touch()
            assert is_sound(run.wait(PATIENCE_S), said := (tmp_path / "log").read_text()), said
        finally:
            run.kill()
            run.wait()
            collector.shutdown()
            thread.join()
    assert len(_Takes.bodies) > told, "it was told while it ran, and at the end"
    sent = [ExportMetricsServiceRequest.FromString(body) for body in _Takes.bodies]
    [duration] = [
        one
        for one in sent[-1].resource_metrics[0].scope_metrics[0].metrics
        if one.name == "gen_ai.client.operation.duration"
    ]
    assert sum(point.count for point in duration.histogram.data_points) == len(list(run_folder.turns(tmp_path / "out")))
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["plugin_faults"] == []
