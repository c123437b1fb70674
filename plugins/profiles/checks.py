"""What a profile's single values cannot tell: which of them contradict each other, or say what is not theirs to say."""

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence

from locust_agents.profile import Profile, Role
from locust_agents.scenarios import suggest
from locust_agents.scenarios.places import KeyPath

Mistake = tuple[KeyPath, str]
"""The keys from the top to the value that is wrong, and what is wrong with it."""

_NAME = re.compile(r"[a-z][a-z0-9]*([_-][a-z0-9]+)*")
# Ours to say. Another model's name makes the server drain its batch and load weights, `seed` takes a request out of it.
_RESERVED = {"model", "stream", "stream_options", "messages", "prompt", "tools", "seed"}
_RESERVED |= {"max_tokens", "max_completion_tokens"}


def mistakes(profile: Profile) -> Iterator[Mistake]:
    """All that contradicts itself, in no order."""
    if not _NAME.fullmatch(profile.name):
        yield ("name",), f"expected lower-case letters, digits, - and _, beginning with a letter, got {profile.name!r}"
    if taken := sorted(profile.parameters.keys() & _RESERVED):
        yield ("parameters",), f"{', '.join(taken)}: not for a profile to say"
    yield from _headers(profile)
    yield from _prompt((), profile)
    for name, role in profile.roles.items():
        yield from _prompt(("roles", name), role)
    yield from _request(profile)
    yield from _compaction(profile)
    yield from _side_calls(profile)
    yield from _assumptions(profile)


def _headers(profile: Profile) -> Iterator[Mistake]:
    for name, text in profile.headers.items():
        try:
            text.format(session="s")
        except (LookupError, ValueError, AttributeError):
            yield ("headers", name), f"only {{session}} can be filled in, got {text!r}"


def _prompt(path: KeyPath, prompt: Profile | Role) -> Iterator[Mistake]:
    if len(set(prompt.tools)) < len(prompt.tools):
        yield (*path, "tools"), "a name is there twice"
    if bool(prompt.tools) != bool(prompt.tool_tokens):
        yield (*path, "tool_tokens"), f"{prompt.tool_tokens} tokens for {len(prompt.tools)} tools"
    if prompt.max_tokens == 0:
        yield (*path, "max_tokens"), "must be 1 or more, or null where the product sends none"


def _request(profile: Profile) -> Iterator[Mistake]:
    if profile.include_usage and not profile.stream:
        yield ("include_usage",), "belongs to a stream; say include_usage: false beside stream: false"
    if profile.api == "completions" and (profile.tools or profile.system_tokens):
        yield ("api",), "completions have neither a system prompt nor tools"


def _compaction(profile: Profile) -> Iterator[Mistake]:
    compaction = profile.compaction
    if compaction is None:
        return
    if compaction.trigger_tokens > profile.window_tokens:
        yield ("compaction", "trigger_tokens"), f"is beyond window_tokens, which is {profile.window_tokens:,}"
    if compaction.keep_tokens + compaction.summary_tokens >= compaction.trigger_tokens:
        yield ("compaction", "keep_tokens"), "what is kept and the summary reach trigger_tokens: it would never end"
    if compaction.system_tokens and compaction.call != "flattened":
        yield ("compaction", "system_tokens"), f"call: {compaction.call} keeps the profile's own system prompt"


def _side_calls(profile: Profile) -> Iterator[Mistake]:
    for number, call in enumerate(profile.side_calls):
        path = ("side_calls", f"[{number}]")
        if call.role not in profile.roles:
            instead = suggest.instead(call.role, profile.roles, "they are")
            yield (*path, "role"), f"{call.role!r} is none of roles; {instead}"
        if call.lead_s[0] > call.lead_s[1]:
            yield (*path, "lead_s"), "expected the least and the most seconds, in this order"


def _assumptions(profile: Profile) -> Iterator[Mistake]:
    for number, name in enumerate(profile.assumptions):
        if not _is_there(profile, name.split(".")):
            yield ("assumptions", f"[{number}]"), f"this profile has no {name}"


def _is_there(value: object, path: Sequence[str]) -> bool:
    for part in path:
        below = inside(value)
        if part not in below:
            return False
        value = below[part]
    return True


def inside(value: object) -> Mapping[str, object]:
    """What lies one level below a value of a profile, by the words with which a path in `assumptions` goes there."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, tuple):
        return {str(number): below for number, below in enumerate(value)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return {}
