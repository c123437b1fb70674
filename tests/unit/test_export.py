"""The table for other programs: every field, flat; and that each is documented with its unit."""

import csv
import dataclasses
import io
import json
import re
from pathlib import Path

import pytest

from locust_agents import export_command, records
from locust_agents.errors import ScenarioError
from locust_agents.outcome import Outcome
from locust_agents.records import TurnRecord

TURNS = Path(__file__).parents[2] / "docs" / "turns.md"
LINE = (
    '{"outcome": "ok", "agent": "a/0.0", "turn": 3, "itl_hist": {"0": 2, "540": 1}, "end_s": 1.5, "tool_calls": [2, 1]}'
)
RECORD = dataclasses.replace(
    records.from_line(LINE), wall_time=1790000000.123456, streamed=True, error='one, "two"\nthree', same=False
)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_every_field_is_documented_with_its_unit_and_no_other_is() -> None:
    first = TURNS.read_text(encoding="utf-8").partition("# The same figures elsewhere")[0]
    documented = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|$", first, re.MULTILINE)
    assert [name for name, _, _ in documented] == [field.name for field in dataclasses.fields(TurnRecord)]
    assert all(unit.strip() and words.strip() for _, unit, words in documented)
    assert set(re.findall(r"`(\w+)`", {name: words for name, _, words in documented}["outcome"])) == set(
        map(str, Outcome)
    )


def test_a_row_has_every_field_and_what_did_not_happen_is_empty() -> None:
    [row] = rows(export_command.as_csv([RECORD]))
    assert set(row) == {field.name for field in dataclasses.fields(TurnRecord)} | {"tool_calls_bad"}
    assert (row["agent"], row["turn"], row["end_s"], row["sent_s"]) == ("a/0.0", "3", "1.500000", "")
    assert (row["tool_calls"], row["tool_calls_bad"], row["outcome"]) == ("2", "1", "ok")
    assert (row["streamed"], row["same"], row["wall_time"]) == ("true", "false", "1790000000.123456")
    assert json.loads(row["itl_hist"]) == {"0": 2, "540": 1}
    assert row["error"] == 'one, "two"\nthree'


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "turns.jsonl").write_text(f"{LINE}\n{records.to_line(RECORD)}\n{LINE[:20]}")
    return tmp_path / "run"


def test_to_a_file(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert export_command.main([str(run), "--csv", str(run / "t.csv")]) == 0
    assert len(rows((run / "t.csv").read_text())) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "turns.jsonl:3 (half a line" in printed.err


def test_to_stdout(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert export_command.main([str(run), "--csv"]) == 0
    assert len(rows(capfd.readouterr().out)) == 2


def test_what_is_no_utf_8_does_not_end_it() -> None:
    text = export_command.as_csv([dataclasses.replace(RECORD, error="\ud83d")])
    assert b"\\ud83d" in text.encode("utf-8", "backslashreplace")


def test_a_file_that_cannot_be_written_is_named(run: Path) -> None:
    with pytest.raises(ScenarioError, match=r"none/t\.csv cannot be written"):
        export_command.main([str(run), "--csv", str(run / "none" / "t.csv")])
