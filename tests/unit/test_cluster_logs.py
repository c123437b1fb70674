"""What is read off the logs of ranks and launcher, in the words that mlx 0.32.4 and mlx-lm 0.32.2 write."""

from pathlib import Path

import pytest

from locust_agents.cluster import logs
from locust_agents.cluster.policy import RankExit

LAUNCHER = (
    "some stray line\n"
    "\033[33m[WARN] Node with rank 0 exited with code -6 \033[0m\n"
    "\033[33m[WARN] Node with rank 1 exited with code -9 \033[0m\n"
    "\033[33m[WARN] Node with rank 2 was killed \033[0m\n"
)
TIMED = "2026-11-30 03:47:56,050 - "


def test_exits_leave_out_what_the_launcher_ended_itself(tmp_path: Path) -> None:
    (tmp_path / "launcher.log").write_text(LAUNCHER)
    (tmp_path / "rank-0.log").write_text("pid 7\nRuntimeError: [ring] connection to a peer was lost\n")
    assert logs.exits(tmp_path, tmp_path / "launcher.log") == (RankExit(0, -6, lost_peer=True), RankExit(1, -9))


def test_what_a_rank_of_another_machine_says_is_in_the_launchers_log(tmp_path: Path) -> None:
    lost = "RuntimeError: [ring] connection to a peer was lost\r\n"
    (tmp_path / "launcher.log").write_text("rank 1 pid 7\r\n" + lost + LAUNCHER)
    (tmp_path / "rank-0.log").write_text("pid 7\n")
    assert logs.exits(tmp_path, tmp_path / "launcher.log") == (RankExit(0, -6), RankExit(1, -9, lost_peer=True))


def test_nothing_is_read_off_logs_that_are_not_there(tmp_path: Path) -> None:
    nowhere = tmp_path / "rank-0.log"
    assert logs.last_lines(nowhere) == ()
    assert logs.exits(tmp_path, nowhere) == ()
    assert logs.rank_pid(nowhere) is None
    assert logs.useful_line(nowhere) == logs.cause(nowhere) == ""


@pytest.mark.parametrize(
    ("text", "pid", "remark"),
    [
        ("pid 42\nmore\n", 42, ""),
        ("", None, "empty"),
        ("pid 4", None, "half written"),
        ("pid x\n", None, "not a number"),
    ],
)
def test_rank_pid(tmp_path: Path, text: str, pid: int | None, remark: str) -> None:
    (tmp_path / "rank-0.log").write_text(text)
    assert logs.rank_pid(tmp_path / "rank-0.log") == pid, remark


@pytest.mark.parametrize(
    ("text", "useful", "cause", "remark"),
    [
        ("pid 42\n", "", "", "our own line says nothing"),
        (f"pid 1\n{TIMED}INFO - Starting httpd\n", "Starting httpd", "", "without the time"),
        (f'{TIMED}INFO - a\n1.1.1.1 - - [x] "GET /health HTTP/1.1" 200 -\n', "a", "", "our own questions"),
        (f"{TIMED}INFO - a\n{'-' * 60}\n", "a", "", "a rule across the page"),
        ("Fetching:  10%\rFetching:  90%\r\n", "Fetching:  90%", "", "a progress bar's last state"),
        (f"{TIMED}ERROR - thread died: why\nTraceback\n", "Traceback", "thread died: why", "logged error"),
        ("Traceback\nhub.errors.BadError: what\nlast\n", "last", "hub.errors.BadError: what", "uncaught exception"),
        ("usage: x\nmlx_lm.server: error: unrecognized arguments: --no\n", None, None, "bad option"),
        ("sh: 1: exec: /no/python: not found\n", None, None, "no such Python"),
        ("bad \xff byte\n", "bad \ufffd byte", "", "not UTF-8"),
    ],
)
def test_lines_for_people(tmp_path: Path, text: str, useful: str | None, cause: str | None, remark: str) -> None:
    log = tmp_path / "rank-0.log"
    log.write_bytes(text.encode("latin-1"))
    last = text.splitlines()[-1]
    assert logs.useful_line(log) == (last if useful is None else useful), remark
    assert logs.cause(log) == (last if cause is None else cause), remark


def test_only_the_end_of_a_long_log_is_read(tmp_path: Path) -> None:
    (tmp_path / "long.log").write_text("x" * 1_000_000 + "\nend\n")
    assert logs.last_lines(tmp_path / "long.log", 1) == ("end",)
    assert len(logs.last_lines(tmp_path / "long.log")[0]) < logs.LAST_BYTES


def test_port_taken(tmp_path: Path) -> None:
    (tmp_path / "rank-0.log").write_text("OSError: [Errno 98] Address already in use\n")
    assert logs.port_taken(tmp_path / "rank-0.log")
