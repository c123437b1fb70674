"""A page replaces a page, and nothing else."""

import os
import threading
from pathlib import Path

import pytest

from locust_agents.errors import ScenarioError
from locust_agents.pages import file


def test_an_older_page_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("older, and longer")
    assert file.write(page, "new") == page
    assert page.read_text() == "new"
    assert list(tmp_path.iterdir()) == [page]


def test_a_link_stays_one(tmp_path: Path) -> None:
    page, link = tmp_path / "page.html", tmp_path / "link.html"
    link.symlink_to(page)
    file.write(link, "new")
    assert (link.is_symlink(), page.read_text()) == (True, "new")


def test_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    file.write(pipe, "new")
    reader.join()
    assert (pipe.is_fifo(), read) == (True, ["new"])


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="this machine has no /dev/full")
def test_a_device_that_is_full_stays_one(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"/dev/full cannot be written .*name another file"):
        file.write(Path("/dev/full"), "new")
    assert Path("/dev/full").is_char_device()


def test_half_a_page_is_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(path: Path, text: str, encoding: str) -> int:
        path.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", no_room)
    with pytest.raises(ScenarioError, match="No space left"):
        file.write(tmp_path / "page.html", "new")
    assert not list(tmp_path.iterdir())
