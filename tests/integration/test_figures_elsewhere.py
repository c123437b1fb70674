"""Figures of a run under gevent, while it goes on: Prometheus scrapes them, an OpenTelemetry collector gets them."""

import json
import socket
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
from locust_agents.cluster.replay import ReplayServer, chat_stream
from tests.patience import PATIENCE_S

SHORT = chat_stream(["so ", "it ", "is"], 0.2, 0.01, usage=(400, 0, 3))


def scenario(server: ReplayServer, port: int, collector: int) -> str:
    return f"""\
name: figures elsewhere
turns: 40
scale: 0.01
gaps: {{scale: 0}}
start: {{apart: 0s}}
curve: off
server: {{attach: '{server.url}'}}
listeners:
  prometheus: {{port: {port}}}
  otel: {{endpoint: "http://127.0.0.1:{collector}/v1/metrics", every_s: 1s}}
swarm: {{fixer: {{behaviour: fix_failing_test, agents: 2}}}}
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
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with ReplayServer([SHORT]) as server, HTTPServer(("127.0.0.1", 0), _Takes) as collector:
        thread = Thread(target=collector.serve_forever)
        thread.start()
        (tmp_path / "s.yaml").write_text(scenario(server, port, collector.server_port))
        command = [str(Path(sys.executable).with_name("locust-agents")), "run", "s.yaml", "--out", "out"]
        with (tmp_path / "log").open("wb") as log:
            run = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            texts = {""}
            deadline = time.monotonic() + PATIENCE_S
            while run.poll() is None:
                assert time.monotonic() < deadline
                texts.add(scraped(port) or "")
                time.sleep(0.2)
            assert run.returncode == 0, (tmp_path / "log").read_text()
        finally:
            run.kill()
            run.wait()
            collector.shutdown()
            thread.join()
    assert any('gen_ai_operation_name="chat"' in text for text in texts), "it was scraped while it ran"
    sent = [ExportMetricsServiceRequest.FromString(body) for body in _Takes.bodies]
    assert len(sent) > 1, "it was told while it ran, and at the end"
    [duration] = [
        one
        for one in sent[-1].resource_metrics[0].scope_metrics[0].metrics
        if one.name == "gen_ai.client.operation.duration"
    ]
    assert sum(point.count for point in duration.histogram.data_points) == len(list(run_folder.turns(tmp_path / "out")))
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["plugin_faults"] == []
