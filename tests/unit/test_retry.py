"""When a client sends its request again, and what it says when it cannot use an answer."""

import dataclasses

import pytest

from locust_agents import retry
from locust_agents.outcome import Outcome
from locust_agents.plugins import registry
from locust_agents.profile import Profile, Reaction, Retries
from locust_agents.retry import Ended

OWN = Retries(connection_waits_s=(1.0, 2.0), stall_waits_s=(3.0,), http_waits_s=(4.0,))
CLIENT = dataclasses.replace(
    registry.profile("opencode"),
    retries=OWN,
    empty=Reaction("end", waits_s=(5.0, 6.0)),
    malformed=Reaction("complain", complaint_tokens=300),
)
REFUSED, STALLED, BUSY, EMPTY = (
    Ended(Outcome.REFUSED),
    Ended(Outcome.STALLED, 200, True),
    Ended(Outcome.HTTP_ERROR, 503),
    Ended(Outcome.NO_ANSWER, 200),
)
TABLE: list[tuple[str, list[Ended], float | None]] = [
    ("a good answer", [Ended(Outcome.OK, 200, True)], None),
    ("the first refusal", [REFUSED], 1.0),
    ("the second", [REFUSED, REFUSED], 2.0),
    ("it gives up", [REFUSED, REFUSED, REFUSED], None),
    ("each kind counts its own", [REFUSED, STALLED], 3.0),
    ("and goes on counting", [REFUSED, STALLED, REFUSED], 2.0),
    ("a reset behind a token", [Ended(Outcome.RESET, 200, True)], None),
    ("no headers in time is a stall too", [Ended(Outcome.FIRST_TOKEN_TIMEOUT)], 3.0),
    ("the server is at fault", [BUSY], 4.0),
    ("too many requests", [Ended(Outcome.HTTP_ERROR, 429)], 4.0),
    ("the request is at fault", [Ended(Outcome.HTTP_ERROR, 404)], None),
    ("an empty answer", [EMPTY], 5.0),
    ("a second one", [EMPTY, EMPTY], 6.0),
    ("a stream without an event is empty", [Ended(Outcome.EMPTY_STREAM, 200)], 5.0),
    ("a lost tool call, for which it does not ask again", [Ended(Outcome.TOOL_CALL_LOST, 200, True)], None),
    ("half an answer", [Ended(Outcome.TRUNCATED, 200, True)], None),
    ("left on purpose", [Ended(Outcome.ABANDONED)], None),
]


@pytest.mark.parametrize(("attempts", "wait_s"), [pytest.param(*row[1:], id=row[0]) for row in TABLE])
def test_waits_as_the_profile_says(attempts: list[Ended], wait_s: float | None) -> None:
    assert retry.wait_s(CLIENT, attempts) == wait_s


def test_a_client_may_have_a_schedule_of_its_own_for_headers() -> None:
    client = dataclasses.replace(CLIENT, retries=dataclasses.replace(OWN, headers_waits_s=(0.4, 0.8)))
    assert retry.wait_s(client, [Ended(Outcome.FIRST_TOKEN_TIMEOUT)]) == 0.4
    assert retry.wait_s(client, [Ended(Outcome.FIRST_TOKEN_TIMEOUT, 200)]) == 3.0


@pytest.mark.parametrize(
    ("outcome", "tokens"),
    [(Outcome.TOOL_CALL_LOST, 300), (Outcome.NO_ANSWER, None), (Outcome.OK, None), (Outcome.STALLED, None)],
)
def test_only_a_client_that_complains_has_something_to_say(outcome: Outcome, tokens: int | None) -> None:
    assert retry.complaint_tokens(CLIENT, outcome) == tokens


def test_kinds_that_share_a_schedule_are_still_counted_apart() -> None:
    same = Retries(connection_waits_s=(1.0,), stall_waits_s=(1.0,))
    client: Profile = dataclasses.replace(CLIENT, retries=same)
    assert retry.wait_s(client, [REFUSED, STALLED]) == 1.0
