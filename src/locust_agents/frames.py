"""Cuts a byte stream into server-sent event frames, and reads the fields of a frame."""

import re

from sseclient import SSEClient

from locust_agents.errors import ProtocolError

# Larger than any answer that is sent as one event; a body without a blank line must not fill the memory.
MAX_FRAME_BYTES = 8 * 1024 * 1024

# An end of line is CR LF, LF or CR; the atomic groups keep CR LF from being read as two of them.
_BLANK_LINE = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class FrameSplitter:
    """Collects bytes in any cut and gives back whole frames, without the blank line that ended each."""

    def __init__(self) -> None:
        self.pending = b""
        self._at_start = True
        self._skip_newline = False

    def feed(self, data: bytes) -> list[bytes]:
        """The frames that `data` completes, in order; raises ProtocolError over `MAX_FRAME_BYTES` without an end."""
        data = self._resume(data)
        *frames, self.pending = _BLANK_LINE.split(data) if b"\r" in data else data.split(b"\n\n")
        if len(self.pending) > MAX_FRAME_BYTES:
            raise ProtocolError(f"an event of more than {MAX_FRAME_BYTES} bytes")
        # A CR at the very end may be the first half of the CR LF that ended the blank line.
        self._skip_newline = data.endswith(b"\r") and not self.pending
        return [frame for frame in (frame.strip(b"\r\n") for frame in frames) if frame]

    def _resume(self, data: bytes) -> bytes:
        if self._skip_newline and data:
            data = data.removeprefix(b"\n")
        if self.pending:
            data = self.pending + data
        if self._at_start and len(data) >= len(_BYTE_ORDER_MARK):
            self._at_start = False
            data = data.removeprefix(_BYTE_ORDER_MARK)
        return data


def comments(frame: bytes) -> list[bytes]:
    """The comment lines of a frame, without the colon and the space after it."""
    return [line[1:].strip() for line in frame.splitlines() if line.startswith(b":")]


def event(frame: bytes) -> tuple[str, bytes | str] | None:
    """The (name, data) of a frame, or None where it holds no data; raises UnicodeDecodeError.

    The one-line form that every server of this API sends is a slice; anything else is sseclient-py's to parse.
    """
    if frame.startswith(b"data: ") and b"\n" not in frame and b"\r" not in frame:
        return "message", frame[6:]
    for parsed in SSEClient(iter((frame + b"\n\n",))).events():
        return parsed.event, parsed.data
    return None
