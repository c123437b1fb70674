"""Frames come out the same wherever the stream is cut, whatever ends its lines."""

import pytest

from locust_agents.answers import frames
from locust_agents.answers.frames import FrameSplitter
from locust_agents.errors import ProtocolError

STREAM = b": hello\n\ndata: one\n\n\n\nevent: x\ndata: two\ndata: three\n\n"
FRAMES = [b": hello", b"data: one", b"event: x\ndata: two\ndata: three"]


def split(*reads: bytes) -> list[bytes]:
    splitter = FrameSplitter()
    return [frame for read in reads for frame in splitter.feed(read)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
def test_every_cut_gives_the_same_frames(end: bytes) -> None:
    stream, wanted = STREAM.replace(b"\n", end), [frame.replace(b"\n", end) for frame in FRAMES]
    assert split(stream) == wanted
    assert split(*(bytes([byte]) for byte in stream)) == wanted
    for place in range(len(stream) + 1):
        assert split(stream[:place], b"", stream[place:]) == wanted, f"cut before byte {place}"


@pytest.mark.parametrize(
    ("reads", "wanted", "remark"),
    [
        ([b"data: a"], [], "no end yet"),
        ([b"data: a\n"], [], "a line, no blank one"),
        ([b"data: a\n", b"\n"], [b"data: a"], "the blank line alone"),
        ([b"data: a\r\n\n"], [b"data: a"], "line ends may be mixed"),
        ([b"data: a\n\r\n"], [b"data: a"], "also the other way"),
        ([b"data: a\n\r", b"\ndata: b\n\n"], [b"data: a", b"data: b"], "half of the CR LF of a blank line"),
        ([b"data: a\r", b"\n", b"data: b\r\n\r\n"], [b"data: a\r\ndata: b"], "one CR LF in two reads is one line end"),
        ([b"\n\n\r\n\r\n"], [], "nothing but blank lines"),
        ([b"\xef\xbb\xbfdata: a\n\n"], [b"data: a"], "a byte order mark is no part of the first field"),
        ([b"\xef", b"\xbb", b"\xbf", b"data: a\n\n"], [b"data: a"], "a byte order mark in three reads"),
        ([b"data: a\n\n\xef\xbb\xbfdata: b\n\n"], [b"data: a", b"\xef\xbb\xbfdata: b"], "later it is no mark"),
        ([b"\xef\xbb\xbf\n\ndata: a\n\n"], [b"data: a"], "a byte order mark alone is no frame"),
    ],
)
def test_splitting(reads: list[bytes], wanted: list[bytes], remark: str) -> None:
    assert split(*reads) == wanted, remark


def test_a_frame_of_many_reads_is_whole() -> None:
    body = b"data: " + b"x" * 1_000_000
    reads = [body[place : place + 1448] for place in range(0, len(body), 1448)]
    assert split(*reads, b"\n", b"\n") == [body]


def test_a_frame_without_end_is_an_error_and_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MAX_FRAME_BYTES", 100)
    splitter = FrameSplitter()
    assert splitter.feed(b"x" * 100) == []
    with pytest.raises(ProtocolError, match="an event of more than 100 bytes"):
        splitter.feed(b"y")
    assert splitter.feed(b"\n\ndata: a\n\n") == [b"data: a"]


@pytest.mark.parametrize(
    ("frame", "wanted", "remark"),
    [
        (b"data: {}", ("message", b"{}"), "the form that servers send"),
        (b"data:{}", ("message", "{}"), "the blank is optional"),
        (b"data:  {}", ("message", b" {}"), "only one blank belongs to the field"),
        (b"data: a\ndata: b", ("message", "a\nb"), "lines of data are joined"),
        (b"data: a\r\ndata: b", ("message", "a\nb"), "also with CR LF"),
        (b"data: a\rdata: b", ("message", "a\nb"), "also with CR"),
        (b"event: error\ndata: a", ("error", "a"), "a named event"),
        (b"id: 7\nretry: 10\ndata: a", ("message", "a"), "fields that nobody here reads"),
        (b": hi\ndata: a", ("message", "a"), "a comment in front"),
        (b"data: a\n: hi", ("message", "a"), "a comment behind"),
        (b": data: a", None, "a comment"),
        (b": a\n: b", None, "two comments"),
        (b"event: ping", None, "a name without data is no event"),
        (b"data", None, "a field without a value"),
        (b"data:", None, "blank data, as some servers keep a line alive"),
        (b"data: ", None, "the same with its blank"),
        (b"data:  \t", None, "more blanks"),
        (b"data:\ndata:", None, "blank lines of data"),
        (b"<html>", None, "no field"),
        (b'{"error": "x"}', None, "JSON is no field"),
    ],
)
def test_event(frame: bytes, wanted: tuple[str, bytes | str] | None, remark: str) -> None:
    assert frames.event(frame) == wanted, remark


def test_text_that_is_no_utf8_is_a_protocol_error() -> None:
    with pytest.raises(ProtocolError, match="not UTF-8"):
        frames.event(b"event: x\ndata: \xff")


def test_comments_of_a_frame() -> None:
    assert frames.comments(b": keepalive 1/2") == [b"keepalive 1/2"]
    assert frames.comments(b":a\r: b \r\ndata: c\n:") == [b"a", b"b", b""]


@pytest.mark.parametrize(
    "start", [b"", b"\n", b"d", b"data:", b": ping", b"event: x", b"id: 1", b"\xef\xbb\xbfretry: 1"]
)
def test_what_begins_as_a_stream(start: bytes) -> None:
    assert frames.is_stream(start)


@pytest.mark.parametrize("start", [b"{", b"<html>", b"database", b"error: x", b"\xff"])
def test_what_does_not_begin_as_a_stream(start: bytes) -> None:
    assert not frames.is_stream(start)
