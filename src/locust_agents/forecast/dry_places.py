"""Decides how far into a planned prompt a text stands that is another one in each session, or in each request.

The system text is taken to stand before the tools, as most templates have it.
"""

from collections.abc import Container

from locust_agents.forecast.dry_prompt import Prompt
from locust_agents.forecast.session_plan import Terms
from locust_agents.profile import Profile
from locust_agents.prompts.prefix_break import Kind, PrefixBreak

# Where a run that breaks its prefix on purpose does so, as shares of the system text and of the tools: the date and
# the description that a switch of mode changes, as in OpenCode 1.18 on the wire.
_DATE_SHARE, _MODE_SHARE = 0.92, 0.72


def of_each_request(profile: Profile, terms: Terms, prefix: PrefixBreak | None) -> float | None:
    """Tokens ahead of what the product changes in each request; None where nothing is, or the run prevents it."""
    is_quiet = prefix is not None and prefix.kind == "none"
    return None if is_quiet else _first(profile, terms, ("request",))


def of_each_session(profile: Profile, terms: Terms) -> float | None:
    """Tokens ahead of what differs between sessions; all agents of a run work in one project."""
    return _first(profile, terms, ("session",))


def of_break(kind: Kind, prompt: Prompt, profile: Profile, terms: Terms) -> float:
    """Tokens ahead of what a break on purpose changes."""
    system, tools = profile.system_tokens * terms.scale, profile.tool_tokens * terms.scale
    match kind:
        case "head_hash":
            return 0.0
        case "date_tail":
            return system * _DATE_SHARE
        case "tools_change":
            return system + tools * _MODE_SHARE
        case "file_refresh":
            return prompt.head
        case _:
            return prompt.behind_last_user


def _first(profile: Profile, terms: Terms, changes: Container[str]) -> float | None:
    system, tools = profile.system_tokens * terms.scale, profile.tool_tokens * terms.scale
    parts = {
        "system_head": (0.0, 0.0),
        "system": (0.0, system),
        "tools": (system, tools),
        "first_user": (terms.preamble_tokens(profile), profile.first_user_tokens * terms.scale),
    }
    places = ((*parts[part.at], part.share) for part in profile.volatile if part.changes in changes)
    return min((start + size * share for start, size, share in places), default=None)
