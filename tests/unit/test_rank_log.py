"""What a rank's log means, however its bytes arrive, and what of a growing file is new."""

from pathlib import Path

import pytest

from locust_agents.cluster import log_follower, rank_log
from locust_agents.cluster.log_follower import Follower
from locust_agents.cluster.rank_log import (
    CacheState,
    Event,
    GenerationThreadDied,
    HttpdStarted,
    Parser,
    PrefillProgress,
    ToolCallDropped,
    Traceback,
    Warned,
)

# Written by mlx_lm.server 0.32.2 (one rank, tiny model), file names shortened; the client left in mid-prefill.
RECORDED = b"""pid 21863
/venv/mlx_lm/server.py:1894: UserWarning: mlx_lm.server is not recommended for production as it only implements
  warnings.warn(
2026-11-30 05:01:18,201 - INFO - Starting httpd at 127.0.0.1 on port 17771...
127.0.0.1 - - [30/Nov/2026 05:01:18] "GET /health HTTP/1.1" 200 -
2026-11-30 05:01:18,278 - INFO - Prompt Cache: 3 sequences, 0.12 GB
2026-11-30 05:01:18,278 - INFO - - assistant: 2 sequences, 0.10 GB
2026-11-30 05:01:18,278 - INFO - - user: 0 sequences, 0.00 GB
2026-11-30 05:01:18,279 - INFO - - system: 1 sequences, 0.02 GB
127.0.0.1 - - [30/Nov/2026 05:01:18] "POST /v1/chat/completions HTTP/1.0" 200 -
2026-11-30 05:01:18,290 - INFO - Prompt processing progress: 128/209
----------------------------------------
Exception occurred during processing of request from ('127.0.0.1', 56784)
Traceback (most recent call last):
  File "/usr/lib/python3.11/socketserver.py", line 691, in process_request_thread
    self.finish_request(request, client_address)
  File "/venv/mlx_lm/server.py", line 1887, in <lambda>
    lambda *args, **kwargs: handler_class(
                            ^^^^^^^^^^^^^^
ConnectionResetError: [Errno 104] Connection reset by peer
----------------------------------------
"""
EVENTS: list[Event] = [
    Warned("UserWarning", "mlx_lm.server is not recommended for production as it only implements"),
    HttpdStarted("127.0.0.1", 17771),
    CacheState(3, 0.12, {"assistant": (2, 0.10), "user": (0, 0.0), "system": (1, 0.02)}, "05:01:18,278"),
    PrefillProgress(128, 209, "05:01:18,290"),
    Traceback("ConnectionResetError: [Errno 104] Connection reset by peer", client_left=True),
]
AT = "2026-11-30 05:01:20,286"


def read(*pieces: bytes) -> list[Event]:
    parser = Parser()
    return [event for piece in pieces for event in parser.feed(piece)] + parser.end()


def test_the_recorded_log_is_read() -> None:
    assert read(RECORDED) == EVENTS


@pytest.mark.parametrize("size", [1, 2, 7, 100, 1000])
def test_pieces_of_any_size_give_the_same_events(size: int) -> None:
    assert read(*(RECORDED[at : at + size] for at in range(0, len(RECORDED), size))) == EVENTS


def test_a_cut_anywhere_gives_the_same_events() -> None:
    assert all(read(RECORDED[:at], RECORDED[at:]) == EVENTS for at in range(len(RECORDED)))


def test_a_terminal_between_changes_nothing() -> None:
    assert read(RECORDED.replace(b"\n", b"\r\n")) == EVENTS  # the stream of a rank behind `ssh -tt`


def test_an_event_comes_with_the_line_that_ends_it() -> None:
    parser = Parser()
    whole, last = RECORDED.split(b"- system")
    assert not any(isinstance(event, CacheState) for event in parser.feed(whole))
    assert parser.feed(b"- system" + last.partition(b"\n")[0] + b"\n") == [EVENTS[2]]


