"""Decides how many tokens a planned message, answer or summary has, as the run would size it."""

import random

from locust_agents import draws, draws_elsewhere
from locust_agents.forecast.session_plan import Terms
from locust_agents.patience import Leave
from locust_agents.plugins.api import Say, Turn
from locust_agents.profile import Profile


def message(say: Say, messages_of_turn: int, profile: Profile, terms: Terms) -> float:
    """What the server counts for one message of a turn; never less than what its template takes."""
    calibration = terms.calibration
    if say.tokens is None:
        return len(say.text) * calibration.tokens_per_char + calibration.message_tokens
    cap = profile.tool_result_cap_tokens
    tokens = say.tokens if say.answers is None or cap is None else min(say.tokens, cap)
    least = calibration.message_tokens + calibration.turn_tokens / messages_of_turn
    return max(tokens * terms.scale, least)


def answer(rng: random.Random, turn: Turn, profile: Profile, terms: Terms) -> tuple[int, int]:
    """What the server generates, and what a script would put in its place, in tokens.

    The model says what it would, up to the turn's own limit, the drawn size or the profile's limit, or until the
    behaviour has left.
    """
    drawn = draws.draw(_table(turn), rng)
    scripted = scaled(drawn, terms)
    is_drawn = terms.outputs == "drawn"
    wanted = terms.answer_tokens or (scripted if is_drawn else max(1, round(drawn)))
    limit = turn.answer_tokens
    if limit is None:
        limit = scripted if is_drawn else profile.max_tokens
    heard = wanted if limit is None else min(wanted, limit)
    return _until_left(heard, turn.patience), scripted


def _table(turn: Turn) -> draws.Table:
    if turn.hole is not None:
        return draws_elsewhere.COMPLETION
    return draws.FINAL_ANSWER if turn.ends_loop else draws.TOOL_CALL


def scaled(tokens: float, terms: Terms) -> int:
    """A size as this run has it, at least one token."""
    return max(1, round(tokens * terms.scale))


def _until_left(tokens: int, leave: Leave) -> int:
    if leave.in_prefill:
        return 0
    return tokens if leave.after_chunks is None else min(tokens, leave.after_chunks)
