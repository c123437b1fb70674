"""Reads a streamed answer from (seconds, bytes): when each thing came, and what it was. No clock, no socket."""

import json
import re
from dataclasses import dataclass, field

from locust_agents.answers import deltas, frames, itl, tool_calls
from locust_agents.answers.deltas import Channel, Delta, Usage
from locust_agents.answers.tool_calls import ToolCall as ToolCall
from locust_agents.errors import ProtocolError

# No prompt has more digits; a number without end would not even convert.
_MODEL = re.compile(rb'"model"\s*:\s*"([^"\\]{1,300})"')
_PROGRESS = re.compile(rb"keepalive (\d{1,15})/(\d{1,15})(?!\d)")
# What is kept of a body until its first event, to tell an error in JSON from nonsense.
_HEAD_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Progress:
    """A prefill comment: `done` of `total` prompt tokens that the prompt cache did not hold are computed."""

    at_s: float
    done: int
    total: int


@dataclass(slots=True)
class Answer:
    """What was said so far. Times are seconds on the caller's clock; None is "did not happen".

    `reasoning_chunks` are those of the `chunks` that carry reasoning alone. An answer that is not streamed comes in one
    chunk, and at one moment.
    """

    first_progress_s: float | None = None
    prefill_end_s: float | None = None
    first_token_s: float | None = None
    first_channel: Channel | None = None
    first_answer_s: float | None = None
    last_token_s: float | None = None
    last_byte_s: float | None = None
    stall_s: float | None = None
    tool_silence_s: float | None = None
    itl_hist: dict[int, int] = field(default_factory=dict)
    progress: list[Progress] = field(default_factory=list)
    events: int = 0
    chunks: int = 0
    reasoning_chunks: int = 0
    bytes: int = 0
    usage: Usage | None = None
    finish_reason: str | None = None
    done: bool = False
    error: str | None = None
    protocol_error: str | None = None
    content: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    tool_calls: dict[int, ToolCall] = field(default_factory=dict)
    is_streamed: bool = True

    @property
    def is_over(self) -> bool:
        """Nothing that may still come can change the outcome: `[DONE]`, an error or nonsense was read."""
        return self.done or self.error is not None or self.protocol_error is not None


class StreamReader:
    """Feed it each read with the second at which it returned; `answer` always holds what is known."""

    def __init__(self) -> None:
        self.answer = Answer()
        self._splitter = frames.FrameSplitter()
        self._head = bytearray()

    def feed(self, data: bytes, at_s: float) -> None:
        """Takes one read. Never raises: what cannot be understood becomes `answer.protocol_error`.

        Whatever follows the event after which the answer is over is not looked at, however the reads were cut.
        """
        answer = self.answer
        answer.last_byte_s = at_s
        answer.bytes += len(data)
        if not answer.events:
            self._head += data[: _HEAD_BYTES - len(self._head)]
        try:
            for frame in () if answer.is_over else self._splitter.feed(data):
                self._take(frame, at_s)
                if answer.is_over:
                    break
        except ProtocolError as error:
            answer.protocol_error = str(error)

    @property
    def model(self) -> str | None:
        """The model as which the server answers, None where the first events do not say."""
        return model_in(bytes(self._head))

    def close(self) -> None:
        """The server closed. A body that was no event stream is now either a JSON error or nonsense."""
        answer, head = self.answer, bytes(self._head)
        if answer.events or answer.is_over or frames.is_stream(head):
            return
        if error := error_of_body(head):
            answer.error = error
        else:
            answer.protocol_error = f"a body that is no event stream: {head[:80]!r}"

    def _take(self, frame: bytes, at_s: float) -> None:
        if frame.startswith(b"data: {") and b"\n" not in frame and b"\r" not in frame:
            # a JSON object in one line: what nearly every frame is
            self.answer.events += 1
            self._delta(deltas.parse(frame[6:]), at_s)
            return
        if frame.startswith(b":") or b"\n:" in frame or b"\r:" in frame:
            for comment in frames.comments(frame):
                self._comment(comment, at_s)
        found = frames.event(frame)
        if found is None:
            return
        name, data = found
        self.answer.events += 1
        if data[:6] in (b"[DONE]", "[DONE]"):
            self.answer.done = True
        elif name == "error":
            self.answer.error = _named_error(data)
        else:
            self._delta(deltas.parse(data), at_s)

    def _comment(self, comment: bytes, at_s: float) -> None:
        answer = self.answer
        if answer.first_token_s is not None or not (match := _PROGRESS.match(comment)):
            return
        step = Progress(at_s, int(match[1]), int(match[2]))
        answer.progress.append(step)
        # "0/total", where requests are served one by one, says that a prefill begins: no step has ended yet
        if answer.first_progress_s is None and (step.done or not step.total):
            answer.first_progress_s = at_s
        if step.done >= step.total:
            answer.prefill_end_s = at_s

    def _delta(self, delta: Delta, at_s: float) -> None:
        answer = self.answer
        if (channel := delta.channel) is not None:
            calls_before = len(answer.tool_calls)
            for call in delta.tool_calls:
                tool_calls.add(answer.tool_calls, call)
            self._token(channel, at_s, new_call=len(answer.tool_calls) > calls_before)
            if delta.content:
                answer.content.append(delta.content)
            if delta.reasoning:
                answer.reasoning.append(delta.reasoning)
                answer.reasoning_chunks += channel == "reasoning"
        if delta.finish_reason is not None:
            answer.finish_reason = delta.finish_reason
        if delta.usage is not None:
            answer.usage = delta.usage
        if delta.error is not None:
            answer.error = delta.error

    def _token(self, channel: Channel, at_s: float, new_call: bool) -> None:
        answer = self.answer
        answer.chunks += 1
        previous_s = answer.last_token_s
        if new_call:
            # Nothing is written while a tool call is generated: this gap is its length, not a stall.
            since_s = answer.prefill_end_s if previous_s is None else previous_s
            if since_s is not None:
                answer.tool_silence_s = max(at_s - since_s, answer.tool_silence_s or 0.0)
        elif previous_s is not None:
            gap_s = at_s - previous_s
            key = itl.bucket(gap_s)
            answer.itl_hist[key] = answer.itl_hist.get(key, 0) + 1
            answer.stall_s = gap_s if answer.stall_s is None else max(answer.stall_s, gap_s)
        if answer.first_token_s is None:
            answer.first_token_s, answer.first_channel = at_s, channel
        if answer.first_answer_s is None and channel != "reasoning":
            answer.first_answer_s = at_s
        answer.last_token_s = at_s


def model_in(start: bytes) -> str | None:
    """The model that an answer names in its first bytes."""
    found = _MODEL.search(start)
    return None if found is None else found[1].decode(errors="replace")


def error_of_body(body: bytes) -> str | None:
    """The words of the `error` in a JSON body, None where it is not one."""
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(payload, dict) or not payload.get("error"):
        return None
    return deltas.error_text(payload["error"])


def _named_error(data: bytes | str) -> str:
    body = data if isinstance(data, bytes) else data.encode()
    return error_of_body(body) or deltas.error_text(body.decode(errors="replace"))
