"""What a person reads while a run begins: in a terminal, in a dumb one, and in a log."""

import os
import re
import subprocess
import sys

import pytest

from tests.patience import PATIENCE_S

SAYING = """
import sys, types
from locust_agents.locustfiles.progress import ProgressLine

with ProgressLine(types.SimpleNamespace(swarm=None), sys.stderr) as line:
    for text in sys.argv[1:]:
        line.say(text)
"""
LONG = "http://127.0.0.1:8080 is mlx_lm.server, answers as default_model, and others use it: its last turn queued 2.1 s"
SAID = [
    "the server starts, 1 s",
    "the server starts, 2 s",
    "its first turn, 3 s: Starting httpd",
    "its first turn, 4 s: ----",
    LONG,
    "forecast: 3 turns",
]
FIRST = [SAID[0], SAID[2], *SAID[4:]]
LAST = [SAID[1], SAID[3], *SAID[4:]]
STEPS = re.compile(r"\r\n|\r|\n|\x1b\[\??(\d*)([A-Za-z])|[^\r\n\x1b]+")


def told(term: str | None, **environment: str) -> str:
    """What comes out of the process's stderr, which is a terminal if there is a `term`, else a pipe."""
    reading, writing = os.openpty() if term is not None else os.pipe()
    environment = {**os.environ, "COLUMNS": "80", "TERM": term or "xterm", **environment}
    child = subprocess.Popen([sys.executable, "-c", SAYING, *SAID], stderr=writing, env=environment)
    os.close(writing)
    text = b"".join(iter(lambda: some(reading), b"")).decode()
    assert child.wait(PATIENCE_S) == 0, text
    os.close(reading)
    return text


def some(reading: int) -> bytes:
    """Empty at the end, which a pseudo-terminal of Linux tells as an error."""
    try:
        return os.read(reading, 65536)
    except OSError:
        return b""


def left_on_screen(text: str) -> list[str]:
    """The rows of a wide terminal that was told so: it knows how to go back, up, and to wipe a row."""
    rows, row, column = [""], 0, 0
    for step in STEPS.finditer(text):
        match step[0], step[2]:
            case "\r", _:
                column = 0
            case "\n" | "\r\n", _:
                row, column = row + 1, 0
                rows += [""] * (row + 1 - len(rows))
            case _, "K":
                rows[row] = ""
            case _, "A":
                row -= int(step[1])
            case words, None:
                rows[row] = rows[row][:column] + words + rows[row][column + len(words) :]
                column += len(words)
    return [each for each in rows if each]


def test_in_a_terminal_each_sentence_stays_whole_and_a_wait_once_as_it_was_in_the_end() -> None:
    assert left_on_screen(told("xterm")) == LAST


@pytest.mark.parametrize(
    ("term", "environment", "remark"),
    [
        (None, {}, "a pipe"),
        (None, {"FORCE_COLOR": "1"}, "a pipe of a CI that asks everybody for colours"),
        ("dumb", {}, "a terminal that cannot go back in its line"),
    ],
)
def test_where_no_line_can_be_rewritten_each_sentence_is_a_line(
    term: str | None, environment: dict[str, str], remark: str
) -> None:
    assert told(term, **environment).splitlines() == FIRST, remark
