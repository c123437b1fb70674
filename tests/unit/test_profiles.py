"""Profiles: what ships, and what is said of a file that is wrong."""

import dataclasses
import re
from importlib import resources

import pytest

from locust_agents.errors import PluginError
from locust_agents.patience import Timeouts
from locust_agents.plugins import profiles, registry

SMALL = """\
name: small
product: Small 1.0
source: measured
system_tokens: 100
tool_tokens: 200
tools: [read]
max_tokens: null
headers: {x-session-id: "{session}"}
timeouts: {connect_s: 10, headers_s: 300, first_token_s: 300, silence_s: 300, turn_s: null}
retry_waits_s: [2.2, 4.5]
"""


def shipped_files() -> list[str]:
    folder = resources.files("locust_agents.plugins.profiles")
    return sorted(entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml"))


@pytest.mark.parametrize("name", shipped_files())
def test_what_ships_is_offered_and_names_its_source(name: str) -> None:
    made = registry.profile(name)
    assert made.name == name
    assert made == profiles.shipped(name)
    assert re.search(r"\d", made.product), "which version was measured"
    assert "measured" in made.source
    assert made.system_tokens >= 0
    assert made.tool_tokens >= 0
    assert len(set(made.tools)) == len(made.tools)
    assert not {"model", "stream", "stream_options", "messages", "tools", "seed"} & made.parameters.keys()
    assert all(text.format(session="s") for text in made.headers.values())


def test_opencode() -> None:
    made = registry.profile("opencode")
    # the first request on the wire: 9,568 and 20,812 characters in o200k tokens
    assert (made.system_tokens, made.tool_tokens, len(made.tools)) == (2017, 4707, 10)
    assert made.timeouts.first_token_s == 300.0
    assert made.comments_reset
    assert made.retry_waits_s == (2.2, 4.5, 9.5, 18, 30)
    assert {text.format(session="s") for text in made.headers.values()} == {"s"}


def test_read_fills_in_what_is_left_out() -> None:
    made = profiles.read(SMALL, "small.yaml")
    assert (made.tools, made.max_tokens, made.timeouts) == (("read",), None, Timeouts())
    assert (made.reasoning_replay, made.comments_reset, made.tool_result_cap_tokens) == ("none", False, None)
    assert dataclasses.replace(made, name="other").name == "other"


def wrong(old: str, new: str) -> str:
    assert old in SMALL
    return SMALL.replace(old, new)


MISTAKES: list[tuple[str, str, list[str]]] = [
    ("not YAML", "name: [", ["small.yaml: not YAML"]),
    ("nothing", "", ["small.yaml"]),
    ("a list", "- name: small", ["small.yaml"]),
    ("a key is missing", wrong("name: small\n", ""), ["small.yaml: name: "]),
    ("a wrong type", wrong("tokens: 100", "tokens: lots"), ["small.yaml: system_tokens: "]),
    ("deep inside", wrong("connect_s: 10", "connect_s: soon"), ["small.yaml: timeouts.connect_s: "]),
    ("no such word", SMALL + "reasoning_replay: maybe\n", ["small.yaml: reasoning_replay: "]),
    (
        "all at once",
        wrong("tokens: 100", "tokens: lots").replace("[read]", "7"),
        ["small.yaml: system_tokens: ", "small.yaml: tools: "],
    ),
]


@pytest.mark.parametrize(("text", "lines"), [pytest.param(*row[1:], id=row[0]) for row in MISTAKES])
def test_a_mistake_is_a_line_with_file_and_key(text: str, lines: list[str]) -> None:
    with pytest.raises(PluginError) as raised:
        profiles.read(text, "small.yaml")
    got = str(raised.value).splitlines()
    assert len(got) == len(lines)
    assert all(line.startswith(start) for line, start in zip(got, lines, strict=True))


# Each of these would do harm later: in every turn, or silently.
TOO_LENIENT: list[tuple[str, str]] = [
    ("an unknown key", SMALL + "retries: 3\n"),
    ("an unknown key inside", wrong("connect_s: 10", "conect_s: 10")),
    ("a negative size", wrong("tokens: 100", "tokens: -100")),
    ("a negative wait", wrong("[2.2, 4.5]", "[-2.2]")),
    ("a placeholder that nobody fills", wrong("{session}", "{sesion}")),
    ("another model's name", SMALL + "parameters: {model: other}\n"),
    ("a seed, which takes every request out of the batch", SMALL + "parameters: {seed: 1}\n"),
]


@pytest.mark.parametrize("text", [pytest.param(row[1], id=row[0]) for row in TOO_LENIENT])
def test_what_would_do_harm_is_refused(text: str) -> None:
    with pytest.raises(PluginError):
        profiles.read(text, "small.yaml")


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    with pytest.raises(PluginError, match=r"no profile is called 'opncode'.*opencode"):
        registry.profile("opncode")
    with pytest.raises(PluginError, match=r"no behaviour is called 'fix'.*fix_failing_test"):
        registry.behaviour("fix")
