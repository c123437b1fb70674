"""Reads an answer that is not streamed, from (seconds, bytes): one JSON body, which came when its last byte did."""

from locust_agents.answers import deltas, frames, tool_calls
from locust_agents.answers.deltas import Channel, Delta
from locust_agents.answers.stream import Answer, model_in
from locust_agents.errors import ProtocolError


class BodyReader:
    """Takes reads as `StreamReader` does; `answer` holds nothing but bytes until `close`."""

    def __init__(self) -> None:
        self.answer = Answer(is_streamed=False)
        self._pieces: list[bytes] = []

    def feed(self, data: bytes, at_s: float) -> None:
        """Takes one read. Never raises: a body over the limit of an event becomes `answer.protocol_error`."""
        answer = self.answer
        answer.last_byte_s = at_s
        answer.bytes += len(data)
        if answer.bytes > frames.MAX_FRAME_BYTES:
            answer.protocol_error = f"a body of more than {frames.MAX_FRAME_BYTES} bytes"
            self._pieces.clear()
        else:
            self._pieces.append(data)

    @property
    def model(self) -> str | None:
        """The model as which the server answers, None where it does not say."""
        return model_in(b"".join(self._pieces))

    def close(self) -> None:
        """The body is complete: its parts came with its last byte, which is what such a client waits for."""
        answer, body = self.answer, b"".join(self._pieces)
        if answer.events or answer.is_over or not body.strip():
            return
        answer.events = 1
        try:
            said = deltas.parse(body, "message")
        except ProtocolError as error:
            answer.protocol_error = str(error)
        else:
            self._hear(said)

    def cut(self) -> None:
        """The connection ended before the length that it had announced: half a body says nothing."""
        self.answer.events = 1 if self.answer.bytes else 0

    def _hear(self, said: Delta) -> None:
        answer = self.answer
        answer.error, answer.usage, answer.finish_reason = said.error, said.usage, said.finish_reason
        answer.done = said.error is None
        for call in said.tool_calls:
            tool_calls.add(answer.tool_calls, call)
        answer.content += [said.content] if said.content else []
        answer.reasoning += [said.reasoning] if said.reasoning else []
        channel = _first_channel(said)
        if channel is not None:
            answer.chunks, answer.reasoning_chunks = 1, int(said.channel == "reasoning")
            answer.first_channel = channel
            answer.first_token_s = answer.last_token_s = answer.last_byte_s
            answer.first_answer_s = None if said.channel == "reasoning" else answer.last_byte_s


def _first_channel(said: Delta) -> Channel | None:
    """A model thinks before it speaks, and speaks before it calls."""
    if said.reasoning:
        return "reasoning"
    return "content" if said.content else said.channel
