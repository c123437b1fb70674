"""When a server is started again, and how that is said."""

from pathlib import Path

import pytest

from locust_agents.cluster.restart import MOST_RESTARTS, Failure, Gap, refusal, shelve, with_refusal, words

FIRST = {"on_failure": "restart", "is_ours": True, "restarts": 0, "answered": 12}


@pytest.mark.parametrize(
    ("changes", "expected", "remark"),
    [
        ({}, None, "the first failure"),
        ({"on_failure": "stop"}, "", "nobody asked for it"),
        ({"restarts": MOST_RESTARTS - 1}, None, "the last that is allowed"),
        ({"restarts": MOST_RESTARTS}, "it has been 3 times already", "once more"),
        ({"is_ours": False}, "it is not ours (server.attach)", "somebody else started it"),
        ({"is_over": True}, "the run was nearly over", "no turn would start any more"),
        ({"unsure": ("process 7 still runs",)}, "what it left is in the way (process 7 still runs)", "a rank spins on"),
        ({"restarts": 1, "answered": 0}, "after its last start it answered no turn", "it fails at once, each time"),
        ({"restarts": 0, "answered": 0}, None, "it failed before its first turn, once"),
    ],
)
def test_refusal(changes: dict[str, object], expected: str | None, remark: str) -> None:
    assert refusal(Failure(**(FIRST | changes))) == expected, remark  # type: ignore[arg-type]


def test_logs_are_kept(tmp_path: Path) -> None:
    names = ("rank-0.log", "rank-1.log", "launcher.log", "turns.jsonl")
    for epoch in (1, 2):
        for name in names:
            (tmp_path / name).write_text(f"{epoch}")
        shelve(tmp_path, epoch)
    kept = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert kept == {
        "turns.jsonl": "2",
        **{f"{name}.epoch-{epoch}.log": f"{epoch}" for name in ("rank-0", "rank-1", "launcher") for epoch in (1, 2)},
    }


def test_the_error_says_why_not() -> None:
    assert with_refusal("rank 1 ended", "") == "rank 1 ended"
    assert with_refusal("rank 1 ended", "x") == "rank 1 ended; it was not started again: x"


@pytest.mark.parametrize(
    ("gaps", "expected"),
    [
        ((), None),
        ((Gap(2, 61.2, 14.4, "x"),), "the server was started again once: without it for 14 s at 61 s (epoch 2)"),
        (
            (Gap(2, 61.2, 14.4, "x"), Gap(3, 99.0, 12.0, "y")),
            "the server was started again 2 times: without it for 14 s at 61 s (epoch 2), 12 s at 99 s (epoch 3)",
        ),
    ],
)
def test_words(gaps: tuple[Gap, ...], expected: str | None) -> None:
    assert words(gaps) == expected
