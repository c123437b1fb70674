"""Decides what mlx_lm.server would have written: chat answers to replay (source: server.py of mlx-lm 0.32.2)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from locust_agents.cluster.replay.scripts import Script

MLX_HEADERS: Mapping[str, str] = {
    "Server": "BaseHTTP/0.6 Python/3.12.0",
    "Content-type": "text/event-stream",
    "Cache-Control": "no-cache",
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "*",
    "Access-Control-Allow-Headers": "*",
}

ToolCall = tuple[str, Mapping[str, object] | str]
"""A tool's name and its arguments; a text is sent as it is, so that it can be JSON that does not parse."""


def chat_stream(
    tokens: Sequence[str],
    first_s: float,
    gap_s: float,
    *,
    headers_s: float = 0.0,
    prefill: Sequence[tuple[int, int, float]] = (),
    reasoning: Sequence[str] = (),
    tool_calls: Sequence[ToolCall] = (),
    tool_s: float | None = None,
    usage: tuple[int, int, int] | None = None,
    finish: str | None = "stop",
    done: bool = True,
) -> Script:
    """A streamed chat answer in the form of mlx_lm.server: HTTP/1.0, closed at its end, one write for each event.

    `prefill` holds (done, total, second) of each keepalive comment. The first token of any kind leaves at `first_s`,
    the others follow at `gap_s`: `reasoning`, then `tokens`, then all `tool_calls` in one chunk, after `tool_s` of
    silence (`gap_s` when None). `usage` is (prompt, cached, completion) tokens, None when the client asked for none.
    `finish` "stop" becomes "tool_calls" when there are calls, as in the server; None leaves the last chunk out.
    `finish` None without `done` is an answer that was cut. Raises ValueError when the times run backwards.
    """
    sends = [(at_s, f": keepalive {ready}/{total}\n\n".encode()) for ready, total, at_s in prefill]
    deltas = [*({"reasoning": text} for text in reasoning), *({"content": text} for text in tokens)]
    sends += [(first_s + number * gap_s, _chunk(delta)) for number, delta in enumerate(deltas)]
    last_s = first_s + max(len(deltas) - 1, 0) * gap_s
    if tool_calls:
        silence_s = gap_s if tool_s is None else tool_s
        last_s += silence_s if deltas else 0.0
        sends.append((last_s, _chunk({"tool_calls": list(_calls(tool_calls))})))
    # the token that means "stop" takes its time; "length" is known with the last token
    end_s = last_s + gap_s if finish == "stop" and (deltas or tool_calls) else last_s
    ending = _ending("tool_calls" if finish == "stop" and tool_calls else finish, usage, done)
    sends += [(end_s, data) for data in ending]
    return Script(sends=tuple(sends), headers=MLX_HEADERS, headers_s=headers_s)


def _ending(finish: str | None, usage: tuple[int, int, int] | None, done: bool) -> Iterator[bytes]:
    if finish is not None:
        yield _chunk({}, finish)
    if usage is not None:
        yield _data("chat.completion", choices=[], usage=_usage(*usage))
    if done:
        yield b"data: [DONE]\n\n"


def _chunk(delta: Mapping[str, object], finish: str | None = None) -> bytes:
    choice = {"index": 0, "finish_reason": finish, "delta": {"role": "assistant", **delta}}
    return _data("chat.completion.chunk", choices=[choice])


def _data(kind: str, **fields: Any) -> bytes:
    start = {
        "id": "chatcmpl-00000000-0000-4000-8000-000000000000",
        "system_fingerprint": "0.32.2-0.32.4-replay",
        "object": kind,
        "model": "default_model",
        "created": 1767225600,
    }
    return f"data: {json.dumps({**start, **fields})}\n\n".encode()


def _usage(prompt: int, cached: int, completion: int) -> dict[str, object]:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def _calls(tool_calls: Sequence[ToolCall]) -> Iterator[dict[str, object]]:
    for number, (name, arguments) in enumerate(tool_calls):
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        function = {"name": name, "arguments": text}
        yield {"function": function, "type": "function", "id": f"call-{number}", "index": number}
