"""A run's folder: whole lines, whatever kills the run, and never two runs in one."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from locust_agents import records, run_folder
from locust_agents.errors import ScenarioError
from locust_agents.records import TurnRecord


def turn(number: int) -> TurnRecord:
    return records.from_line(json.dumps({"outcome": "ok", "turn": number, "error": "a\nb"}))


def test_turns_come_back_in_the_order_in_which_they_ended(tmp_path: Path) -> None:
    folder = run_folder.create(tmp_path / "run", "a run")
    for number in (3, 1, 2, 7):
        folder.turn(turn(number))
    folder.close()
    assert list(run_folder.turns(tmp_path / "run")) == [turn(number) for number in (3, 1, 2, 7)]


def test_a_line_is_there_before_the_folder_is_closed(tmp_path: Path) -> None:
    folder = run_folder.create(tmp_path, "a run")
    folder.turn(turn(1))
    assert list(run_folder.turns(tmp_path)) == [turn(1)]
    folder.close()


def test_half_a_line_at_the_end_is_left_out(tmp_path: Path) -> None:
    line = records.to_line(turn(1)).encode()
    (tmp_path / "turns.jsonl").write_bytes(line + b"\n" + line[:40])
    assert list(run_folder.turns(tmp_path)) == [turn(1)]


def test_a_killed_run_leaves_whole_lines(tmp_path: Path) -> None:
    code = (
        "import itertools, json, sys\nfrom pathlib import Path\nfrom locust_agents import records, run_folder\n"
        "folder = run_folder.create(Path(sys.argv[1]), 'a run')\n"
        "for number in itertools.count():\n"
        "    folder.turn(records.from_line(json.dumps({'outcome': 'ok', 'turn': number})))\n"
        "    if number == 500: print('far enough', flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "far enough\n"
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
    numbers = [record.turn for record in run_folder.turns(tmp_path)]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) > 500


def test_notes_say_what_and_when(tmp_path: Path) -> None:
    folder = run_folder.create(tmp_path, "a run")
    folder.note("ready", {"seconds": 2.5, "what": "a\nb"})
    folder.close()
    (line,) = (tmp_path / "cluster.jsonl").read_text().splitlines()
    note = json.loads(line)
    assert (note["event"], note["seconds"], note["what"]) == ("ready", 2.5, "a\nb")
    assert note["time"] > 1_600_000_000


def test_a_whole_file_replaces_the_old_one_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    folder = run_folder.create(tmp_path, "a run")
    folder.write("summary.json", "old and longer")
    folder.write("summary.json", "né")
    folder.close()
    assert (tmp_path / "summary.json").read_text(encoding="utf-8") == "né"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cluster.jsonl", "summary.json", "turns.jsonl"]


@pytest.mark.parametrize(
    ("name", "end", "remark"),
    [
        ("Four agents & a giant!", "four-agents-a-giant", "plain letters and digits"),
        ("../../etc", "etc", "no way out of the folder"),
        ("***", "run", "always a name"),
        ("x" * 200, "x" * 40, "never too long"),
    ],
)
def test_without_a_folder_one_is_named(
    name: str, end: str, remark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_folder.create(None, name).close()
    (made,) = (tmp_path / "runs").iterdir()
    assert made.name.split("-", 2)[2] == end, remark


def test_runs_of_the_same_second_have_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run_folder, "strftime", lambda *_: "20261130-120000")
    for _ in range(3):
        run_folder.create(None, "a run").close()
    names = sorted(path.name for path in (tmp_path / "runs").iterdir())
    assert names == [f"20261130-120000-a-run{suffix}" for suffix in ("", "-2", "-3")]


def test_a_folder_that_holds_a_run_takes_no_other(tmp_path: Path) -> None:
    folder = run_folder.create(tmp_path, "a run")
    folder.turn(turn(1))
    folder.close()
    with pytest.raises(ScenarioError, match="name another folder with --out") as caught:
        run_folder.create(tmp_path, "a run")
    assert str(tmp_path) in str(caught.value)
    assert list(run_folder.turns(tmp_path)) == [turn(1)]


def test_a_folder_of_a_run_that_never_sent_a_turn_is_taken(tmp_path: Path) -> None:
    run_folder.create(tmp_path, "a run").close()
    run_folder.create(tmp_path, "a run").close()


def test_a_folder_that_cannot_be_made_asks_for_another(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ScenarioError, match=r"file.run cannot be made .*name another folder with --out"):
        run_folder.create(tmp_path / "file" / "run", "a run")
