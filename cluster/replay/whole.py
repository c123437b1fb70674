"""Decides what mlx_lm.server writes when no stream is wanted: one JSON body (source: server.py of mlx-lm 0.32.2)."""

import json
from collections.abc import Iterator, Mapping, Sequence

from locust_agents.cluster.replay.chat import MLX_HEADERS, ToolCall, _calls, _usage
from locust_agents.cluster.replay.scripts import Script


def chat_answer(
    text: str | None,
    at_s: float,
    *,
    reasoning: str = "",
    tool_calls: Sequence[ToolCall] = (),
    usage: tuple[int, int, int] = (0, 0, 0),
    finish: str = "stop",
) -> Script:
    """A chat answer for `stream: false` in the form of mlx_lm.server: status line, headers and body all at `at_s`.

    It is HTTP/1.0 with a Content-Length, and no comment comes before. `usage` is (prompt, cached, completion) tokens:
    here it is always sent. `finish` "stop" becomes "tool_calls" when there are calls, as in the server.
    """
    message: dict[str, object] = {"role": "assistant", "content": text or None}
    if reasoning:
        message["reasoning"] = reasoning
    if tool_calls:
        message["tool_calls"] = list(_without_index(tool_calls))
    reason = "tool_calls" if finish == "stop" and tool_calls else finish
    choice = {"index": 0, "finish_reason": reason, "message": message}
    start = {
        "id": "chatcmpl-00000000-0000-4000-8000-000000000000",
        "system_fingerprint": "0.32.2-0.32.4-replay",
        "object": "chat.completion",
        "model": "default_model",
        "created": 1767225600,
    }
    body = json.dumps({**start, "choices": [choice], "usage": _usage(*usage)}).encode()
    return Script(((at_s, body),), headers=_headers(len(body)), headers_s=at_s)


def _headers(length: int) -> Mapping[str, str]:
    plain = {name: text for name, text in MLX_HEADERS.items() if name != "Cache-Control"}
    return {**plain, "Content-type": "application/json", "Content-Length": str(length)}


def _without_index(tool_calls: Sequence[ToolCall]) -> Iterator[dict[str, object]]:
    """Only a streamed call says which one of several it is."""
    for call in _calls(tool_calls):
        del call["index"]
        yield call
