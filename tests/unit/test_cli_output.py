"""What a command does when nobody reads its output, there is no room for it, or it knows few letters."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from locust_agents import cli
from tests.patience import PATIENCE_S

SHORT, LONG = "--version", "schema"
"""One fits into a stream's buffer and is written as the process ends, the other does not."""


def shell(line: str, **environment: str) -> tuple[int, str]:
    """The status of the command that `line` calls as $it, and all that came to stderr."""
    it = f"{sys.executable} -m locust_agents"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        ["bash", "-c", line], env={**kept, **environment, "it": it}, capture_output=True, text=True, timeout=PATIENCE_S
    )
    return done.returncode, done.stderr


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs").mkdir()
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("what", [SHORT, LONG, "--help", "run --help"])
def test_a_reader_that_left_is_an_interrupt_and_no_error(what: str) -> None:
    assert shell(f"set -o pipefail; (sleep 0.1; $it {what}) | true") == (130, "")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="this machine has no /dev/full")
@pytest.mark.parametrize("what", [SHORT, LONG, "run --help"])
def test_no_room_is_told_in_a_line(what: str) -> None:
    status, said = shell(f"$it {what} > /dev/full")
    assert (status, said.count("\n")) == (2, 1)
    assert said.startswith("the output cannot be written (No space left on device): make room")


@pytest.mark.parametrize("streams", [">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("what", [SHORT, "plugins"])
def test_a_closed_stream_is_as_good_as_dev_null(what: str, streams: str) -> None:
    assert shell(f"$it {what} {streams}") == (0, "")


def test_a_file_that_is_opened_gets_no_number_of_a_closed_stream(tmp_path: Path) -> None:
    page = tmp_path / "new.yaml"
    line = "from pathlib import Path; from locust_agents import cli, streams; streams.prepare(); "
    line += f"file = open({str(page)!r}, 'w'); print('lost'); assert file.fileno() > 2"
    assert shell(f'{sys.executable} -c "{line}" >&-') == (0, "")
    assert page.read_text() == ""


def test_a_child_has_the_streams_that_its_owner_lacked() -> None:
    line = "import os, sys; from locust_agents import streams; streams.prepare(); "
    line += "sys.exit(os.spawnlp(os.P_WAIT, 'sh', 'sh', '-c', 'echo x'))"
    assert shell(f'{sys.executable} -c "{line}" >&-') == (0, "")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="this machine has no /dev/full")
def test_words_that_nobody_hears_change_no_status() -> None:
    line = "import sys; from locust_agents import cli; sys.stderr.write('x'); sys.exit(cli.main(['--version']))"
    assert shell(f'{sys.executable} -c "{line}" 2>/dev/full') == (0, "")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_letter_that_is_unknown_costs_only_itself(encoding: str) -> None:
    assert shell("$it plugins > told", PYTHONIOENCODING=encoding) == (0, "")
    assert "?" in Path("told").read_text(encoding)


def test_an_error_that_is_not_about_output_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "_command", lambda _: Path("no such file").read_text())
    with pytest.raises(FileNotFoundError):
        cli.main(["runs"])
