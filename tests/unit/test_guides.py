"""README and docs/: commands that they show exist with their options, files and headings that they link to too."""

import functools
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from locust_agents import cli
from locust_agents.plugins import registry
from locust_agents.scenarios import loader

HOME = Path(__file__).parents[2]
PAGES = {path.name: path for path in (HOME / "README.md", *sorted((HOME / "docs").glob("*.md")))}


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


ANSWERS = _text(PAGES["answers.md"])
SHOWN = sorted(
    {
        (page, command, line.partition("#")[0])
        for page, path in PAGES.items()
        for command, line in re.findall(r"(?:^|`)locust-agents ([a-z][a-z-]*)([^\n`]*)", _text(path), re.MULTILINE)
    }
)
TAKE_A_SCENARIO = ("run", "check", "sweep", "capacity")


@functools.cache
def help_of(command: str) -> str:
    """In a process of its own: some commands import Locust."""
    words = [sys.executable, "-m", "locust_agents", command, "--help"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def test_the_guides_show_commands() -> None:
    assert len(SHOWN) > 30


@pytest.mark.parametrize(("page", "command", "rest"), SHOWN)
def test_a_command_is_there_with_its_options(page: str, command: str, rest: str) -> None:
    assert command in cli.COMMANDS, page
    options = set(re.findall(r"(?<=\s)--[a-z][a-z-]*", rest))
    assert not options or options <= set(re.findall(r"--[a-z][a-z-]*", help_of(command))), page


@pytest.mark.parametrize(("page", "command", "rest"), SHOWN)
def test_a_scenario_that_is_named_ships_or_is_the_readers_own(page: str, command: str, rest: str) -> None:
    named = re.match(r" ([a-z0-9][a-z0-9-]*)(?=\s|$)", rest)
    if command in TAKE_A_SCENARIO and named is not None:
        assert named[1] in loader.shipped(), page


@pytest.mark.parametrize("page", PAGES)
def test_what_it_links_to_is_there(page: str) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", _text(PAGES[page]))
    for name, place in links:
        target = (PAGES[page].parent / name).resolve() if name else PAGES[page]
        assert target.exists(), name
        assert not place or place in _headings(target), place


def _headings(path: Path) -> set[str]:
    """As GitHub names them."""
    found = re.findall(r"^#+ (.*)$", _text(path), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}


def test_the_seven_questions_have_their_command() -> None:
    parts = re.split(r"^## (?=\d)", ANSWERS, flags=re.MULTILINE)[1:]
    assert [part[0] for part in parts] == list("1234567")
    assert all(re.search(r"```sh\nlocust-agents ", part) for part in parts)


def test_their_scenarios_are_read() -> None:
    found = re.findall(r"```yaml\n(.*?)```", ANSWERS, re.DOTALL)
    assert found
    for text in found:
        loader.parse(text, "answers.md", registry.parameters(), registry.profiles())


@pytest.mark.parametrize("page", PAGES)
def test_what_it_shows_of_a_terminal_is_no_wider_than_one(page: str) -> None:
    lines = [line for line in _terminal(_text(PAGES[page])) if "#" not in line and not line.startswith("launch ")]
    assert [line for line in lines if len(line) > 80] == []


def _terminal(text: str) -> Iterator[str]:
    """The lines of blocks that say no language."""
    fence = None
    for line in text.splitlines():
        if line.startswith("```"):
            fence = line if fence is None else None
        elif fence == "```":
            yield line
