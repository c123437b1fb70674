"""Checks of the answers, through the driver against a replay server: what is recorded, and what is left alone."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE_S

SCRIPT = Path(__file__).parent / "gevent_scripts" / "drive_checks.py"
AGENTS = ("fixers/0.0", "fixers/0.1")


@dataclass(frozen=True)
class Run:
    """Of two agents with five turns each, asked behind their second and fourth."""

    records: list[dict[str, Any]]
    asked: list[dict[str, Any]]
    is_idle: bool

    def canaries(self, *fields: str) -> list[tuple[Any, ...]]:
        found = [record for record in self.records if record["kind"] == "canary"]
        return sorted(tuple(record[field] for field in fields) for record in found)

    def turns(self, agent: str) -> list[dict[str, Any]]:
        return [record for record in self.records if record["agent"] == agent and record["kind"] != "canary"]


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    values: dict[str, Any] = json.loads(done.stdout)
    return values


@pytest.fixture(scope="module")
def runs(made: dict[str, Any]) -> dict[str, Run]:
    return {name: Run(**run) for name, run in made["runs"].items()}


@pytest.mark.parametrize(
    ("name", "outcome", "verdict", "remark"),
    [
        ("right", "ok", "right", "the server remembers"),
        ("swapped", "ok", "foreign_answer", "it gives each agent the other's answer"),
        ("looped", "ok", "looped", "the same word over and over"),
        ("refused", "http_error", None, "a canary turn that fails is a failure, and no wrong answer"),
    ],
)
def test_verdicts_on_code_words(runs: dict[str, Run], name: str, outcome: str, verdict: str, remark: str) -> None:
    wanted = [(agent, turn, outcome, verdict) for agent in AGENTS for turn in (1, 3)]
    assert runs[name].canaries("agent", "turn", "outcome", "canary") == wanted, remark


def test_reasoning_that_our_few_tokens_cut_is_no_failure(runs: dict[str, Run]) -> None:
    found = runs["thought"].canaries("agent", "turn", "outcome", "canary", "canary_detail")
    assert found == [
        (AGENTS[0], 1, "ok", "right", None),
        (AGENTS[0], 3, "ok", None, "not judged: cut in its reasoning"),
        (AGENTS[1], 1, "ok", None, "not judged: cut in its reasoning"),
        (AGENTS[1], 3, "ok", None, "not judged: cut in its reasoning"),
    ]


def test_a_foreign_answer_says_whose_it_was(runs: dict[str, Run]) -> None:
    for agent, detail in runs["swapped"].canaries("agent", "canary_detail"):
        other = next(name for name in AGENTS if name != agent)
        assert f"is a word of {other}#0; asked for " in detail


@pytest.mark.parametrize(("name", "same"), [("same", True), ("different", False)])
def test_identity_in_the_crowd(runs: dict[str, Run], name: str, same: bool) -> None:
    wanted = [(agent, turn, None, same) for agent in AGENTS for turn in (1, 3)]
    assert runs[name].canaries("agent", "turn", "canary", "same") == wanted
    details = {detail for (detail,) in runs[name].canaries("canary_detail")}
    assert details == ({None} if same else {"differs at character 7: alone 'wo', in the crowd 'oo'"})


def test_questions_are_turns_of_their_own_and_change_no_other(runs: dict[str, Run]) -> None:
    for run in runs.values():
        assert run.is_idle
        for agent in AGENTS:
            turns = [(record["kind"], record["turn"], record["expected_tokens"]) for record in run.turns(agent)]
            later = [("later", turn, 403) for turn in range(1, 5)]
            assert turns[1:] == later
            assert turns[0][:2] == ("first", 0)
            assert {record["canary"] for record in run.turns(agent)} == {None}


def test_a_question_is_sent_behind_the_history_and_not_kept(runs: dict[str, Run]) -> None:
    bodies = runs["right"].asked
    questions = [body for body in bodies if "Answer with the code words" in body["messages"][-1]["content"]]
    assert [(body["max_tokens"], body["temperature"]) for body in questions] == [(48, 0)] * 4
    assert all("code words alone" not in json.dumps(body) for body in bodies if body not in questions)
    last = max((body for body in bodies if body not in questions), key=lambda body: len(body["messages"]))
    assert [message["role"] for message in last["messages"]][1:] == ["user", "assistant"] * 4 + ["user"]
    for body in questions:
        assert any(
            other["messages"][: len(body["messages"]) - 2] == body["messages"][:-2]
            for other in bodies
            if other is not body
        ), "it begins as the agent's own turn did"


def test_nothing_is_planted_where_nothing_is_asked(runs: dict[str, Run]) -> None:
    for name in ("unchecked", "same"):
        assert "code word" not in json.dumps(runs[name].asked)


@pytest.mark.parametrize(
    ("name", "checks", "told", "asked", "remark"),
    [
        ("nothing", None, "", 0, "no key, no request"),
        ("words", (5, True, None), "", 2, "asked once more to know a tiny model"),
        ("identity", (20, False, "one, two"), "", 2, "its own number of turns"),
        ("both", (5, True, "one, two"), "", 2, "words and identity"),
        (
            "tiny",
            (5, False, "The work is done and every test passes now without any warning"),
            "the tiny model cannot be asked for a code word; identity is checked instead",
            2,
            "known by what it says, where it is attached to",
        ),
        (
            "unlike itself",
            None,
            "the server did not answer the same way twice, alone, to the identity prompt: that is not checked",
            2,
            "a crowd cannot be blamed for it",
        ),
        ("unlike itself, words", (20, True, None), "", 2, "words do not need it"),
        ("refused", None, "the server answered nothing to the identity prompt: that is not checked", 2, "an error"),
    ],
)
def test_what_a_run_checks(
    made: dict[str, Any], name: str, checks: tuple[Any, ...] | None, told: str, asked: int, remark: str
) -> None:
    found = made["befores"][name]
    wanted = None if checks is None else dict(zip(("every", "words", "alone"), checks, strict=True))
    assert found == {"checks": wanted, "told": [told] if told else [], "asked": asked}, remark