@pytest.mark.parametrize(
    ("text", "events", "remark"),
    [
        ("", [], "nothing"),
        (f"{AT} - INFO - Prompt Cache: 1 sequences", [], "a line that is not whole"),
        (f"{AT} - INFO - Prompt Cache: 12 sequences, 1.50 GB", [CacheState(12, 1.5, {}, AT[11:])], "no types"),
        (f"{AT} - INFO - - system: 1 sequences, 0.02 GB\n", [], "a type without its total"),
        (
            f"{AT} - INFO - Prompt Cache: 1 sequences, 0.00 GB\n{AT} - INFO - Prompt Cache: 2 sequences, 0.00 GB\n",
            [CacheState(1, 0.0, {}, AT[11:]), CacheState(2, 0.0, {}, AT[11:])],
            "two ranks in one stream",
        ),
        (
            f"{AT} - INFO - Prompt Cache: 1 sequences, 0.00 GB\n{AT} - INFO - Prompt processing progress: 1/2\n"
            f"{AT} - INFO - - assistant: 1 sequences, 0.00 GB\n",
            [PrefillProgress(1, 2, AT[11:]), CacheState(1, 0.0, {"assistant": (1, 0.0)}, AT[11:])],
            "another thread's line between",
        ),
        (
            f"{AT} - ERROR - mlx_lm.server generation thread died: [ring] connection to a peer was lost\n"
            'Traceback (most recent call last):\n  File "x.py", line 1, in f\n    raise it\n'
            "RuntimeError: [ring] connection to a peer was lost\n",
            [
                GenerationThreadDied("[ring] connection to a peer was lost"),
                Traceback("RuntimeError: [ring] connection to a peer was lost"),
            ],
            "the end of all generation",
        ),
        (
            f"{AT} - WARNING - Failed to parse tool call (JSONDecodeError: Extra data) — tool text was likely cut\n",
            [ToolCallDropped("(JSONDecodeError: Extra data) — tool text was likely cut")],
            "a dropped tool call",
        ),
        (f"{AT} - WARNING - Draft model\n", [Warned("WARNING", "Draft model")], "another warning"),
        (f"{AT} - DEBUG - Traceback (most recent call last):\nValueError: x\n", [], "the model's words, at DEBUG"),
        ("Traceback (most recent call last):\n  File\nKeyError: 'include_usage'\n", "KeyError: 'include_usage'", ""),
        (
            "Exception in thread 1:\nTraceback (most recent call last):\n  File\nhub.errors.Gone\n",
            "hub.errors.Gone",
            "bare",
        ),
        (
            f"Traceback (most recent call last):\n  File\n{AT} - INFO - x\n1.1.1.1 - - [x] y\nOSError: z\n",
            "OSError: z",
            "other threads go on while it is written",
        ),
        (
            "Traceback (most recent call last):\nA: 1\n\nDuring handling of it:\n\n"
            "Traceback (most recent call last):\nB: 2\n",
            [Traceback("A: 1"), Traceback("B: 2")],
            "each exception of a chain",
        ),
        ("BrokenPipeError: x\n", [], "an exception's line outside a traceback"),
        (
            "Fetching: 1%\rFetching: 90%\r/a.py:3: RuntimeWarning: w\n",
            [Warned("RuntimeWarning", "w")],
            "a progress bar",
        ),
        (f"{AT} - ERROR - {'x' * 999}\n", [Warned("ERROR", "x" * rank_log.SHOWN)], "a whole request body"),
    ],
)
def test_lines(text: str, events: list[Event] | str, remark: str) -> None:
    expected = [Traceback(events)] if isinstance(events, str) else events
    assert read(text.encode()) == expected, remark


def test_bytes_that_are_no_text_are_passed_over() -> None:
    assert read(b"\xff\xfe\n" + RECORDED) == EVENTS


def test_of_an_endless_line_little_is_kept() -> None:
    parser = Parser()
    for _ in range(20):
        assert parser.feed(b"x" * rank_log.LONGEST) == []
    assert len(parser._rest) == rank_log.LONGEST
    assert parser.feed(b"\n" + RECORDED) == EVENTS


def test_follower_gives_what_is_new(tmp_path: Path) -> None:
    log = tmp_path / "rank-0.log"
    follower = Follower(log)
    assert follower.new() == b""  # there is no such file yet
    log.write_bytes(b"one\n")
    assert follower.new() == b"one\n"
    assert follower.new() == b""
    with log.open("ab") as more:
        more.write(b"two\n")
    assert follower.new() == b"two\n"
    follower.close()


def test_follower_can_leave_out_what_is_old(tmp_path: Path) -> None:
    log = tmp_path / "rank-0.log"
    log.write_bytes(b"old\n")
    follower = Follower(log, from_end=True)
    assert follower.new() == b""
    with log.open("ab") as more:
        more.write(b"new\n")
    assert follower.new() == b"new\n"
    follower.close()


def test_follower_sees_a_cut(tmp_path: Path) -> None:
    log = tmp_path / "rank-0.log"
    log.write_bytes(b"a long line\n")
    follower = Follower(log)
    follower.new()
    log.write_bytes(b"short\n")
    assert follower.new() == b"short\n"
    follower.close()


def test_follower_reads_the_old_file_to_its_end_and_then_the_new_one(tmp_path: Path) -> None:
    log = tmp_path / "rank-0.log"
    log.write_bytes(b"old\n")
    follower = Follower(log)
    follower.new()
    with log.open("ab") as old:
        old.write(b"last words\n")
    log.unlink()
    log.write_bytes(b"another file, longer than the old one\n")
    assert follower.new() == b"last words\n"
    assert follower.new() == b"another file, longer than the old one\n"
    follower.close()


def test_follower_waits_for_the_new_file(tmp_path: Path) -> None:
    log = tmp_path / "rank-0.log"
    log.write_bytes(b"old\n")
    follower = Follower(log)
    assert follower.new() == b"old\n"
    log.unlink()
    assert follower.new() == b""
    log.write_bytes(b"new\n")
    assert follower.new() == b"new\n"
    follower.close()


def test_follower_takes_much_in_parts_and_leaves_out_too_much(tmp_path: Path) -> None:
    log = tmp_path / "rank-0.log"
    log.write_bytes(b"a" * log_follower.MOST + b"b" * 10)
    follower = Follower(log)
    assert follower.new() == b"a" * log_follower.MOST
    assert follower.new() == b"b" * 10
    with log.open("ab") as more:
        more.write(b"c" * log_follower.BACKLOG + b"d" * 10)
    assert follower.new() == b"c" * (log_follower.MOST - 10) + b"d" * 10
    assert follower.skipped == log_follower.BACKLOG + 10 - log_follower.MOST
    follower.close()
