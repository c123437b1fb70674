"""Decides over HTTP, and alone does so, whether a server is up and whether it can answer a turn."""

import json
import select
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from itertools import cycle, islice
from math import ceil
from urllib.parse import urlsplit

from locust_agents.cluster.policy import Health, TurnResult

WORDS = ("return", "value", "class", "import", "result", "self", "name", "list")
"""Words that are one token each, with the space before them, in tokenizers trained on code."""

STEPS = 2.2
"""Prefill steps in the ready turn: two whole ones, and some room for a tokenizer that joins words."""


def health(url: str, timeout_s: float) -> Health:
    """What GET /health says. WELL only means that the generation thread lives: it may still be loading, or hang."""
    connection = _connection(url, timeout_s)
    try:
        connection.request("GET", urlsplit(url).path + "/health")
        status = connection.getresponse().status
    except (OSError, HTTPException):
        return Health.SILENT
    finally:
        connection.close()
    return Health.DEAD if status == 503 else Health.WELL


def ready_turn(
    url: str, model_name: str, prefill_step_size: int, timeout_s: float, tick_s: float = 0.25
) -> Iterator[TurnResult | None]:
    """Sends a real streamed turn of two prefill steps and eight tokens.

    Yields None at least every `tick_s` while the answer is on its way, so that the caller can look after other things,
    and the result last.
    """
    deadline_s = time.monotonic() + timeout_s
    connection = _connection(url, min(timeout_s, 10.0))
    answer = b""
    try:
        connection.request(
            "POST",
            urlsplit(url).path + "/v1/chat/completions",
            ready_body(model_name, prefill_step_size),
            {"Content-Type": "application/json", "Connection": "close"},
        )
        yield from _until_readable(connection.sock.fileno(), deadline_s, tick_s)
        response = connection.getresponse()
        while not response.isclosed():
            yield from _until_readable(response.fileno(), deadline_s, tick_s)
            chunk = response.read1(65_536)
            if not chunk:
                break
            answer += chunk
        yield judge(response.status, answer)
    except (OSError, HTTPException) as error:
        yield TurnResult(False, f"{error or type(error).__name__}")
    finally:
        connection.close()


def ready_body(model_name: str, prefill_step_size: int) -> bytes:
    """The request's JSON, about 2.2 prefill steps long; no `seed`, since that would keep it out of the batch."""
    prompt = " ".join(islice(cycle(WORDS), ceil(STEPS * prefill_step_size)))
    body = {
        "model": model_name,
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": 8,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    return json.dumps(body).encode()


def judge(status: int, answer: bytes) -> TurnResult:
    """Whether the bytes are a whole answer: status 200, a finish_reason and [DONE]."""
    text = answer.decode(errors="replace")
    if status != 200:
        return TurnResult(False, f"status {status}, {_shorten(text)}", refused=True)
    data = [line.removeprefix("data:").strip() for line in text.splitlines() if line.startswith("data:")]
    try:
        events = [dict(json.loads(item)) for item in data if item != "[DONE]"]
    except (ValueError, TypeError):
        return TurnResult(False, f"an event that is no JSON object, {_shorten(text)}", refused=True)
    finished = any(choice.get("finish_reason") for event in events for choice in event.get("choices", ()))
    tokens = [event["usage"]["prompt_tokens"] for event in events if event.get("usage")]
    if not finished or "[DONE]" not in data:
        return TurnResult(False, f"the answer ends too early, {_shorten(text)}")
    return TurnResult(True, prompt_tokens=tokens[-1] if tokens else None)


def _until_readable(descriptor: int, deadline_s: float, tick_s: float) -> Iterator[None]:
    while not select.select([descriptor], [], [], tick_s)[0]:
        if time.monotonic() >= deadline_s:
            raise TimeoutError("no whole answer in time")
        yield None


def _connection(url: str, timeout_s: float) -> HTTPConnection:
    parts = urlsplit(url)
    return HTTPConnection(parts.hostname or "", parts.port, timeout=timeout_s)


def _shorten(text: str) -> str:
    return repr(text[-200:]) if text else "no text"
