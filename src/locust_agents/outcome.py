"""How a turn ended, decided from what the transport met and what the stream said."""

from dataclasses import dataclass
from enum import StrEnum

from locust_agents.answers.stream import Answer


class Outcome(StrEnum):
    """The first that matches, in this order."""

    CUT = "cut"
    ABANDONED = "abandoned"
    CAPPED = "capped"
    REFUSED = "refused"
    RESET = "reset"
    CONNECT_TIMEOUT = "connect_timeout"
    HTTP_ERROR = "http_error"
    ERROR_IN_STREAM = "error_in_stream"
    FIRST_TOKEN_TIMEOUT = "first_token_timeout"
    STALLED = "stalled"
    TURN_TIMEOUT = "turn_timeout"
    BAD_PROTOCOL = "bad_protocol"
    EMPTY_STREAM = "empty_stream"
    TRUNCATED = "truncated"
    TOOL_CALL_LOST = "tool_call_lost"
    NO_ANSWER = "no_answer"
    OK = "ok"

    @property
    def is_failure(self) -> bool:
        """Cut, abandoned and capped were our own doing; they are counted apart."""
        return self not in _OUR_DOING and self is not Outcome.OK


_OUR_DOING = (Outcome.CUT, Outcome.ABANDONED, Outcome.CAPPED)


@dataclass(frozen=True, slots=True)
class Ending:
    """Why the transport stopped: `early` where something ended it before the server closed, and the words for it."""

    early: Outcome | None = None
    error: str | None = None


def classify(ending: Ending, http_status: int | None, answer: Answer) -> tuple[Outcome, str | None]:
    """The outcome, and one line on what went wrong (None for ok)."""
    found = [match for match in _matches(ending, http_status, answer) if match is not None]
    return min(found, key=lambda match: _ORDER[match[0]]) if found else (Outcome.OK, None)


_ORDER = {outcome: place for place, outcome in enumerate(Outcome)}


def _matches(ending: Ending, http_status: int | None, answer: Answer) -> tuple[tuple[Outcome, str | None] | None, ...]:
    early = None if ending.early is None else (ending.early, ending.error)
    if http_status is None:
        return (early or (Outcome.RESET, "the connection ended before an answer"),)
    if not 200 <= http_status < 300:
        return early, (Outcome.HTTP_ERROR, _refusal(http_status, answer))
    return (
        early,
        None if answer.error is None else (Outcome.ERROR_IN_STREAM, answer.error),
        None if answer.protocol_error is None else (Outcome.BAD_PROTOCOL, answer.protocol_error),
        _incomplete(answer),
    )


def _refusal(http_status: int, answer: Answer) -> str:
    words = answer.error or answer.protocol_error
    return f"HTTP status {http_status}" + (f": {words}" if words else "")


def _incomplete(answer: Answer) -> tuple[Outcome, str] | None:
    if not answer.events:
        return Outcome.EMPTY_STREAM, f"status 200 and {'not one event' if answer.is_streamed else 'an empty body'}"
    if answer.finish_reason is None or not answer.done:
        return Outcome.TRUNCATED, _what_is_missing(answer)
    if answer.finish_reason == "tool_calls" and not answer.tool_calls:
        return Outcome.TOOL_CALL_LOST, "finish_reason is tool_calls and there is no call"
    if not answer.tool_calls and not any(answer.content):
        return Outcome.NO_ANSWER, "neither content nor a tool call"
    return None


def _what_is_missing(answer: Answer) -> str:
    if not answer.is_streamed:
        return "the answer has no finish_reason" if answer.done else "the body ended before its announced length"
    missing = [("finish_reason", answer.finish_reason is None), ("[DONE]", not answer.done)]
    names = " and ".join(name for name, is_missing in missing if is_missing)
    return f"the stream ended without {names}"
