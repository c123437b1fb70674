"""How we come to a server that somebody else runs."""

import pytest

from locust_agents.cluster import attach_headers, manners
from locust_agents.cluster.manners import Greeting
from locust_agents.cluster.replay import ReplayServer, Script, chat_stream
from locust_agents.errors import ClusterError, ScenarioError
from locust_agents.scenarios.model import Attach

IDLE = Greeting("mlx_lm.server", True, "default_model", 0.04)
BUSY = Greeting("mlx_lm.server", True, "default_model", 2.66)
OTHER = Script(((0.0, b"{}"),), headers={"Server": "llama.cpp"}, framing="length", path="/health")


def test_the_one_line_before_any_load() -> None:
    assert manners.line("http://mac1:8080", IDLE) == (
        "http://mac1:8080 is mlx_lm.server, answers as default_model, idle (a turn of one token queued 0.04 s)"
    )
    assert "others use it now" in manners.line("http://mac1:8080", BUSY)


def test_a_busy_server_needs_an_agreement() -> None:
    assert manners.objection(IDLE, shared_ok=False) is None
    assert manners.objection(BUSY, shared_ok=True) is None
    objection = manners.objection(BUSY, shared_ok=False)
    assert objection is not None
    assert "--shared-ok" in objection
    assert "2.7 s" in objection


def test_mlx_lm_is_known_by_its_health_page() -> None:
    with ReplayServer([chat_stream(["a"], 0.0, 0.0)]) as server:
        assert manners.software(server.url, None, {}) == ("mlx_lm.server", True)
        assert [request.path for request in server.requests()] == ["/health"], "no turn was sent"


def test_another_server_must_be_told_its_model() -> None:
    with ReplayServer([OTHER]) as server:
        with pytest.raises(ScenarioError, match=r"server\.attach\.model: .* is llama\.cpp, not mlx_lm\.server"):
            manners.software(server.url, None, {})
        assert manners.software(server.url, "qwen3", {}) == ("llama.cpp", False)


def test_nobody_there() -> None:
    with pytest.raises(ClusterError, match="does not answer"):
        manners.software("http://127.0.0.1:9", None, {})


def test_secrets_are_read_when_the_run_begins() -> None:
    attach = Attach(url="http://mac1:8080", api_key="${KEY}", headers={"x-team": "a-${TEAM}"})
    found = attach_headers.headers(attach, {"KEY": "sesame", "TEAM": "1"})
    assert found == {"Authorization": "Bearer sesame", "x-team": "a-1"}
    assert "sesame" not in attach.model_dump_json()


def test_a_secret_that_is_not_set_is_named() -> None:
    attach = Attach(url="http://mac1:8080", api_key="${KEY}")
    with pytest.raises(ScenarioError, match=r"server\.attach\.api_key: \$\{KEY\} is not set: export KEY=… before"):
        attach_headers.headers(attach, {})
