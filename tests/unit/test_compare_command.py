"""`locust-agents compare` on folders: two runs, two sweeps, and what cannot be compared."""

import json
from pathlib import Path
from typing import Any

import pytest

from locust_agents import cli


def turn(number: int, ttft_s: float) -> dict[str, Any]:
    session = f"fixers/0.0#{number // 8}"
    base = {"outcome": "ok", "entry": "fixers", "kind": "later", "agent": "fixers/0.0", "session": session}
    times = {"wall_time": float(number), "sent_s": 0.0, "first_token_s": ttft_s, "end_s": ttft_s + 1}
    return {**base, **times, "turn": number % 8, "attempt": 1}


def store(folder: Path, slower: float, turns: int = 120, **summary: Any) -> Path:
    folder.mkdir(parents=True)
    lines = [json.dumps(turn(number, slower * (0.2 + 0.01 * (number * 7 % 13)))) for number in range(turns)]
    (folder / "turns.jsonl").write_text("".join(f"{line}\n" for line in lines))
    (folder / "scenario.yaml").write_text(f"name: one\nseed: {1 if slower == 1 else 2}\n")
    (folder / "summary.json").write_text(json.dumps({"exit_status": 0, **summary}))
    return folder


def compare(*arguments: object) -> int:
    return cli.main(["compare", *map(str, arguments)])


@pytest.mark.parametrize(
    ("slower", "options", "status", "line"),
    [
        (1.0, [], 0, "B is not different: what differs is noise"),
        (1.5, [], 1, "B is worse: fixers later TTFT p95 0.32 → 0.48 s (+50 %, 95 % interval"),
        (0.6, [], 0, "B is better: fixers later TTFT p95 0.32 → 0.19 s (−40 %, 95 % interval"),
        (1.5, ["--allow", "ttft.p95=60%"], 0, "B is not different"),
        (1.5, ["--allow", "ttft.p95=30%"], 1, "B is worse: fixers TTFT p95"),
    ],
)
def test_two_runs(
    tmp_path: Path, slower: float, options: list[str], status: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(store(tmp_path / "a", 1.0), store(tmp_path / "b", slower), *options) == status
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith(line)
    assert max(map(len, printed)) <= 80
    assert any(line.startswith("changed  seed 1 → 2" if slower != 1 else "changed  nothing") for line in printed)


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(store(tmp_path / "a", 1.0), store(tmp_path / "b", 1.5), "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["verdict"]["word"], told["verdict"]["status"], told["paired"]) == ("worse", 1, {"fixers": True})
    assert told["changed"] == [{"about": "scenario", "key": "seed", "a": "1", "b": "2"}]
    worse = [one for one in told["figures"] if one["word"] == "worse"]
    assert {one["metric"] for one in worse} >= {"ttft"}
    assert all(one["low"] - 1e-9 <= one["change"] <= one["high"] + 1e-9 for one in worse)


def test_what_was_not_to_be_trusted_has_status_4(tmp_path: Path) -> None:
    b = store(tmp_path / "b", 0.5, exit_status=4, untrusted="the machine slept")
    assert compare(store(tmp_path / "a", 1.0), b) == 4


def test_sweeps_are_compared_by_the_names_of_their_cells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for sweep, slower in (("a", 1.0), ("b", 1.5)):
        store(tmp_path / sweep / "step-512", 1.0)
        store(tmp_path / sweep / "step-2048", slower)
    store(tmp_path / "b" / "step-4096", 1.0)
    assert compare(tmp_path / "a", tmp_path / "b") == 1
    blocks = capsys.readouterr().out.split("\n\n")
    assert [block.splitlines()[:2] for block in blocks[:1]] == [["step-2048:", blocks[0].splitlines()[1]]]
    assert blocks[0].splitlines()[1].startswith("B is worse")
    assert blocks[1].splitlines()[1].startswith("B is not different")
    assert blocks[2].strip() == "step-4096: only B has this cell"


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ("run", "empty", "holds no turns to compare"),
        ("run", "nothing", "no run's folder"),
        ("run", "sweep", "is a sweep and the other is not"),
        ("sweep", "other", "have no cell of the same name"),
    ],
)
def test_what_cannot_be_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, a: str, b: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    store(tmp_path / "run", 1.0)
    store(tmp_path / "empty", 1.0, turns=0)
    store(tmp_path / "sweep" / "one", 1.0)
    store(tmp_path / "other" / "two", 1.0)
    assert compare(a, b) == 2
    assert message in capsys.readouterr().err
