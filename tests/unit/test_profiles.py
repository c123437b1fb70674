"""Profiles: what ships and what is offered, what a role changes, and what is said of a file that is wrong."""

import dataclasses
import re
from importlib import resources
from pathlib import Path

import pytest

from locust_agents.errors import PluginError
from locust_agents.patience import Timeouts
from locust_agents.plugins import profiles, registry
from locust_agents.profile import Compaction, Profile, Reaction, Retries, Role, SideCall, Volatile

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
retries: {connection_waits_s: [2.2, 4.5]}
"""

LARGE = """\
name: large
product: Large 2.0
source: measured
system_tokens: 100
tool_tokens: 200
tools: [read, edit]
max_tokens: 64
window_tokens: 4000
speaks: responses
few_shot_tokens: 1
first_user_tokens: 2
each_user_tokens: 3
reminder_tokens: 4
volatile:
  - {at: system, share: 0.5, what: date, changes: day}
  - {at: first_user, share: 0, what: folder, changes: project}
compaction: {trigger_tokens: 3000, keep_tokens: 0, summary_tokens: 20, call: flattened, system_tokens: 9}
roles:
  sub: {system_tokens: 50, tool_tokens: 60, tools: [read], max_tokens: 32}
  title: {system_tokens: 5, tool_tokens: 0, tools: [], max_tokens: 8, retries: {connection_waits_s: [1]}}
