"""The GenAI metrics of the client to an OpenTelemetry collector, over OTLP and HTTP."""

import math
from time import perf_counter

from locust_agents.errors import PluginError
from locust_agents.plugins.api import TurnRecord
from locust_agents.plugins.listeners import gen_ai

# The end of a run waits a few seconds for its listeners; a collector that is gone must not cost more.
_TIMEOUT_S = 3


class Otel:
    """Sends what has come together every `every_s` seconds at most, and at the end. A chunk is not a token.

    Without an `endpoint`, OTEL_EXPORTER_OTLP_ENDPOINT and its kin decide: http://localhost:4318 if nothing is said.
    """

    def __init__(
        self, endpoint: str = "", every_s: float = 15.0, provider: str = "mlx_lm", model: str = "default_model"
    ) -> None:
        try:  # an extra: the module itself must load without it
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
            from opentelemetry.sdk.metrics import MeterProvider
            from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
            from opentelemetry.sdk.resources import Resource
        except ImportError:
            raise PluginError("listener 'otel' needs an extra: pip install 'locust-agents[otel]'") from None
        exporter = OTLPMetricExporter(endpoint=endpoint or None, timeout=_TIMEOUT_S)
        # Never by itself: its own thread would be a part of the loop that takes the times.
        reader = PeriodicExportingMetricReader(exporter, export_interval_millis=math.inf)
        self._provider = MeterProvider(
            [reader], Resource.create({"service.name": "locust-agents"}), shutdown_on_exit=False
        )
        meter = self._provider.get_meter("locust_agents")
        self._histograms = {
            one.name: meter.create_histogram(
                one.name, one.unit, one.what, explicit_bucket_boundaries_advisory=one.bounds
            )
            for one in gen_ai.INSTRUMENTS
        }
        self._names = {"provider": provider, "model": model}
        self._every_s, self._sent_at = every_s, perf_counter()

    def on_turn(self, record: TurnRecord) -> None:
        """Adds its figures, and sends them where it is time."""
        for one, value, times, attributes in gen_ai.points(record, **self._names):
            for _ in range(times):
                self._histograms[one.name].record(value, dict(attributes))
        if perf_counter() - self._sent_at >= self._every_s:
            self._provider.force_flush(_TIMEOUT_S * 1000)
            self._sent_at = perf_counter()

    def close(self) -> None:
        """Sends the rest."""
        self._provider.force_flush(_TIMEOUT_S * 1000)
        self._provider.shutdown(_TIMEOUT_S * 1000)
