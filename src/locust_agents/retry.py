"""Decides whether a client sends its request again after an attempt, and how long it waits before."""

from collections.abc import Sequence
from dataclasses import dataclass

from locust_agents.outcome import Outcome
from locust_agents.profile import Profile, Reaction

_CONNECTION = (Outcome.REFUSED, Outcome.RESET, Outcome.CONNECT_TIMEOUT)
_STALL = (Outcome.FIRST_TOKEN_TIMEOUT, Outcome.STALLED, Outcome.TURN_TIMEOUT)
_EMPTY = (Outcome.NO_ANSWER, Outcome.EMPTY_STREAM)
_MALFORMED = (Outcome.TOOL_CALL_LOST,)
# Too many requests, or a server at fault; any other status says that the same request will fail again.
_TOO_MANY = 429
_SERVER_FAULT = 500


@dataclass(frozen=True, slots=True)
class Ended:
    """How an attempt ended: `http_status` None where no headers came, `has_token` where part of an answer was shown."""

    outcome: Outcome
    http_status: int | None = None
    has_token: bool = False


def wait_s(profile: Profile, attempts: Sequence[Ended]) -> float | None:
    """Seconds until the request of these attempts, the last of which is to be judged, is sent again; None for never.

    Each kind of failure has a schedule of its own, and counts its own attempts.
    """
    found = [_schedule(profile, attempt) for attempt in attempts]
    name, waits_s = found[-1]
    number = sum(other == name for other, _ in found) - 1
    return waits_s[number] if number < len(waits_s) else None


def complaint_tokens(profile: Profile, outcome: Outcome) -> int | None:
    """The tokens of what a client that does not give up says about an answer it could not use; None: it gives up."""
    reaction = _reaction(profile, outcome)
    return reaction.complaint_tokens if reaction is not None and reaction.then == "complain" else None


def _schedule(profile: Profile, attempt: Ended) -> tuple[str, tuple[float, ...]]:
    """What kind of failure it was, and the waits for it: none where nothing is sent again."""
    retries = profile.retries
    reaction = _reaction(profile, attempt.outcome)
    if reaction is not None:
        return attempt.outcome, reaction.waits_s
    if attempt.outcome in _CONNECTION and not attempt.has_token:  # who has shown a part shows no second answer
        return "connection", retries.connection_waits_s
    if attempt.outcome in _STALL and attempt.http_status is None and retries.headers_waits_s is not None:
        return "headers", retries.headers_waits_s
    if attempt.outcome in _STALL:
        return "stall", retries.stall_waits_s
    status = attempt.http_status or 0
    is_worth_it = attempt.outcome is Outcome.HTTP_ERROR and (status == _TOO_MANY or status >= _SERVER_FAULT)
    return "http", retries.http_waits_s if is_worth_it else ()


def _reaction(profile: Profile, outcome: Outcome) -> Reaction | None:
    if outcome in _EMPTY:
        return profile.empty
    return profile.malformed if outcome in _MALFORMED else None
