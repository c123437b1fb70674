"""What a profile's client does around a turn: compaction, the cap, other attempts, complaints, answers in one piece.

The runs are made by a script in a process of its own, since importing Locust patches the process.
"""

import json
from typing import Any

import pytest

from tests.integration.test_driver import Made, Run, make
from tests.patience import is_sound_run


@pytest.fixture(scope="module")
def clients() -> Made:
    return make("drive_clients.py")


def told(run: Run, *fields: str) -> list[Any]:
    return [values if len(values) > 1 else values[0] for values in run.who(*fields)]


def bodies(run: Run) -> list[dict[str, Any]]:
    return [json.loads(request["body"]) for request in run.requests]


def test_a_client_compacts_by_its_own_rule_and_rests_before_it_does_so_again(clients: Made) -> None:
    kinds = told(clients.runs["grow"], "kind")
    assert kinds == ["first", "later", "later", "compaction", "later", "later", "compaction", "later", "later"]
    assert clients.seen["grow"] == [200, 300, 400, 600, 700, 900, 1000]  # the behaviour does not see the summaries


def test_a_compaction_on_the_same_prompt_begins_with_all_of_the_history(clients: Made) -> None:
    run = clients.runs["grow"]
    before, summary, after = run.said(2), run.said(3), run.said(4)
    assert summary[: len(before)] == before
    assert len(after) < len(summary)
    assert "Answer 3." in after[0]["content"]
    assert bodies(run)[3]["max_tokens"] == 40


def test_a_compaction_of_a_flattened_history_is_one_message_below_another_system_prompt(clients: Made) -> None:
    run = clients.runs["grow-flat"]
    made = bodies(run)
    assert [len(body["messages"]) for body in made][3] == 2
    assert made[3]["messages"][0]["content"] != made[2]["messages"][0]["content"]
    text = made[3]["messages"][1]["content"]
    assert [f"Question {number}." in text for number in range(3)] == [True] * 3
    assert "tools" not in made[3]


def test_a_prompt_over_the_cap_is_not_sent_and_its_tokens_are_counted(clients: Made) -> None:
    run = clients.runs["too-long"]
    assert told(run, "outcome") == ["ok", "capped", "ok"]
    assert len(run.requests) == 2
    capped = run.records[1]
    assert (capped["sent_s"], capped["prompt_tokens"], capped["request_bytes"]) == (None, None, 0)
    assert 4900 < capped["capped_tokens"] < 5100
    assert clients.seen["too_long"] == [["capped", False]]
    assert is_sound_run(run.summary)  # nothing failed


def test_a_client_that_can_makes_room_for_a_prompt_over_the_cap(clients: Made) -> None:
    assert told(clients.runs["room"], "kind") == ["first", "later", "later", "compaction", "later"]
    assert clients.seen["room"] == ["ok"]


def test_the_whole_prompt_is_sent_again_and_what_was_read_in_vain_is_counted(clients: Made) -> None:
    run = clients.runs["wait-in-vain"]
    assert told(run, "attempt", "outcome", "wasted_prefill_tokens") == [
        (1, "first_token_timeout", 512),
        (2, "http_error", None),
        (3, "ok", None),
        (1, "ok", None),
    ]
    first, second, third = (request["body"] for request in run.requests[:3])
    assert first == second == third
    assert clients.seen["wait_in_vain"] == ["so"]


def test_an_empty_answer_is_asked_for_again_as_often_as_the_profile_says(clients: Made) -> None:
    assert told(clients.runs["hear-nothing"], "attempt", "outcome") == [(n, "no_answer") for n in (1, 2, 3)]
    assert clients.seen["hear_nothing"] == ["no_answer"]


def test_a_client_that_complains_goes_on_until_it_is_answered(clients: Made) -> None:
    run = clients.runs["hear-nothing-and-complain"]
    assert told(run, "turn", "kind") == [(0, "first"), (1, "later"), (2, "later")]
    assert [message["role"] for message in run.said(2)] == ["user"] * 3
    assert "could not be used" in run.said(2)[2]["content"]
    assert clients.seen["complain"] == ["at last"]


def test_an_answer_in_one_piece_has_its_only_token_at_its_end(clients: Made) -> None:
    run = clients.runs["whole"]
    assert [(body["stream"], "stream_options" in body) for body in bodies(run)] == [(False, False)] * 2
    assert [body["max_completion_tokens"] for body in bodies(run)] == [64, 64]
    record = run.records[0]
    assert record["streamed"] is False
    assert record["first_token_s"] == record["last_token_s"] <= record["end_s"]
    assert (record["chunks"], record["stall_s"], record["itl_hist"]) == (1, None, {})
    assert clients.seen["whole"] == [["so", 1, 5]]


def test_a_hole_is_filled_over_completions_and_nothing_is_an_answer_too(clients: Made) -> None:
    run = clients.runs["fill"]
    assert clients.seen["fill"] == [["def", "ok"], ["", "ok"]]
    asked = [("messages" in body, "prompt" in body, body["max_tokens"]) for body in bodies(run)]
    assert asked == [(False, True, 9)] * 2


def test_a_sub_agent_has_the_system_prompt_and_tools_of_its_role(clients: Made) -> None:
    main, sub = bodies(clients.runs["delegate"])
    assert main["messages"][0] != sub["messages"][0]
    assert [tool["function"]["name"] for tool in sub["tools"]] == ["look"]
    assert told(clients.runs["delegate"], "kind", "profile") == [("first", "roles"), ("sub", "roles")]


def test_calls_are_checked_against_the_tools_that_were_sent(clients: Made) -> None:
    run = clients.runs["calls"]
    kinds = {"not_json": 1, "unknown_tool": 1, "broken_schema": 1}
    assert told(run, "tool_call_kinds") == [kinds, {}, {}]
    assert told(run, "no_call") == [None, False, True]


def test_a_first_token_limit_that_a_scenario_sets_begins_with_the_request(clients: Made) -> None:
    """Also where the product has the same limit, which begins with the answer's headers."""
    late = ("first_token_timeout", "no token within 2.0 s of the headers")
    *before, last = told(clients.runs["wait"], "outcome", "error")
    assert (last, set(before) <= {late}) == (("ok", None), True)
    *before, last = told(clients.runs["wait-less"], "outcome", "error")
    assert (last, set(before) <= {("ok", None)}) == (("first_token_timeout", "no token within 2.0 s"), True)
