"""The protocol of behaviours, through the real user class under Locust and against a replay server.

Importing Locust patches the process, so the runs are made by scripts in processes of their own, many runs in each;
what came of them is read here.
"""

import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE_S, is_sound_run

SCRIPTS = Path(__file__).parent / "gevent_scripts"


@dataclass(frozen=True)
class Run:
    """What came of one run; a record and a request are plain JSON."""

    status: int
    faults: list[str]
    records: list[dict[str, Any]]
    requests: list[dict[str, Any]]
    summary: dict[str, Any]
    one_preamble: bool
    until: float

    def of(self, session: str) -> list[dict[str, Any]]:
        """The records of a session, in the order in which its turns began."""
        found = [record for record in self.records if record["session"].endswith(session)]
        return sorted(found, key=lambda record: (record["turn"], record["attempt"]))

    def said(self, place: int) -> list[dict[str, Any]]:
        """The messages of a request, without the system text."""
        messages: list[dict[str, Any]] = json.loads(self.requests[place]["body"])["messages"]
        return messages[1:]

    def who(self, *fields: str) -> list[tuple[Any, ...]]:
        """These fields of every record, in the order in which the turns began."""
        ordered = sorted(self.records, key=lambda record: record["wall_time"])
        return [tuple(record[field] for field in fields) for record in ordered]


@dataclass(frozen=True)
class Made:
    """What a script printed."""

    runs: dict[str, Run]
    seen: dict[str, Any]


