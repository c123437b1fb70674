"""How a line of cluster.jsonl is said to a person."""

from typing import Any

import pytest

from locust_agents import event_words

LINES: list[tuple[dict[str, Any], str]] = [
    ({"event": "ready", "seconds": 1.933, "prompt_tokens": 293, "epoch": 1}, "ready after 1.9 s"),
    ({"event": "attach", "url": "http://mac1:8080"}, "attached to http://mac1:8080"),
    ({"event": "error", "what": "rank 1 was ended\nby SIGKILL"}, "rank 1 was ended by SIGKILL"),
    (
        {"event": "gap", "epoch": 2, "began_s": 3.4, "seconds": 2.703, "why": "rank 1 died"},
        "no server for 2.7 s, then its start 2: rank 1 died",
    ),
    ({"event": "stop", "seconds": 0.07, "unsure": []}, "the server was stopped in 0.1 s"),
    ({"event": "stop", "seconds": 9, "unsure": ["a", "b"]}, "the server was stopped in 9.0 s; a; b"),
    (
        {"event": "probe", "ok": True, "seconds": 2.0, "text": ""},
        "asked for a sign of life, it gave an answer after 2.0 s",
    ),
    (
        {"event": "probe", "ok": False, "seconds": 2, "text": "HTTP 500"},
        "asked for a sign of life, it gave no answer (HTTP 500) after 2.0 s",
    ),
    ({"event": "quiet", "seconds": 3.01, "turns": [{}]}, "nothing has moved for 3.0 s, 1 turn open"),
    ({"event": "moving", "after_s": 4.0}, "it moves again, after 4.0 s"),
    ({"event": "slept", "seconds": 61.2, "sure": False}, "the machine slept for 61.2 s, as it seems"),
    ({"event": "clock_set", "seconds": -2.5}, "its clock was set by -2.5 s"),
    ({"event": "health", "says": "server_error", "seconds": 0.1}, "/health says server error"),
    (
        {"event": "traceback", "rank": 0, "last_line": "BrokenPipeError", "client_left": True, "times": 3},
        "rank 0: a client had left (3 times)",
    ),
    ({"event": "traceback", "rank": 0, "last_line": "ValueError: no", "client_left": False}, "rank 0: ValueError: no"),
    ({"event": "warning", "rank": 1, "level": "WARNING", "text": "odd"}, "rank 1: warning: odd"),
    ({"event": "log_skipped", "rank": 1, "bytes": 4096}, "4,096 bytes of rank 1's log were not read"),
]


@pytest.mark.parametrize(("line", "words"), LINES)
def test_a_known_event_is_a_sentence(line: dict[str, Any], words: str) -> None:
    assert event_words.said({"time": 1.0, **line}) == words


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            {"event": "of_a_plugin", "time": 1.0, "clock": 2.0, "load": 0.125, "hosts": ["a"], "none": None},
            'of a plugin: load 0.125, hosts ["a"]',
        ),
        ({"event": "ready", "after": 3}, "ready: after 3"),
        ({"event": "stop", "seconds": 1.0, "unsure": None}, "stop: seconds 1"),
        ({"event": "bare"}, "bare"),
    ],
)
def test_another_is_told_by_its_fields(line: dict[str, Any], words: str) -> None:
    assert event_words.said(line) == words


def test_a_long_one_is_cut() -> None:
    assert event_words.said({"event": "error", "what": "x" * 400}) == "x" * 299 + "…"
