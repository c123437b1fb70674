"""The figures that profiles carry over from measurements, each once more by hand, against slips of the pen."""

import math
import re
from pathlib import Path

import pytest

from locust_agents.plugins import profiles, registry
from locust_agents.plugins.profiles import checks
from locust_agents.profile import Profile

WIRE, TRACE, SOURCE, SEEN = "on the wire", "kv-cache-tester traces", "read in its source", "a stalled server"

# profile, field (dots lead inside), value, where it comes from
FIGURES: list[tuple[str, str, object, str]] = [
    ("opencode", "system_tokens", 2017, WIRE),
    ("opencode", "tool_tokens", 4707, WIRE),
    ("opencode", "max_tokens", 8192, WIRE),
    ("opencode", "parameters", {"tool_choice": "auto"}, WIRE),
    ("opencode", "reasoning_replay", "reasoning_content", WIRE),
    ("opencode", "tool_result_cap_tokens", 50_000 / 4, "50 KB"),
    ("opencode", "volatile.2.share", 0.924, "the date, in the system prompt"),
    ("opencode", "volatile.3.share", 0.72, "the task tool, 15.1k characters into the request"),
    ("opencode", "window_tokens", 65_536, "as configured"),
    ("opencode", "compaction.trigger_tokens", 65_536 - 8_192, "not at 57,000, at 57,600"),
    ("opencode", "compaction.call", "flattened", WIRE),
    ("opencode", "compaction.system_tokens", 113, WIRE),
    ("opencode", "compaction.keep_tokens", 0, "the summary alone"),
    ("opencode", "roles.sub.system_tokens", 2023, WIRE),
    ("opencode", "roles.sub.tool_tokens", 3270, WIRE),
    ("opencode", "roles.title.system_tokens", 503, WIRE),
    ("opencode", "roles.title.tool_tokens", 0, WIRE),
    ("opencode", "roles.title.max_tokens", 8192, "as the main request"),
    ("opencode", "side_calls.0.tokens", 550 - 503, WIRE),
    ("opencode", "side_calls.0.lead_s", (1.2, 1.8), WIRE),
    ("opencode", "sub_agents", "wait", WIRE),
    ("opencode", "timeouts.headers_s", 300, SEEN),
    ("opencode", "timeouts.first_token_s", 300, SEEN),
    ("opencode", "timeouts.silence_s", 300, SEEN),
    ("opencode", "comments_reset", True, "waited 1,600 s"),
    ("opencode", "retries.connection_waits_s", (2.2, 4.5, 9.5, 18, 30), "six attempts"),
    ("opencode", "retries.stall_waits_s", (2.2, 4.5, 9.5, 18, 30), SEEN),
    ("opencode", "empty.then", "end", WIRE),
    ("qwen-code", "system_tokens", 6324, WIRE),
    ("qwen-code", "tool_tokens", 8480, WIRE),
    ("qwen-code", "max_tokens", 32_768, WIRE),
    ("qwen-code", "parameters", {}, WIRE),
    ("qwen-code", "reasoning_replay", "both", WIRE),
    ("qwen-code", "tool_result_cap_tokens", 5_300 / 4, "5.3k characters"),
    ("qwen-code", "compaction.trigger_tokens", min(int(0.85 * 131_072), 131_072 - 33_000), SOURCE),
    ("qwen-code", "roles.sub.system_tokens", 1593, WIRE),
    ("qwen-code", "roles.sub.tool_tokens", 10_549, WIRE),
    ("qwen-code", "roles.sub.max_tokens", 32_768, WIRE),
    ("qwen-code", "sub_agents", "go_on", WIRE),
    ("qwen-code", "most_sub_agents", None, "2, 4, 8, 16 in 25 s"),
    ("qwen-code", "timeouts.headers_s", 120, SEEN),
    ("qwen-code", "timeouts.first_token_s", 240, SEEN),
    ("qwen-code", "timeouts.silence_s", 240, SEEN),
    ("qwen-code", "comments_reset", False, "gave up after 240 s of comments"),
    ("qwen-code", "retries.stall_waits_s", (1.0, 2.0), "three attempts, then an error"),
    ("qwen-code", "empty.waits_s", (2, 4, 6, 8), "five requests"),
    ("qwen-code", "empty.then", "error", WIRE),
    ("cline", "system_tokens", 834, WIRE),
    ("cline", "tool_tokens", 3629, WIRE),
    ("cline", "max_tokens", None, "not sent"),
    ("cline", "parameters", {"tool_choice": "auto"}, WIRE),
    ("cline", "reasoning_replay", "reasoning_content", WIRE),
    ("cline", "volatile.0.share", 0.22, "platform"),
    ("cline", "volatile.1.share", round(967 / 4262, 3), "date"),
    ("cline", "volatile.2.share", 0.24, "folder"),
    ("cline", "compaction.trigger_tokens", int(0.9 * 0.9 * 131_072), SOURCE),
    ("cline", "compaction.keep_tokens", 20_000, SOURCE),
    ("cline", "roles.compaction.max_tokens", 4096, SOURCE),
    ("cline", "timeouts.headers_s", 300, SEEN),
    ("cline", "timeouts.first_token_s", 300, SEEN),
    ("cline", "timeouts.silence_s", 300, SEEN),
    ("cline", "comments_reset", True, "waited 1,600 s"),
    ("cline", "retries.stall_waits_s", (), "exit 1"),
    ("cline", "empty.then", "error", "three requests, then exit 1"),
    ("claude-code", "speaks", "messages", "its API"),
    ("claude-code", "system_tokens", 2774, TRACE),
    ("claude-code", "tool_tokens", 12_439, TRACE),
    ("claude-code", "first_user_tokens", 3753, TRACE),
    ("claude-code", "compaction.trigger_tokens", 152_316, TRACE),
    ("claude-code", "compaction.instruction_tokens", 1795, "the prompt that asks for a summary"),
    ("claude-code", "compaction.call", "same", "full history and an instruction"),
    ("claude-code", "roles.sub.system_tokens", 952, TRACE),
    ("claude-code", "roles.sub.tool_tokens", 7771, TRACE),
    ("claude-code", "most_sub_agents", 3, "groups of 1, 2 and 3: 50, 5, 1"),
    ("claude-code", "side_calls.0.answer_tokens", (15 + 31) // 2, "15 to 31 in published samples"),
    ("claude-code", "volatile.0.at", "system_head", "claude-code issue 50085"),
    ("claude-code", "volatile.0.changes", "request", "claude-code issue 50085"),
    ("codex", "speaks", "responses", "its API"),
    ("codex", "system_tokens", 4067, WIRE),
    ("codex", "tool_tokens", 3871, WIRE),
    ("codex", "max_tokens", None, "not sent"),
    ("codex", "window_tokens", 65_536, "as configured"),
    ("codex", "compaction.trigger_tokens", int(0.9 * 65_536), "not at 58,000, at 59,500"),
    ("codex", "compaction.call", "without_tools", WIRE),
    ("codex", "timeouts.headers_s", None, "waited 1,600 s"),
    ("codex", "timeouts.first_token_s", 300, SEEN),
    ("codex", "timeouts.silence_s", 300, SEEN),
    ("codex", "comments_reset", False, "gave up after 300 s of comments"),
    ("codex", "retries.stall_waits_s", (0.2, 0.4, 0.8, 1.7, 3.3), "six attempts"),
    ("continue", "system_tokens", 274, WIRE),
    ("continue", "tool_tokens", 1678, WIRE),
    ("continue", "max_tokens", None, "not sent"),
    ("continue", "reasoning_replay", "none", WIRE),
    ("continue", "tool_result_cap_tokens", 6_000 / 4, "6.0k characters"),
    ("continue", "volatile.0.share", 0.35, "folder"),
    ("continue", "volatile.1.share", 0.41, "date"),
    ("continue", "volatile.2.share", 0.51, "git's status"),
    ("continue", "compaction.trigger_tokens", 131_072 - 4_096 - min(15_000, 131_072 // 5), SOURCE),
    ("continue", "timeouts.headers_s", 600, SEEN),
    ("continue", "timeouts.first_token_s", None, "waited 1,600 s"),
    ("continue", "timeouts.silence_s", None, "waited 1,600 s"),
    ("continue", "retries.stall_waits_s", (0.5, 0.9), SEEN),
    ("pi", "system_tokens", 528, WIRE),
    ("pi", "tool_tokens", 634, WIRE),
    ("pi", "max_tokens", 8192, "as configured"),
    ("pi", "max_tokens_field", "max_completion_tokens", WIRE),
    ("pi", "parameters", {"store": False}, WIRE),
    ("pi", "reasoning_replay", "reasoning", "the field it came in"),
    ("pi", "tool_result_cap_tokens", 50_000 / 4, "50 KB"),
    ("pi", "volatile.0.share", 0.976, "date"),
    ("pi", "volatile.1.share", 0.99, "folder"),
    ("pi", "compaction.trigger_tokens", 131_072 - 16_384, SOURCE),
    ("pi", "compaction.keep_tokens", 20_000, SOURCE),
    ("pi", "timeouts.headers_s", 600, SEEN),
    ("pi", "timeouts.first_token_s", None, "waited 1,600 s"),
    ("pi", "retries.stall_waits_s", (0.7, 0.6), SEEN),
    ("aider", "system_tokens", 1206, WIRE),
    ("aider", "max_tokens", None, "not sent"),
    ("aider", "parameters", {"temperature": 0}, WIRE),
    ("aider", "include_usage", False, WIRE),
    ("aider", "reasoning_replay", "none", WIRE),
    ("aider", "timeouts.headers_s", 600, SEEN),
    ("aider", "timeouts.first_token_s", 600, SEEN),
    ("aider", "timeouts.silence_s", 600, SEEN),
    ("aider", "comments_reset", True, "waited 1,600 s"),
    ("aider", "retries.stall_waits_s", (0.4, 0.8), SEEN),
    ("mini-swe-agent", "system_tokens", 12, WIRE),
    ("mini-swe-agent", "tool_tokens", 48, WIRE),
    ("mini-swe-agent", "max_tokens", None, "not sent"),
    ("mini-swe-agent", "stream", False, WIRE),
    ("mini-swe-agent", "timeouts.headers_s", 600, SEEN),
    ("mini-swe-agent", "retries.stall_waits_s", (0.4, 0.9) * 3, "0.4 and 0.9 s, and it loops"),
    ("mini-swe-agent", "empty.then", "complain", "333 requests in 55 s"),
    ("mini-swe-agent", "empty.complaint_tokens", 300, WIRE),
    ("mini-swe-agent", "tool_result_cap_tokens", 10_000 / 4, "10,000 characters"),
    ("openhands", "system_tokens", 2965, WIRE),
    ("openhands", "tool_tokens", 4487, WIRE),
    ("openhands", "max_tokens", None, "not sent"),
    ("openhands", "stream", False, WIRE),
    ("openhands", "parameters", {"reasoning_effort": "high"}, WIRE),
    ("openhands", "volatile.0.share", round(13_782 / 13_946, 3), "date and time"),
    ("openhands", "volatile.0.changes", "session", "to the minute, and append-only"),
    ("openhands", "timeouts.headers_s", 300, "its x-stainless-read-timeout"),
    ("autocomplete", "api", "completions", SOURCE),
    ("autocomplete", "parameters", {"temperature": 0.01}, SOURCE),
]

# The whole first prompt on the wire, with a task of so many tokens. 1 % for the wrapping of messages.
FIRST_PROMPTS: list[tuple[str, int, int]] = [
    ("opencode", 6731, 7),
    ("codex", 8054, 5),
    ("qwen-code", 17_031, 5),
    ("cline", 4468, 5),
    ("continue", 1957, 5),
    ("pi", 1167, 5),
    ("aider", 2436, 5),
    ("mini-swe-agent", 731, 5),
    ("openhands", 7457, 5),
]

HOW_MANY_TOOLS: list[tuple[str, int]] = [
    ("opencode", 10),
    ("opencode.sub", 8),
    ("codex", 9),
    ("qwen-code", 14),
    ("qwen-code.sub", 17),
    ("cline", 25),
    ("continue", 11),
    ("pi", 4),
    ("aider", 0),
    ("mini-swe-agent", 1),
    ("openhands", 6),
    ("autocomplete", 0),
]

# What a profile may call its evidence. A path of a machine is none.
EVIDENCE = re.compile(r"measured on the wire, November 2026|the source of|its source|\btraces?\b|\bpaper\b")
# Figures that rest on an assumption too.
IN_PART = [
    ("openhands", "timeouts.headers_s"),  # its header says so; no stalled server was tried
    ("continue", "compaction.trigger_tokens"),  # the rule is known, what it takes for max_tokens is not
]
SHIPPED = sorted(path.stem for path in Path(profiles.__file__).parent.glob("*.yaml"))


def value_of(profile: Profile, path: str) -> object:
    found: object = profile
    for part in path.split("."):
        found = checks.inside(found)[part]
    return found


def in_role(name: str) -> Profile:
    product, _, role = name.partition(".")
    return registry.profile(product).in_role(role)


@pytest.mark.parametrize(("name", "path", "value", "_remark"), FIGURES)
def test_a_figure_is_as_it_was_measured(name: str, path: str, value: object, _remark: str) -> None:
    assert value_of(registry.profile(name), path) == value


@pytest.mark.parametrize(("name", "path"), [row[:2] for row in FIGURES])
def test_what_has_evidence_is_not_called_an_assumption(name: str, path: str) -> None:
    above = {path.rsplit(".", depth)[0] for depth in range(path.count(".") + 1)}
    assert (name, path) in IN_PART or not above & {*registry.profile(name).assumptions}


@pytest.mark.parametrize(("name", "tokens", "task_tokens"), FIRST_PROMPTS)
def test_the_parts_of_a_first_prompt_add_up(name: str, tokens: int, task_tokens: int) -> None:
    made = registry.profile(name)
    parts = (made.system_tokens, made.tool_tokens, made.few_shot_tokens, made.first_user_tokens, made.reminder_tokens)
    assert math.isclose(sum(parts) + task_tokens, tokens, rel_tol=0.01)


def test_claude_code_begins_and_begins_again_as_in_the_traces() -> None:
    made = registry.profile("claude-code")
    first = made.system_tokens + made.tool_tokens + made.first_user_tokens
    assert math.isclose(first, 18_945, rel_tol=0.01)  # the median of 373 fresh sessions
    assert made.compaction is not None
    assert first + made.compaction.keep_tokens + made.compaction.summary_tokens == 33_955  # the median after 187


@pytest.mark.parametrize(("name", "count"), HOW_MANY_TOOLS)
def test_how_many_tools_a_product_offers(name: str, count: int) -> None:
    assert len(in_role(name).tools) == count


@pytest.mark.parametrize("name", SHIPPED)
def test_a_profile_names_its_source_in_public(name: str) -> None:
    made = registry.profile(name)
    assert EVIDENCE.search(made.source)
    assert "/" not in made.source
    assert made.assumptions, "nothing is known of a client in full"
    assert {"timeouts", "timeouts.connect_s"} & set(made.assumptions), (
        "how long a client waits for a connection was never measured"
    )


@pytest.mark.parametrize("name", SHIPPED)
def test_an_assumption_is_a_field_that_is_there(name: str) -> None:
    made = registry.profile(name)
    for path in made.assumptions:
        value_of(made, path)
    assert len(set(made.assumptions)) == len(made.assumptions)


@pytest.mark.parametrize("name", SHIPPED)
def test_what_a_client_does_after_an_http_error_was_never_measured(name: str) -> None:
    assert {"retries", "retries.http_waits_s"} & set(registry.profile(name).assumptions)


@pytest.mark.parametrize("name", SHIPPED)
def test_the_two_places_for_a_summarys_system_prompt_agree(name: str) -> None:
    made = registry.profile(name)
    if made.compaction is not None and made.compaction.call == "flattened":
        assert made.roles["compaction"].system_tokens == made.compaction.system_tokens
        assert not made.roles["compaction"].tools
