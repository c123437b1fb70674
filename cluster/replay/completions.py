"""Decides what mlx_lm.server streams from /v1/completions, which has text, not deltas (server.py of mlx-lm 0.32.2)."""

from collections.abc import Sequence

from locust_agents.cluster.replay.chat import MLX_HEADERS, _data, _usage
from locust_agents.cluster.replay.scripts import Script


def completion_stream(
    tokens: Sequence[str],
    first_s: float,
    gap_s: float,
    *,
    headers_s: float = 0.0,
    prefill: Sequence[tuple[int, int, float]] = (),
    usage: tuple[int, int, int] | None = None,
    finish: str = "length",
) -> Script:
    """A streamed text completion in the form of mlx_lm.server; the arguments are those of `chat_stream`.

    `finish` "stop": the token that means so takes its time; "length" is known with the last token.
    """
    sends = [(at_s, f": keepalive {ready}/{total}\n\n".encode()) for ready, total, at_s in prefill]
    sends += [(first_s + number * gap_s, _piece(text)) for number, text in enumerate(tokens)]
    last_s = first_s + max(len(tokens) - 1, 0) * gap_s
    ending = [_piece("", finish)]
    if usage is not None:
        ending.append(_data("chat.completion", choices=[], usage=_usage(*usage)))
    end_s = last_s + gap_s if finish == "stop" and tokens else last_s
    sends += [(end_s, data) for data in (*ending, b"data: [DONE]\n\n")]
    return Script(tuple(sends), headers=MLX_HEADERS, headers_s=headers_s)


def _piece(text: str, finish: str | None = None) -> bytes:
    return _data("text_completion", choices=[{"index": 0, "finish_reason": finish, "text": text}])
