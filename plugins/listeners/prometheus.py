"""A Prometheus endpoint that lives as long as the run: http://127.0.0.1:9464/metrics."""

from locust_agents.errors import PluginError
from locust_agents.plugins.api import TurnRecord
from locust_agents.plugins.listeners import gen_ai
from locust_agents.plugins.listeners.endpoint import Endpoint
from locust_agents.plugins.listeners.gen_ai import Instrument


class Prometheus:
    """The GenAI metrics of the client as histograms; a turn is counted as it ends. A chunk is not a token."""

    def __init__(
        self, port: int = 9464, host: str = "127.0.0.1", provider: str = "mlx_lm", model: str = "default_model"
    ) -> None:
        try:  # an extra: the module itself must load without it
            import prometheus_client
        except ImportError:
            raise PluginError("listener 'prometheus' needs an extra: pip install 'locust-agents[prometheus]'") from None
        registry = prometheus_client.CollectorRegistry()
        labels = [_plain(name) for name in gen_ai.ATTRIBUTES]
        self._histograms = {
            one.name: prometheus_client.Histogram(
                _name(one), one.what, labels, registry=registry, buckets=(*one.bounds, float("inf"))
            )
            for one in gen_ai.INSTRUMENTS
        }
        self._names = {"provider": provider, "model": model}
        try:
            self.endpoint = Endpoint(host, port, prometheus_client.make_wsgi_app(registry))
        except OSError as error:
            words = f"cannot listen on {host}:{port} ({error.strerror}): give another port"
            raise PluginError(f"listener 'prometheus' {words}") from None

    def on_turn(self, record: TurnRecord) -> None:
        """Adds its figures."""
        for one, value, times, attributes in gen_ai.points(record, **self._names):
            labels = {_plain(name): attributes.get(name, "") for name in gen_ai.ATTRIBUTES}
            histogram = self._histograms[one.name].labels(**labels)
            for _ in range(times):
                histogram.observe(value)

    def close(self) -> None:
        """The endpoint is gone: what was not fetched by now is in turns.jsonl."""
        self.endpoint.close()


def _name(one: Instrument) -> str:
    return _plain(one.name) + ("_seconds" if one.unit == "s" else "")


def _plain(name: str) -> str:
    return name.replace(".", "_")
