"""Which lines of a log count as work."""

from pathlib import Path

import pytest

from locust_agents.cluster.watch.log import WorkLog

STEP = b"2026-11-30 05:00:57,468 - INFO - Prompt processing progress: 512/4096\n"
TAKEN = b'127.0.0.1 - - [30/Nov/2026 05:00:57] "POST /v1/chat/completions HTTP/1.0" 200 -\n'
HEALTH = b'127.0.0.1 - - [30/Nov/2026 05:01:01] "GET /health HTTP/1.1" 200 -\n'
MODELS = b'127.0.0.1 - - [30/Nov/2026 05:01:01] "GET /v1/models HTTP/1.1" 200 -\n'
REFUSED = b'127.0.0.1 - - [30/Nov/2026 05:01:01] "POST /v1/chat/completions HTTP/1.1" 400 -\n'
WRONG = b"127.0.0.1 - - [30/Nov/2026 05:01:01] code 404, message File not found\n"


@pytest.mark.parametrize(
    ("appended", "counted", "remark"),
    [
        (b"", 0, "nothing"),
        (STEP, len(STEP), "a prefill step"),
        (TAKEN, len(TAKEN), "a request that the generator has taken"),
        (HEALTH + MODELS + REFUSED + WRONG, 0, "what the HTTP threads write by themselves"),
        (HEALTH + STEP + HEALTH, len(STEP), "both"),
        (STEP[:40], 0, "half a line: which kind it is cannot be told yet"),
        (STEP * 20_000, len(STEP) * 20_000, "too much for questions about health"),
        (b"\n\n", 0, "empty lines, which mlx.launch writes for its own sake"),
    ],
)
def test_what_counts(tmp_path: Path, appended: bytes, counted: int, remark: str) -> None:
    path = tmp_path / "rank-0.log"
    path.write_bytes(STEP * 3)
    log = WorkLog(path)
    assert log.work_bytes() == 0, "what was there before does not count"
    with path.open("ab") as out:
        out.write(appended)
    assert log.work_bytes() == counted, remark
    assert log.work_bytes() == counted, "once"


def test_a_line_that_comes_in_two_parts(tmp_path: Path) -> None:
    path = tmp_path / "rank-0.log"
    log = WorkLog(path)
    assert log.work_bytes() == 0, "it may yet come"
    path.write_bytes(HEALTH[:50])
    assert log.work_bytes() == 0
    path.write_bytes(HEALTH + STEP[:30])
    assert log.work_bytes() == 0
    path.write_bytes(HEALTH + STEP)
    assert log.work_bytes() == len(STEP)


def test_a_log_that_was_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "rank-0.log"
    path.write_bytes(STEP * 9)
    log = WorkLog(path)
    path.write_bytes(TAKEN)
    assert log.work_bytes() == len(TAKEN)


def test_no_log(tmp_path: Path) -> None:
    assert WorkLog(None).work_bytes() is None
    (tmp_path / "file").write_text("")
    assert WorkLog(tmp_path / "file" / "rank-0.log").work_bytes() is None, "no folder there"
