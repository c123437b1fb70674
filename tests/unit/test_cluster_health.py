"""What a server's answers mean, from bytes; and the same over a socket."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from locust_agents.cluster.health import health, judge, ready_body, ready_turn
from locust_agents.cluster.policy import Health, TurnResult
from tests.patience import PATIENCE_S

WHOLE = (
    b": keepalive 1/2\n\n"
    b'data: {"choices": [{"delta": {"content": "a"}, "finish_reason": null}]}\n\n'
    b'data: {"choices": [{"delta": {}, "finish_reason": "length"}]}\n\n'
    b'data: {"choices": [], "usage": {"prompt_tokens": 1130}}\n\n'
    b"data: [DONE]\n\n"
)


@pytest.mark.parametrize(
    ("status", "answer", "ok", "refused", "remark"),
    [
        (200, WHOLE, True, False, "whole"),
        (200, WHOLE.replace(b"\n", b"\r\n"), True, False, "CRLF"),
        (200, WHOLE.replace(b"data: [DONE]\n\n", b""), False, False, "no [DONE]"),
        (200, WHOLE.replace(b'"length"', b"null"), False, False, "no finish_reason"),
        (200, b"", False, False, "nothing"),
        (200, b"<html>hello</html>", False, False, "not a stream"),
        (200, b"data: {half\n\n", False, True, "an event that is not JSON"),
        (200, b"data: 1\n\n", False, True, "an event that is no object"),
        (200, b'data: {"choices": [1]}\n\n', False, True, "an event of another form"),
        (200, b'data: {"error": "no memory"}\n\n', False, False, "an error in the stream"),
        (404, b'{"error": "no template"}', False, True, "refused"),
        (500, b"\xff\xfe", False, True, "not even text"),
    ],
)
def test_judge(status: int, answer: bytes, ok: bool, refused: bool, remark: str) -> None:
    result = judge(status, answer)
    assert (result.ok, result.refused) == (ok, refused), remark
    assert "\n" not in result.text


def test_prompt_tokens_come_from_usage() -> None:
    assert judge(200, WHOLE) == TurnResult(True, prompt_tokens=1130)
    assert judge(200, WHOLE.replace(b"usage", b"other")).prompt_tokens is None


def test_ready_body() -> None:
    body = json.loads(ready_body("default_model", 500))
    words = body.pop("messages")[0]["content"].split(" ")
    assert len(words) == 1100
    assert body == {
        "model": "default_model",
        "max_tokens": 8,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


@contextmanager
def serving(answer: bytes, status: int = 200, held: threading.Event | None = None) -> Iterator[tuple[str, list[str]]]:
    """Its base URL and what it was asked; with `held`, the second half of an answer leaves when that is set."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(f"{self.path} {len(self.rfile.read(int(self.headers['Content-Length'])))}")
            self.do_GET()

        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            half = len(answer) // 2
            self.wfile.write(answer[:half])
            if held is not None:
                held.wait(PATIENCE_S)
            self.wfile.write(answer[half:])

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/base", asked
        finally:
            if held is not None:
                held.set()
            server.shutdown()
            thread.join()


def test_ready_turn_reports_back_while_it_waits() -> None:
    held = threading.Event()
    with serving(WHOLE, held=held) as (url, asked):
        turn = ready_turn(url, "m", 16, timeout_s=PATIENCE_S, tick_s=0.02)
        assert [next(turn), next(turn)] == [None, None]
        held.set()
        *waits, last = turn
    assert set(waits) <= {None}
    assert last == TurnResult(True, prompt_tokens=1130)
    assert asked == [f"/base/v1/chat/completions {len(ready_body('m', 16))}"]


def test_ready_turn_gives_up() -> None:
    held = threading.Event()
    with serving(WHOLE, held=held) as (url, _):
        *_, last = ready_turn(url, "m", 16, timeout_s=0.1, tick_s=0.02)
        held.set()
    assert last == TurnResult(False, "no whole answer in time")


def test_ready_turn_with_nobody_there() -> None:
    *_, result = ready_turn("http://127.0.0.1:1", "m", 16, timeout_s=PATIENCE_S)
    assert result is not None
    assert "refused" in result.text


@pytest.mark.parametrize(
    ("status", "expected"), [(200, Health.WELL), (503, Health.DEAD), (404, Health.WELL), (500, Health.WELL)]
)
def test_health(status: int, expected: Health) -> None:
    with serving(b"{}", status=status) as (url, _):
        assert health(url, PATIENCE_S) is expected


def test_health_of_nobody() -> None:
    assert health("http://127.0.0.1:1", PATIENCE_S) is Health.SILENT
