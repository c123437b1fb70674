"""The process that builds report.html when a run ends: its page, and the one line where there is none."""

import subprocess
import sys
from pathlib import Path

import pytest

from locust_agents.locustfiles import report_page
from tests.made_run import make


def test_a_run_ends_with_its_page(tmp_path: Path) -> None:
    folder, said = make(tmp_path / "run", 20), list[str]()
    report_page.finish(report_page.begin(folder), folder, said.append)
    assert "a limit was broken" in (folder / "report.html").read_text()
    assert said == []


def test_where_nothing_can_be_built_one_line_says_so(tmp_path: Path) -> None:
    said: list[str] = []
    report_page.finish(report_page.begin(tmp_path), tmp_path, said.append)
    assert said == [
        f"no report.html, its building failed with status 2; see why with `locust-agents show {tmp_path} --html`"
    ]


def test_a_builder_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_page, "_PATIENCE_S", 0.2)
    page = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    said: list[str] = []
    report_page.finish(page, tmp_path, said.append)
    assert page.returncode == -9
    assert "took more than" in said[0]


def test_a_builder_that_cannot_start_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    said: list[str] = []
    report_page.finish(report_page.begin(tmp_path), tmp_path, said.append)
    assert "could not be started" in said[0]


def test_the_run_goes_on_while_it_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, go, python = make(tmp_path / "run", 20), tmp_path / "go", tmp_path / "python"
    python.write_text(f'#!/bin/sh\nwhile [ ! -e {go} ]; do sleep 0.05; done\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    page = report_page.begin(folder)
    assert page is not None
    assert page.poll() is None
    assert not (folder / "report.html").exists()
    go.touch()
    page.wait()
    assert (folder / "report.html").exists()
    assert page.returncode == 0