side_calls: [{role: title, tokens: 7, answer_tokens: null, lead_s: [1, 1.5]}]
sub_agents: wait
retries: {stall_waits_s: [3], headers_waits_s: []}
empty: {then: complain, waits_s: [0.5], complaint_tokens: 6}
assumptions: [window_tokens, timeouts.connect_s, volatile.1.share, roles.sub.tools, empty]
"""


def shipped_files() -> list[str]:
    folder = resources.files("locust_agents.plugins.profiles")
    return sorted(entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml"))


@pytest.mark.parametrize("name", shipped_files())
def test_what_ships_is_offered_under_the_name_of_its_file(name: str) -> None:
    made = registry.profile(name)
    assert made.name == name
    assert made == profiles.shipped(name)
    assert re.search(r"\d", made.product), "which version was measured"


def test_the_module_has_no_profile_without_a_file() -> None:
    with pytest.raises(AttributeError, match="no_such_agent"):
        profiles.__getattr__("no_such_agent")


def test_read_fills_in_what_is_left_out() -> None:
    made = profiles.read(SMALL, "small.yaml")
    bare = Profile("small", "Small 1.0", "measured", 100, 200, ("read",), None)
    expected = {"headers": {"x-session-id": "{session}"}, "retries": Retries(connection_waits_s=(2.2, 4.5))}
    assert made == dataclasses.replace(bare, **expected)  # type: ignore[arg-type]
    assert made.timeouts == Timeouts()
    assert made.retries.connection_waits_s == (2.2, 4.5)
    assert made.sent_as is None


def test_read_makes_frozen_values_of_everything() -> None:
    made = profiles.read(LARGE, "large.yaml")
    assert made.volatile == (
        Volatile("system", 0.5, "date", "day"),
        Volatile("first_user", 0.0, "folder", "project"),
    )
    assert made.compaction == Compaction(3000, 0, 20, "flattened", 9)
    title = Role(5, 0, (), 8, Retries((1.0,)))
    assert made.roles == {"sub": Role(50, 60, ("read",), 32), "title": title}
    assert made.side_calls == (SideCall("title", 7, None, (1.0, 1.5)),)
    assert made.retries == Retries(stall_waits_s=(3.0,), headers_waits_s=())
    assert made.empty == Reaction("complain", (0.5,), 6)
    assert made.sent_as == "speaks responses; sent as chat completions with its sizes"


def test_a_sub_agent_is_the_product_with_other_sizes() -> None:
    made = profiles.read(LARGE, "large.yaml")
    sub = made.in_role("sub")
    assert (sub.name, sub.system_tokens, sub.tool_tokens, sub.tools, sub.max_tokens) == (
        ("large.sub", 50, 60, ("read",), 32)
    )
    assert (sub.few_shot_tokens, sub.first_user_tokens, sub.each_user_tokens, sub.reminder_tokens) == (0, 0, 3, 4)
    assert (sub.volatile, sub.side_calls) == (made.volatile[:1], ())
    assert (sub.compaction, sub.retries) == (made.compaction, made.retries)


def test_a_call_on_the_side_is_never_compacted() -> None:
    title = profiles.read(LARGE, "large.yaml").in_role("title")
    assert (title.name, title.tools, title.compaction, title.volatile) == ("large.title", (), None, ())
    assert (title.each_user_tokens, title.reminder_tokens) == (0, 0)
    assert title.retries == Retries((1.0,))


def test_a_role_that_a_product_does_not_have_is_the_product_itself() -> None:
    made = profiles.read(SMALL, "small.yaml")
    assert made.in_role("sub") is made


def small(old: str, new: str) -> str:
    assert old in SMALL
    return SMALL.replace(old, new)


def large(old: str, new: str) -> str:
    assert old in LARGE
    return LARGE.replace(old, new)


MISTAKES: list[tuple[str, str, list[str]]] = [
    ("not YAML", "name: [", ["1:8: not YAML: while parsing a flow node"]),
    ("nothing", "# nothing\n", ["1:1: the file holds no profile"]),
    ("a list", "- name: small", ["1:1: expected keys such as name: and tools:, got a list"]),
    ("a key is missing", small("name: small\n", ""), ["1:1: name: this key is missing"]),
    ("a wrong type", small("100", "lots"), ["4:16: system_tokens: expected a whole number, got 'lots'"]),
    ("no number though it looks like one", small("100", "'100'"), ["4:16: system_tokens: expected a whole number"]),
    ("half a token", small("100", "1.5"), ["4:16: system_tokens: expected a whole number, got 1.5"]),
    ("not a list", small("[read]", "read"), ["6:8: tools: expected a list, got 'read'"]),
    ("not a mapping", SMALL + "empty: end\n", ["11:8: empty: expected a mapping, got 'end'"]),
    ("deep inside", small("connect_s: 10", "connect_s: soon"), ["9:23: timeouts.connect_s: expected a number"]),
    ("no such word", SMALL + "reasoning_replay: maybe\n", ["11:19: reasoning_replay: expected 'none', 'reasoning'"]),
    (
        "yes is no text",
        SMALL + "sub_agents: yes\n",
        ["11:13: sub_agents: expected 'wait', 'go_on' or 'none', got true"],
    ),
    ("an unknown key", SMALL + "sub_agent: wait\n", ["11:1: sub_agent: unknown key; did you mean 'sub_agents'?"]),
    (
        "an unknown key inside",
        small("connect_s: 10", "conect_s: 10"),
        ["9:12: timeouts.conect_s: unknown key; did you mean 'connect_s'?"],
    ),
    (
        "an unknown key in a list",
        large("what: date", "wat: date"),
        ["15:5: volatile[0].what: this key is missing", "15:30: volatile[0].wat: unknown key; did you mean 'what'?"],
    ),
    (
        "an unknown key in a role",
        large("tools: [read], max", "tool: [read], max"),
        ["19:8: roles.sub.tools: this key is missing", "19:45: roles.sub.tool: unknown key; did you mean 'tools'?"],
    ),
    (
        "an unknown key at the bottom",
        large("retries: {connection_waits_s: [1]}", "retries: {connect_waits_s: [1]}"),
        ["20:81: roles.title.retries.connect_waits_s: unknown key; did you mean 'connection_waits_s'?"],
    ),
    ("a key twice", SMALL + "name: other\n", ["11:1: name: this key is there twice, first at line 1, column 1"]),
    ("a negative size", small("100", "-100"), ["4:16: system_tokens: must not be negative, got -100"]),
    ("a negative wait", small("[2.2", "[-2.2"), ["10:32: retries.connection_waits_s[0]: must not be negative"]),
    ("a wait without end", small("[2.2", "[.inf"), ["10:32: retries.connection_waits_s[0]: expected a number"]),
    ("more than all", large("share: 0.5", "share: 50"), ["15:25: volatile[0].share: a share is 0 to 1, got 50"]),
    (
        "all at once",
        small("100", "lots").replace("[read]", "7"),
        ["4:16: system_tokens: expected a whole number", "6:8: tools: expected a list, got 7"],
    ),
]

# Each of these would do harm later: in every turn, or silently.
CONTRADICTIONS: list[tuple[str, str, list[str]]] = [
    ("a name for no option", small("name: small", "name: Not mine"), ["1:7: name: expected lower-case letters"]),
    ("a placeholder that nobody fills", small("{session}", "{sesion}"), ["8:25: headers.x-session-id: only {session}"]),
    ("a brace too many", small("{session}", "{session"), ["8:25: headers.x-session-id: only {session}"]),
    ("another's attribute", small("{session}", "{session.x}"), ["8:25: headers.x-session-id: only {session}"]),
    ("another model's name", SMALL + "parameters: {model: other}\n", ["11:13: parameters: model: not for a profile"]),
    (
        "a seed takes a request out of the batch",
        SMALL + "parameters: {seed: 1}\n",
        ["11:13: parameters: seed: not for"],
    ),
    (
        "max_tokens in disguise",
        SMALL + "parameters: {max_completion_tokens: 1}\n",
        ["11:13: parameters: max_completion_tokens: not for"],
    ),
    ("a tool twice", small("[read]", "[read, read]"), ["6:8: tools: a name is there twice"]),
    ("tools without a size", small("tool_tokens: 200", "tool_tokens: 0"), ["5:14: tool_tokens: 0 tokens for 1 tools"]),
    ("a size without tools", small("[read]", "[]"), ["5:14: tool_tokens: 200 tokens for 0 tools"]),
    ("in a role too", large("tools: [read], max", "tools: [], max"), ["19:41: roles.sub.tool_tokens: 60 tokens for 0"]),
    ("no answer at all", small("max_tokens: null", "max_tokens: 0"), ["7:13: max_tokens: must be 1 or more, or null"]),
    ("usage without a stream", SMALL + "stream: false\n", ["1:1: include_usage: belongs to a stream"]),
    ("completions with a system prompt", SMALL + "api: completions\n", ["11:6: api: completions have neither"]),
    ("beyond the window", large("r_tokens: 3000", "r_tokens: 5000"), ["17:30: compaction.trigger_tokens: is beyond"]),
    (
        "compacts for ever",
        large("keep_tokens: 0", "keep_tokens: 2990"),
        ["17:49: compaction.keep_tokens: what is kept"],
    ),
    (
        "two system prompts",
        large("call: flattened", "call: same"),
        ["17:99: compaction.system_tokens: call: same keeps"],
    ),
    ("no such role", large("role: title", "role: titel"), ["21:21: side_calls[0].role: 'titel' is none of roles; did"]),
    ("most before least", large("[1, 1.5]", "[1.5, 1]"), ["21:68: side_calls[0].lead_s: expected the least and"]),
    ("no such field", large("[window_tokens", "[windows"), ["25:15: assumptions[0]: this profile has no windows"]),
    (
        "no such field inside",
        large("volatile.1", "volatile.2"),
        ["25:50: assumptions[2]: this profile has no volatile.2"],
    ),
]


@pytest.mark.parametrize(("text", "lines"), [pytest.param(*row[1:], id=row[0]) for row in MISTAKES + CONTRADICTIONS])
def test_a_mistake_is_a_line_with_file_place_and_key(text: str, lines: list[str]) -> None:
    with pytest.raises(PluginError) as raised:
        profiles.read(text, "my.yaml")
    got = str(raised.value).splitlines()
    assert [line[: len(start) + 8] for line, start in zip(got, lines, strict=False)] == [f"my.yaml:{s}" for s in lines]
    assert len(got) == len(lines)


def test_the_servers_own_parameters_are_not_judged() -> None:
    made = profiles.read(SMALL + "parameters: {presence_penalty: -1, stop: [a]}\n", "small.yaml")
    assert made.parameters == {"presence_penalty": -1, "stop": ["a"]}


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"gone\.yaml: cannot be read: No such file"):
        profiles.read_file(tmp_path / "gone.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"name: \xe9\n")
    with pytest.raises(PluginError, match=r"latin\.yaml: not UTF-8 text \(byte 6\)"):
        profiles.read_file(tmp_path / "latin.yaml")


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    with pytest.raises(PluginError, match=r"no profile is called 'opncode'.*opencode"):
        registry.profile("opncode")
    with pytest.raises(PluginError, match=r"no behaviour is called 'fix'.*fix_failing_test"):
        registry.behaviour("fix")
