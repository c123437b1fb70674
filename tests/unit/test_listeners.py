"""Each shipped listener: a test named after each."""

import dataclasses
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from prometheus_client.parser import text_string_to_metric_families

from locust_agents import records
from locust_agents.answers import itl
from locust_agents.errors import PluginError
from locust_agents.outcome import Outcome
from locust_agents.plugins import registry
from locust_agents.plugins.listeners import gen_ai
from locust_agents.plugins.listeners.otel import Otel
from locust_agents.plugins.listeners.prometheus import Prometheus
from locust_agents.plugins.listeners.slow_turns import SlowTurns
from locust_agents.records import TurnRecord
from tests.patience import PATIENCE_S


def record(**fields: Any) -> TurnRecord:
    """A turn that was sent at 0.1 s; times as given."""
    made = records.from_line(
        '{"outcome": "ok", "agent": "a/0.0", "turn": 3, "kind": "later", "sent_s": 0.1, "end_s": 30}'
    )
    return dataclasses.replace(made, **fields)


def test_each_shipped_listener_has_a_test_named_after_it() -> None:
    assert {f"test_{name}" for name in registry.listeners()} <= globals().keys()


# remark, the record, what is printed
WAITS: list[tuple[str, TurnRecord, str]] = [
    ("soon enough", record(first_token_s=10.1), ""),
    ("late", record(first_token_s=12.6), "slow    a/0.0 turn 3 (later): 12.5 s to its first token\n"),
    (
        "with its size",
        record(first_token_s=12.6, prompt_tokens=64_000),
        "slow    a/0.0 turn 3 (later): 12.5 s to its first token, 64,000 tokens\n",
    ),
    ("in vain", record(), "slow    a/0.0 turn 3 (later): > 29.9 s to its first token\n"),
    ("in vain, but not for long", record(end_s=5.0), ""),
    ("never sent", record(sent_s=None), ""),
]


@pytest.mark.parametrize(("turn", "printed"), [pytest.param(*row[1:], id=row[0]) for row in WAITS])
def test_slow_turns(turn: TurnRecord, printed: str, capsys: pytest.CaptureFixture[str]) -> None:
    SlowTurns(over_s=10.0).on_turn(turn)
    assert capsys.readouterr().err == printed


HIST = {0: 2, itl.bucket(0.05): 3}
ANSWERED = record(first_token_s=1.1, end_s=2.5, itl_hist=HIST, prompt_tokens=900, completion_tokens=6, entry="fixers")
WHOLE = dataclasses.replace(ANSWERED, streamed=False)
FAILED = record(outcome=Outcome.RESET, end_s=0.5, entry="fixers")
# remark, the record, the instruments that it adds to and how often
MEASURED: list[tuple[str, TurnRecord, dict[str, int]]] = [
    ("an answer", ANSWERED, {"duration": 1, "time_to_first_chunk": 1, "time_per_output_chunk": 5, "usage": 2}),
    ("no token: nothing but its duration", FAILED, {"duration": 1}),
    ("not streamed: its one token is no first chunk", WHOLE, {"duration": 1, "usage": 2}),
    ("never sent on purpose", record(outcome=Outcome.CAPPED), {}),
]


@pytest.mark.parametrize(("turn", "times"), [pytest.param(*row[1:], id=row[0]) for row in MEASURED])
def test_what_a_turn_adds(turn: TurnRecord, times: dict[str, int]) -> None:
    found: dict[str, int] = {}
    for one, _, number, attributes in gen_ai.points(turn, "mlx_lm", "m"):
        found[one.name.rpartition(".")[2]] = found.get(one.name.rpartition(".")[2], 0) + number
        assert attributes.keys() <= set(gen_ai.ATTRIBUTES)
        assert attributes["gen_ai.provider.name"] == "mlx_lm"
    assert found == times


def test_what_did_not_end_well_has_its_outcome_as_error() -> None:
    [(_, _, _, attributes)] = gen_ai.points(FAILED, "mlx_lm", "m")
    assert attributes["error.type"] == "reset"
    assert not any("error.type" in attributes for *_, attributes in gen_ai.points(ANSWERED, "mlx_lm", "m"))


def test_prometheus() -> None:
    listener = Prometheus(port=0, model="m")
    try:
        listener.on_turn(ANSWERED)
        listener.on_turn(FAILED)
        with urllib.request.urlopen(f"http://127.0.0.1:{listener.endpoint.port}/metrics", timeout=PATIENCE_S) as answer:
            text = answer.read().decode()
    finally:
        listener.close()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    counts = {(one.name, one.labels["error_type"]): one.value for one in samples if one.name.endswith("_count")}
    assert counts == {
        ("gen_ai_client_operation_duration_seconds_count", ""): 1,
        ("gen_ai_client_operation_duration_seconds_count", "reset"): 1,
        ("gen_ai_client_operation_time_to_first_chunk_seconds_count", ""): 1,
        ("gen_ai_client_operation_time_per_output_chunk_seconds_count", ""): 5,
        ("gen_ai_client_token_usage_count", ""): 1,
    }
    assert {one.labels["gen_ai_request_model"] for one in samples if one.name.endswith("_count")} == {"m"}
    [first] = [one for one in samples if one.name == "gen_ai_client_operation_time_to_first_chunk_seconds_sum"]
    assert first.value == pytest.approx(1.0)
    again = Prometheus(port=listener.endpoint.port)
    with pytest.raises(PluginError, match=f"'prometheus' cannot listen on 127.0.0.1:{again.endpoint.port} .*: give"):
        Prometheus(port=again.endpoint.port)
    again.close()


@contextmanager
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """Takes what is posted; its address, and the bodies."""
    bodies: list[bytes] = []

    class Takes(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Takes) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1/metrics", bodies
        finally:
            server.shutdown()
            thread.join()


def test_otel() -> None:
    with collector() as (url, bodies):
        listener = Otel(endpoint=url, every_s=3600.0, model="m")
        listener.on_turn(ANSWERED)
        listener.on_turn(FAILED)
        assert bodies == [], "the time has not come"
        listener.close()
    sent = ExportMetricsServiceRequest.FromString(bodies[-1])
    metrics = {one.name: one for one in sent.resource_metrics[0].scope_metrics[0].metrics}
    assert set(metrics) == {one.name for one in gen_ai.INSTRUMENTS}
    counts = {name: sum(point.count for point in one.histogram.data_points) for name, one in metrics.items()}
    assert counts == {
        "gen_ai.client.operation.duration": 2,
        "gen_ai.client.operation.time_to_first_chunk": 1,
        "gen_ai.client.operation.time_per_output_chunk": 5,
        "gen_ai.client.token.usage": 2,
    }
    point = metrics["gen_ai.client.operation.time_to_first_chunk"].histogram.data_points[0]
    assert list(point.explicit_bounds) == list(gen_ai.FIRST.bounds)
    assert {one.key: one.value.string_value for one in point.attributes}["gen_ai.operation.name"] == "chat"


def test_otel_sends_while_the_run_goes_on() -> None:
    with collector() as (url, bodies):
        listener = Otel(endpoint=url, every_s=0.0)
        listener.on_turn(ANSWERED)
        assert len(bodies) == 1
        listener.close()


@pytest.mark.parametrize(
    ("make", "module", "extra"),
    [(Prometheus, "prometheus_client", "prometheus"), (Otel, "opentelemetry.sdk.metrics", "otel")],
)
def test_a_missing_extra_is_named(
    make: Callable[[], object], module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(PluginError) as refused:
        make()
    assert str(refused.value) == f"listener '{extra}' needs an extra: pip install 'locust-agents[{extra}]'"
