"""Twins in a run against a replay server, in one process and two: equal work, other words, and what is said."""

import json
from dataclasses import dataclass

import pytest

from locust_agents.cluster.replay import ReplayServer, chat_stream
from locust_agents.records import TurnRecord
from tests.integration import test_stages_in_a_run as runs
from tests.patience import is_sound

ANSWER = chat_stream(["so ", "it ", "is"], 0.01, 0.01, usage=(400, 0, 3))
SCENARIO = """\
name: twins
sessions: 4
swarm:
  alone: {behaviour: explore_repo, agents: 3, with: {searches: 1, reads: 1}}
  beside: {twin_of: alone}
scale: 0.05
outputs: drawn
gaps: {scale: 0.01, cap: 0.05s}
start: {apart: 0s}
curve: off
drain: 10s
"""
# 3 agents, 4 sessions of each, 3 turns of each
SESSIONS, PAIRS = 12, 36
_Place = tuple[int, int, int]


@dataclass(frozen=True)
class Twins:
    """A run that has ended; `firsts` are the first messages of its sessions, one of each. `page` is its summary.md."""

    run: runs.Run
    firsts: set[str]
    page: str
    processes: int

    def of(self, entry: str) -> dict[_Place, TurnRecord]:
        """By the numbers of agent, session and turn."""
        return {_place(turn): turn for turn in self.run.records if turn.entry == entry}


def _place(turn: TurnRecord) -> _Place:
    name, _, session = turn.session.partition("#")
    return int(name.rpartition(".")[2]), int(session), turn.turn


@pytest.fixture(scope="module", params=list(runs.WAYS))
def twins(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Twins:
    folder = tmp_path_factory.mktemp("twins")
    with ReplayServer([ANSWER]) as server:
        run = runs.WAYS[request.param](folder, SCENARIO, server)
        asked = [json.loads(one.body) for one in server.requests() if one.method == "POST"]
    assert is_sound(run.status, run.printed), run.printed
    firsts = {body["messages"][1]["content"] for body in asked if body["max_tokens"] > 1}
    [page] = folder.glob("**/summary.md")
    return Twins(run, firsts, page.read_text(), 1 + list(runs.WAYS).index(request.param))


def test_turns_of_a_pair_are_of_one_size(twins: Twins) -> None:
    alone, beside = twins.of("alone"), twins.of("beside")
    assert len(alone.keys() & beside.keys()) == PAIRS
    assert len({turn.worker for turn in twins.run.records}) == twins.processes
    for place in alone:
        assert abs(alone[place].request_bytes - beside[place].request_bytes) <= 60, place


def test_no_session_of_a_twin_begins_as_one_of_the_other(twins: Twins) -> None:
    assert len(twins.firsts) == 2 * SESSIONS


def test_the_run_says_what_the_twin_waited_longer(twins: Twins) -> None:
    [pairs] = twins.run.summary["pairs"]
    assert (pairs["entry"], pairs["repeats"]) == ("beside", "alone")
    assert (pairs["pairs"], pairs["alike"], pairs["sessions"]) == (PAIRS, PAIRS, SESSIONS)
    sign = "−" if pairs["least_s"] < 0 else "+"
    for said in (twins.run.printed, twins.page):
        assert f"paired beside against alone: TTFT {sign}" in said
        assert f"over {PAIRS} pairs" in " ".join(said.split())
