"""Cuts a byte stream into server-sent event frames, and reads the fields of a frame."""

import re

from sseclient import SSEClient

from locust_agents.errors import ProtocolError

# Larger than any answer that is sent as one event; a body without a blank line must not fill the memory.
MAX_FRAME_BYTES = 8 * 1024 * 1024

# An end of line is CR LF, LF or CR; the atomic groups keep CR LF from being read as two of them.
_BLANK_LINE = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINE_STARTS = (b":", b"data:", b"event:", b"id:", b"retry:")


class FrameSplitter:
    """Collects bytes in any cut and gives back whole frames, without the blank line that ended each."""

    def __init__(self) -> None:
        # The frame that is not whole yet: joined once, at its end, so that a long one costs no more than its bytes.
        self._pieces: list[bytes] = []
        self._line_end = b""
        self._size = 0
        self._at_start = True

    def feed(self, data: bytes) -> list[bytes]:
        """The frames that `data` completes, in order; raises ProtocolError over `MAX_FRAME_BYTES` without an end."""
        if not (self._pieces or self._line_end or self._at_start) and _are_plain(data):
            return data[:-2].split(b"\n\n")
        data = self._line_end + data
        first, *others = _BLANK_LINE.split(data) if b"\r" in data else data.split(b"\n\n")
        if not others:
            self._keep(first)
            return []
        frames, rest = [b"".join((*self._pieces, first)), *others[:-1]], others[-1]
        self._pieces, self._size = [], 0
        self._keep(rest)
        # Where a read ends between CR and LF of a blank line, the LF begins the next frame, and is stripped there.
        return [frame for frame in map(self._stripped, frames) if frame]

    def _keep(self, rest: bytes) -> None:
        """The line end at the very end is held apart: the next bytes may make a blank line of it."""
        piece = rest.rstrip(b"\r\n")
        self._line_end = rest[len(piece) :]
        if piece:
            self._pieces.append(piece)
            self._size += len(piece)
        if self._size > MAX_FRAME_BYTES:
            self._pieces, self._size = [], 0
            raise ProtocolError(f"an event of more than {MAX_FRAME_BYTES} bytes")

    def _stripped(self, frame: bytes) -> bytes:
        frame = frame.strip(b"\r\n")
        if self._at_start and frame:
            self._at_start = False
            frame = frame.removeprefix(_BYTE_ORDER_MARK).lstrip(b"\r\n")
        return frame


def _are_plain(data: bytes) -> bool:
    """Whole frames and nothing else: what nearly every read brings, and worth a short way."""
    return data[:1] > b"\n" and data.endswith(b"\n\n") and b"\n\n\n" not in data and b"\r" not in data


def comments(frame: bytes) -> list[bytes]:
    """The comment lines of a frame, without the colon and the space after it."""
    return [line[1:].strip() for line in frame.splitlines() if line.startswith(b":")]


def event(frame: bytes) -> tuple[str, bytes | str] | None:
    """The (name, data) of a frame, None where its data is missing or blank; raises ProtocolError if it is not UTF-8.

    The one-line form that every server of this API sends is a slice; anything else is sseclient-py's to parse.
    """
    if b"\n" not in frame and b"\r" not in frame:
        if frame.startswith(b"data: "):
            return None if frame[6:].isspace() or len(frame) == 6 else ("message", frame[6:])
        if frame.startswith(b":"):
            return None
    try:
        for parsed in SSEClient(iter((frame + b"\n\n",))).events():
            return (parsed.event, parsed.data) if parsed.data.strip() else None
    except UnicodeDecodeError as error:
        raise ProtocolError(f"an event that is not UTF-8: {error}") from None
    return None


def is_stream(start: bytes) -> bool:
    """Whether a body begins as an event stream does, or is too short to tell."""
    line = start.removeprefix(_BYTE_ORDER_MARK).lstrip()
    return any(line.startswith(opening) or opening.startswith(line) for opening in _LINE_STARTS)
