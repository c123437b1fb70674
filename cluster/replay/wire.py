"""Decides the exact bytes between replay server and client: the frames of an answer, the head of a request."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from locust_agents.cluster.replay.scripts import Ending, Script

STAMP = "@SENT_NS@"
"""Where a server that stamps puts the moment of the write, in ns of `time.monotonic_ns`."""

# a stamp is padded with blanks on its right, which JSON and int() both allow: chunk sizes and lengths are then fixed
_WIDTH = 20
_SLOT = STAMP.encode().ljust(_WIDTH)


@dataclass(frozen=True, slots=True)
class Answer:
    """A script made ready to play: `frames` are (seconds after the request, bytes as they leave)."""

    frames: tuple[tuple[float, bytes], ...]
    ending: Ending
    read_body: bool
    per_open_s: float


@dataclass(frozen=True, slots=True)
class Head:
    """A request without its body; the names in `headers` are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body_length: int


def to_answer(script: Script, stamp: bool) -> Answer:
    """Frames every send; with `stamp`, makes room for the time that `fill_stamp` writes later."""
    sends = [(at_s, data.replace(STAMP.encode(), _SLOT) if stamp else data) for at_s, data in script.sends]
    frames = list(_frames(script, sends))
    return Answer(tuple(frames), script.ending, script.read_body, script.per_open_s)


def fill_stamp(frame: bytes, now_ns: int) -> bytes:
    """The frame with the time in each place that waits for it, as long as before."""
    return frame.replace(_SLOT, str(now_ns).encode().ljust(_WIDTH))


def parse_head(head: bytes) -> Head:
    """Reads request line and headers; the path comes without its query. Raises ValueError when it is not HTTP."""
    request_line, *lines = head.decode("latin-1").split("\r\n")
    method, target, version = request_line.split(" ")
    if not version.startswith("HTTP/"):
        raise ValueError(f"not HTTP: {request_line!r:.80}")
    pairs = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    body_length = int(headers.get("content-length", "0"))
    if body_length < 0:
        raise ValueError(f"not a length: {body_length}")
    return Head(method, target.partition("?")[0], headers, body_length)


def plain_answer(status: int, value: object) -> Answer:
    """A whole JSON answer at once, for what no script answers."""
    body = json.dumps(value).encode()
    # the server it stands for has no name of its own: its answers carry that of Python's
    headers = {"Content-Type": "application/json", "Server": "BaseHTTP/0.6 Python/3"}
    script = Script(((0.0, body),), status, headers, framing="length")
    return to_answer(script, stamp=False)


def _frames(script: Script, sends: Sequence[tuple[float, bytes]]) -> Iterator[tuple[float, bytes]]:
    chunked = script.framing == "chunked"
    if script.framing != "raw":
        yield script.headers_s, _answer_head(script, sum(len(data) for _, data in sends))
    for at_s, data in sends:
        yield at_s, b"%x\r\n%b\r\n" % (len(data), data) if chunked and data else data
    if chunked and script.ending == "close":
        yield sends[-1][0] if sends else script.headers_s, b"0\r\n\r\n"


def _answer_head(script: Script, length: int) -> bytes:
    version = "1.0" if script.framing == "until_close" else "1.1"
    headers = dict(script.headers)
    if script.framing == "chunked":
        headers |= {"Transfer-Encoding": "chunked", "Connection": "close"}
    if script.framing == "length":
        headers = {"Content-Length": str(length), "Connection": "close"} | headers
    lines = [f"HTTP/{version} {script.status} {_reason(script.status)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _reason(status: int) -> str:
    return HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Unknown"