def make(script: str) -> Made:
    done = subprocess.run(
        [sys.executable, SCRIPTS / script], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    values = json.loads(done.stdout)
    return Made({name: Run(**run) for name, run in values["runs"].items()}, values["seen"])


@pytest.fixture(scope="module")
def steps() -> Made:
    return make("drive_steps.py")


@pytest.fixture(scope="module")
def endings() -> Made:
    return make("drive_endings.py")


# -- records, whatever a run does


RUNS_OF_STEPS = (
    "talk rest beside delegate delegate-and-go-on leave compact child-in-line insist share share-scripted outlive "
    "insist-at-last tell-time"
).split()
RUNS_OF_ENDINGS = (
    "endings in-vain in-silence fooled fooled-in-vain cut cut-before-headers forgotten drained turns sessions "
    "refused-at-once"
).split()


@pytest.mark.parametrize("name", [*RUNS_OF_STEPS, *RUNS_OF_ENDINGS])
def test_one_record_for_each_request_that_the_server_saw(steps: Made, endings: Made, name: str) -> None:
    run = steps.runs.get(name) or endings.runs[name]
    sent = [record for record in run.records if record["connect_s"] is not None]
    assert len(sent) == len(run.requests)
    assert Counter(record["request_bytes"] for record in sent) == Counter(
        len(request["body"].encode()) for request in run.requests
    )
    assert len({(record["session"], record["turn"], record["attempt"]) for record in run.records}) == len(run.records)
    assert run.summary["turns"] == len(run.records)
    assert sum(run.summary["outcomes"].values()) == len(run.records)
    assert run.faults == []


@pytest.mark.parametrize("name", [*RUNS_OF_STEPS, *RUNS_OF_ENDINGS])
def test_requests_are_json_of_one_model_without_a_seed(steps: Made, endings: Made, name: str) -> None:
    for request in (steps.runs.get(name) or endings.runs[name]).requests[:50]:
        assert request["body"].startswith('{"model":"default_model",')
        values = json.loads(request["body"])
        assert "seed" not in values
        assert values["stream_options"] == {"include_usage": True}
        assert request["headers"]["content-type"] == "application/json"


def test_each_run_was_made(steps: Made, endings: Made) -> None:
    assert set(steps.runs) == set(RUNS_OF_STEPS)
    assert set(endings.runs) == set(RUNS_OF_ENDINGS)


# -- user, tool_results


def test_user_and_tool_results(steps: Made) -> None:
    run = steps.runs["talk"]
    assert run.who("turn", "kind", "outcome", "parent") == [
        (0, "first", "ok", None),
        (1, "later", "ok", None),
        (2, "later", "ok", None),
        (3, "later", "ok", None),
    ]
    assert [message["role"] for message in run.said(3)] == (
        ["user", "assistant", "tool", "tool", "assistant", "user", "assistant", "user"]
    )
    assert [message["tool_call_id"] for message in run.said(3) if message["role"] == "tool"] == ["call-0", "call-1"]
    assert run.said(3)[-1]["content"] == "Bye."
    assert [json.loads(request["body"])["max_tokens"] for request in run.requests] == [64, 64, 64, 7]


def test_a_reply_says_how_the_turn_went(steps: Made) -> None:
    assert steps.seen["talk"] == [["so", ["call-0", "call-1"], "ok", 5, True], ["hm", [], "ok", 5, True]]


def test_expected_tokens_are_of_the_turn_before(steps: Made) -> None:
    assert [expected for (expected,) in steps.runs["talk"].who("expected_tokens")] == [0, 205, 305, 405]


def test_each_request_begins_with_the_one_before(steps: Made) -> None:
    for name in ("talk", "rest", "leave", "insist"):
        bodies = [request["body"] for request in steps.runs[name].requests]
        for before, after in pairwise(bodies):
            assert after.startswith(before[: before.rindex("]")])


def test_the_session_is_named_in_the_headers_of_the_profile(steps: Made) -> None:
    run = steps.runs["beside"]
    named = Counter(request["headers"]["x-session-id"] for request in run.requests)
    assert named == Counter(record["session"] for record in run.records)


def test_agents_of_a_profile_send_one_start(steps: Made) -> None:
    run = steps.runs["share"]
    starts = {request["body"].partition('{"role":"user"')[0] for request in run.requests}
    assert len(starts) == 1
    assert run.one_preamble
    firsts = {request["body"] for request in run.requests if request["body"].count('"role":"user"') == 1}
    assert len(firsts) == 3
    assert {record["agent"] for record in run.records} == {"share/0.0", "share/0.1", "share/0.2"}


def test_drawn_outputs_and_scripted_replies(steps: Made) -> None:
    run = steps.runs["share-scripted"]
    limits = {json.loads(request["body"])["max_tokens"] for request in run.requests}
    assert len(limits) > 6
    assert {record["replies"] for record in run.records} == {"scripted"}
    assert {record["expected_tokens"] for record in run.records if record["turn"]} == {200}
    assert sum(message["role"] == "tool" for message in run.said(-1)) >= 2


# -- pause


def ended(record: dict[str, Any]) -> float:
    """When, in UNIX seconds."""
    return float(record["wall_time"] + record["end_s"])


def test_pauses_are_scaled_and_capped(steps: Made) -> None:
    run = steps.runs["rest"]
    arrivals = [request["at_s"] for request in run.requests]
    gaps = [after - before for before, after in pairwise(arrivals)]
    assert gaps[0] >= 0.2  # 20 s at 0.01
    assert 0.4 <= gaps[1] < 100.0  # 10,000 s at 0.01 are capped
    assert steps.seen["rest"] == [None, None, None]


@pytest.mark.parametrize(
    ("name", "waits_s", "remark"),
    [
        ("rest", [0.2, 0.4, 0.0], "pauses"),
        ("delegate", [0.55], "its children's first answers alone take so long"),
        ("insist", [0.05, 0.05, 0.0, 0.05, 0.05, 0.0, 0.0], "before it asks again"),
    ],
)
def test_what_an_agent_waits_for_is_no_lateness_of_the_client(
    steps: Made, name: str, waits_s: list[float], remark: str
) -> None:
    """However long it is from turn to turn, it may be late by no more than what it did not wait for."""
    for (before, after), wait_s in zip(pairwise(steps.runs[name].of("#0")), waits_s, strict=True):
        between_s = after["wall_time"] - ended(before)
        assert 0 <= after["late_s"] <= between_s - wait_s + 0.01, remark


# -- times


@pytest.mark.parametrize("turn", [0, 1])  # the second is chunked
def test_first_and_last_token_are_those_of_the_server(steps: Made, turn: int) -> None:
    """Events come at gaps of 0.3 s: a stamp that is less than half a gap off is of the right one.

    What holds up the loop makes stamps late, and is noted beside the runs. The clocks of client and server are one.
    """
    run = steps.runs["tell-time"]
    record, request = run.of("#0")[turn], run.requests[turn]
    first_s, last_s = steps.seen["tell_time"][turn]
    began_s = record["wall_time"] - steps.seen["clock"][0]
    noted = [late_s for at_s, late_s in steps.seen["loop"] if began_s <= at_s <= began_s + record["end_s"] + 1]
    off_s = 0.15 + max(noted, default=0.0)
    assert record["outcome"] == "ok"
    for field, event_s in (("first_token_s", first_s), ("first_answer_s", first_s), ("last_token_s", last_s)):
        assert abs(began_s + record[field] - event_s) < off_s, field
    assert abs(began_s + record["headers_s"] - request["at_s"]) < off_s  # they leave when it has been read
    assert abs(record["stall_s"] - (last_s - first_s)) < off_s


# -- side, spawn, join, children


def arrivals_s(run: Run, session: str) -> list[float]:
    """When the server had read each request of a session, on its own clock."""
    return [request["at_s"] for request in run.requests if request["headers"]["x-session-id"].endswith(session)]


def are_together(*turns: dict[str, Any]) -> bool:
    """Whether each had begun before the first of them ended: these answers take half a second."""
    return max(float(turn["wall_time"]) for turn in turns) < min(map(ended, turns))


def is_held_up(run: Run, session: str) -> bool:
    """Whether any turn ends between two of this session: it goes on at once, whatever others do."""
    return any(
        ended(before) < ended(other) < after["wall_time"]
        for before, after in pairwise(run.of(session))
        for other in run.records
    )


def test_a_side_session_has_its_own_history_and_runs_beside(steps: Made) -> None:
    run = steps.runs["beside"]
    assert Counter(run.who("session", "kind")) == {
        ("beside/0.0#0", "first"): 1,
        ("beside/0.0#0", "later"): 1,
        ("beside/0.0#0.1", "side"): 2,
        ("beside/0.0#0.2", "side"): 2,
    }
    assert [record["turn"] for record in run.of("#0.1")] == [0, 1]
    assert are_together(run.of("#0")[0], run.of("#0.1")[0])
    assert are_together(run.of("#0")[1], run.of("#0.2")[0])
    assert not is_held_up(run, "#0.1")
    side = [request for request in run.requests if request["headers"]["x-session-id"].endswith("#0.1")]
    assert [message["role"] for message in json.loads(side[1]["body"])["messages"][1:]] == ["user", "assistant", "user"]
    assert steps.seen["beside"] == [["ok", "ok"]]


def test_the_parent_of_a_side_session_that_is_started_first(steps: Made) -> None:
    assert {record["parent"] for record in steps.runs["beside"].of("#0.1")} == {"beside/0.0#0"}


def test_the_parent_of_a_side_session(steps: Made) -> None:
    run = steps.runs["beside"]
    assert {record["parent"] for record in run.of("#0.2")} == {"beside/0.0#0"}
    assert {record["parent"] for record in run.of("#0")} == {None}


def test_spawn_waits_and_gives_the_last_replies_in_order(steps: Made) -> None:
    run = steps.runs["delegate"]
    (given,) = steps.seen["delegate"]
    sessions = [f"delegate/0.0#0.{number}" for number in (1, 2, 3)]
    assert [session for session, _ in given] == sessions
    assert [text for _, text in given] == [steps.seen[session][0] for session in sessions]
    assert len({text for _, text in given}) == 3
    assert [len(run.of(session)) for session in ("#0.1", "#0.2", "#0.3", "#0")] == [3, 2, 1, 2]
    assert {(record["kind"], record["parent"]) for record in run.of("#0.1")} == {("sub", "delegate/0.0#0")}
    last_of_parent = arrivals_s(run, "#0")[-1]
    assert all(arrivals_s(run, session)[-1] < last_of_parent for session in ("#0.1", "#0.2", "#0.3"))


def test_sub_agents_run_at_the_same_time(steps: Made) -> None:
    run = steps.runs["delegate"]
    assert are_together(*(run.of(session)[0] for session in ("#0.1", "#0.2", "#0.3")))


def test_join_gives_replies_in_the_order_of_its_handles_and_again(steps: Made) -> None:
    run = steps.runs["delegate-and-go-on"]
    assert steps.seen["joined"] == [[None, "ok", "ok"], ["ok", "ok", None]]
    assert are_together(run.of("#0")[1], run.of("#0.1")[0], run.of("#0.2")[0])


def test_a_sub_agent_has_sub_agents(steps: Made) -> None:
    run = steps.runs["delegate-and-go-on"]
    (record,) = run.of("#0.1.1")
    assert (record["kind"], record["parent"]) == ("sub", "delegate-and-go-on/0.0#0.1")
    assert steps.seen["nested"] == [1]


def test_a_child_in_line_has_its_own_history(steps: Made) -> None:
    run = steps.runs["child-in-line"]
    assert run.who("session", "turn", "kind") == [
        ("child-in-line/0.0#0", 0, "first"),
        ("child-in-line/0.0#0.1", 0, "first"),
        ("child-in-line/0.0#0.1", 1, "later"),
        ("child-in-line/0.0#0", 1, "later"),
    ]
    assert [
        [message["content"][-11:] for message in run.said(place) if message["role"] == "user"] for place in (2, 3)
    ] == [
        [run.said(1)[0]["content"][-11:], "Look again."],
        [run.said(0)[0]["content"][-11:], "Go on."],
    ]


# -- leave, compact


def test_a_turn_that_is_left_is_abandoned_and_the_next_one_works(steps: Made) -> None:
    run = steps.runs["leave"]
    assert run.who("turn", "outcome") == [(0, "abandoned"), (1, "abandoned"), (2, "ok")]
    by_clock, by_chunks, _ = run.of("#0")
    assert by_clock["end_s"] >= 0.4
    assert by_chunks["chunks"] == 2
    assert [reply[2] for reply in steps.seen["leave"]] == ["abandoned", "abandoned", "ok"]
    assert steps.seen["leave"][1][0] == "ab"
    # what was heard is in the history
    assert [message["role"] for message in run.said(2)] == ["user", "assistant", "user", "assistant", "user"]
    assert run.said(2)[3]["content"] == "ab"
    assert is_sound_run(run.summary)


def test_compaction_is_one_turn_and_then_a_shorter_history(steps: Made) -> None:
    run = steps.runs["compact"]
    assert run.who("turn", "kind", "outcome") == [
        *((number, "later" if number else "first", "ok") for number in range(4)),
        (4, "compaction", "reset"),
        (5, "compaction", "ok"),
        (6, "later", "ok"),
        (7, "later", "ok"),
    ]
    limits = [json.loads(request["body"])["max_tokens"] for request in run.requests]
    assert limits[4:6] == [33, 33]
    assert run.said(5) == run.said(4), "a summary that did not come changes nothing"
    after = run.said(6)
    assert len(after) < len(run.said(3))
    assert (after[0]["role"], after[0]["content"]) == ("user", "It is long.")
    assert not any("Summarise" in (message["content"] or "") for message in after)
    assert after[1]["content"].endswith("Question 3.")
    assert [message["role"] for message in after] == ["user", "user", "assistant", "tool", "user"]


def test_after_compaction_only_the_shared_start_is_expected(steps: Made) -> None:
    run = steps.runs["compact"]
    expected = [tokens for (tokens,) in run.who("expected_tokens")]
    assert expected[5] == 385
    assert expected[6] == expected_of_a_start(steps)
    assert expected[7] == 305


def expected_of_a_start(steps: Made) -> int:
    """What is expected of the first turn of a session whose profile somebody has sent before."""
    tokens: int = steps.runs["delegate"].of("#0.1")[0]["expected_tokens"]
    assert tokens > 0
    return tokens


# -- retries


def test_each_attempt_has_its_record_and_the_behaviour_sees_the_last(steps: Made) -> None:
    run = steps.runs["insist"]
    assert run.who("turn", "attempt", "outcome") == [
        (0, 1, "reset"),
        (0, 2, "reset"),
        (0, 3, "ok"),
        (1, 1, "reset"),
        (1, 2, "reset"),
        (1, 3, "reset"),
        (2, 1, "http_error"),  # an answer is no reason to ask again
        (3, 1, "reset"),  # nor is a stream that broke after its first token
    ]
    bodies = [request["body"] for request in run.requests]
    assert bodies[0] == bodies[1] == bodies[2]
    assert steps.seen["insist"] == ["ok", "reset", "http_error", "reset"]


def test_a_run_waits_for_a_turn_that_is_to_be_asked_again(steps: Made) -> None:
    assert steps.runs["insist-at-last"].who("attempt", "outcome") == [(1, "reset"), (2, "ok")]


def test_a_server_that_ends_between_two_turns(steps: Made) -> None:
    run = steps.runs["outlive"]
    assert run.who("turn", "outcome") == [(0, "ok"), (1, "refused")]
    assert steps.seen["outlive"] == ["refused"]


# -- endings


def test_every_ending_has_its_outcome(endings: Made) -> None:
    run = endings.runs["endings"]
    assert [outcome for (outcome,) in run.who("outcome")] == endings.seen["endings"]
    assert all((record["error"] is None) == (record["outcome"] == "ok") for record in run.records)
    assert all("\n" not in (record["error"] or "") for record in run.records)
    assert [turn for (turn,) in run.who("turn")] == list(range(len(run.records)))


def test_who_waits_in_vain_leaves(endings: Made) -> None:
    """Neither a server without a word nor headers nor comments keep a client that they do not fool."""
    assert endings.runs["in-vain"].who("outcome") == [("first_token_timeout",)] * 3
    assert endings.runs["in-silence"].who("outcome") == [("stalled",)]


@pytest.mark.parametrize(("name", "last"), [("fooled", "ok"), ("fooled-in-vain", "empty_stream")])
def test_comments_reset_the_patience_of_a_client_that_they_fool(endings: Made, name: str, last: str) -> None:
    """They go on for twice as long as it waits. On a busy machine one of them may come too late: it asks again."""
    outcomes = [outcome for (outcome,) in endings.runs[name].who("outcome")]
    assert outcomes[-1] == last
    assert set(outcomes[:-1]) <= {"first_token_timeout", "stalled"}


def test_a_run_that_ends_in_mid_stream_cuts_every_open_turn(endings: Made) -> None:
    run = endings.runs["cut"]
    assert Counter(run.who("kind", "outcome")) == {("first", "ok"): 1, ("side", "cut"): 1, ("sub", "cut"): 2}
    assert all(record["first_token_s"] is not None for record in run.records)
    assert run.status == 4  # three of four turns were cut: what the others say is not to be trusted
    assert endings.runs["cut-before-headers"].who("outcome", "headers_s") == [("cut", None)]


def test_a_drain_lets_open_turns_end_and_starts_none(endings: Made) -> None:
    run = endings.runs["drained"]
    assert {outcome for (outcome,) in run.who("outcome")} == {"ok"}
    starts = [wall_time for (wall_time,) in run.who("wall_time")]
    assert starts[-1] < run.until < max(map(ended, run.records))


def test_turns_are_counted_over_all_agents(endings: Made) -> None:
    assert len(endings.runs["turns"].records) == 5


def test_each_agent_has_so_many_sessions(endings: Made) -> None:
    sessions = [f"a/0.{agent}#{number}" for agent in (0, 1) for number in (0, 1, 2)]
    assert sorted(session for (session,) in endings.runs["sessions"].who("session")) == sessions


def test_a_parent_of_children_that_were_cut_leaves(endings: Made) -> None:
    assert endings.seen["joined"] == {"ended": "left", "outcomes": ["cut", "cut"]}


def test_a_server_that_refuses_at_once_is_not_hammered(endings: Made) -> None:
    assert len(endings.runs["refused-at-once"].records) < 20


# -- faults of a plugin


@dataclass(frozen=True)
class Faults:
    """What the command left: its status, its output, and its folder."""

    status: int
    stdout: str
    stderr: list[str]
    records: list[dict[str, Any]]
    requests: int
    summary: dict[str, Any]


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Faults:
    folder = tmp_path_factory.mktemp("faults")
    command = [sys.executable, str(SCRIPTS / "drive_faults.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    lines = (folder / "run" / "turns.jsonl").read_text().splitlines()
    summary = json.loads((folder / "run" / "summary.json").read_text())
    requests = int((folder / "requests").read_text())
    return Faults(
        done.returncode, done.stdout, done.stderr.splitlines(), list(map(json.loads, lines)), requests, summary
    )


def test_a_fault_ends_its_agent_alone_and_leaves_exact_records(faults: Faults) -> None:
    assert Counter((record["entry"], record["outcome"]) for record in faults.records) == {
        ("raises", "ok"): 1,
        ("nonsense", "ok"): 1,
        ("unborn", "ok"): 1,
        ("bad-child", "ok"): 2,
        ("bad-side", "ok"): 1,
        ("steady", "ok"): 4,
    }
    assert len(faults.records) == faults.requests


def test_a_fault_ends_the_run_with_status_2_and_no_traceback(faults: Faults) -> None:
    assert faults.status == 2
    assert faults.summary["exit_status"] == 2
    assert "Traceback" not in faults.stdout
    assert not any("Traceback" in line for line in faults.stderr)


WRONG = {
    "raises": "no such file",
    "raises_at_once": "NoneType",
    "nonsense": "'have a break', which is no step",
    "unborn": "which is no session",
    "bad_child": "a child's fault",
    "bad_side": "a child's fault",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_fault_is_told_with_the_name_of_its_behaviour(faults: Faults, name: str) -> None:
    told = [line for line in faults.stderr if name in line.replace("'", " ").replace(":", " ").split()]
    assert any(WRONG[name] in line for line in told)


def test_a_fault_is_told_in_one_line(faults: Faults) -> None:
    before = (
        "looking for",
        "measuring",
        "the server's token counts",
        "http:",
        "forecast:",
        "to prefill",
        "not in the forecast:",
        "the client's own loop was",  # on a busy machine
        "turns started",
    )
    told = [line for line in faults.stderr if not line.startswith(before)]
    assert len(told) == len(WRONG), told
