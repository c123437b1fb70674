"""One HTTP call of the cluster's: what comes back of it, and in which words it fails."""

import contextlib
import socket
from http.client import BadStatusLine, HTTPException

import pytest

from locust_agents.cluster import http_calls
from locust_agents.cluster.http_calls import UNHEARD, Page
from locust_agents.cluster.replay import ReplayServer, Script

PAGE = Script(((0.0, b'{"status": "ok"}'),), headers={"Server": "llama.cpp"}, framing="length", path="/base/health")


@pytest.mark.parametrize(("most_bytes", "body"), [(0, b""), (4, b'{"st'), (4096, b'{"status": "ok"}')])
def test_as_much_of_a_page_is_read_as_was_asked_for(most_bytes: int, body: bytes) -> None:
    with ReplayServer([PAGE]) as server:
        found = http_calls.get(f"{server.url}/base", "/health", 30.0, {"Authorization": "Bearer k"}, most_bytes)
        (asked,) = server.requests()
    assert found == Page(200, "llama.cpp", body)
    assert asked.headers["authorization"] == "Bearer k"


def test_closing_a_call_hangs_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        call = http_calls.post(f"http://127.0.0.1:{listener.getsockname()[1]}", "/", b"{}", {}, 30.0, 0.01)
        assert next(call) is None
        accepted, _ = listener.accept()
        with contextlib.closing(accepted):
            call.close()
            while accepted.recv(4096):
                pass  # ends with the connection


# remark, error, words
ERRORS: list[tuple[str, Exception, str]] = [
    ("its own words", OSError("no route"), "no route"),
    ("without words", HTTPException(), "HTTPException"),
    ("a status line of nothing", BadStatusLine(""), "''"),
]


@pytest.mark.parametrize(("error", "words"), [pytest.param(*row[1:], id=row[0]) for row in ERRORS])
def test_an_error_is_told_in_a_word_at_least(error: Exception, words: str) -> None:
    assert isinstance(error, UNHEARD)
    assert http_calls.why(error) == words
