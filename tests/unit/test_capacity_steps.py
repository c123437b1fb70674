"""A search by way of a made-up server: what is run, what is repeated, what ends it, and what it says."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from locust_agents.capacity import command, curve, document
from locust_agents.capacity import question as capacity_question
from locust_agents.capacity import search as capacity
from locust_agents.capacity.question import Question
from locust_agents.capacity.sentence import sentence
from locust_agents.capacity.steps import Series
from locust_agents.errors import ClusterError, LocustAgentsError, PluginError, ScenarioError
from locust_agents.plugins import registry
from locust_agents.scenarios import loader
from locust_agents.scenarios.loader import Override
from locust_agents.scenarios.model import Scenario
from locust_agents.sweep.child import Answer

SCENARIO: dict[str, Any] = {
    "name": "made up",
    "server": {"attach": "127.0.0.1:9"},
    "duration": "60s",
    "swarm": {"fixers": {"behaviour": "fix_failing_test"}},
    "limits": {"later.ttft.p95": "20s"},
    "capacity": {"over": "swarm.fixers.agents", "to": 8, "turns": 20},
}
TWO = {"fixers": {"behaviour": "fix_failing_test"}, "giant": {"behaviour": "giant_prompt"}}


def reader(**values: Any) -> Callable[[Sequence[Override]], Scenario]:
    kept = {key: value for key, value in {**SCENARIO, **values}.items() if value is not None}

    def read(overrides: Sequence[Override]) -> Scenario:
        return loader.parse(json.dumps(kept), "s.yaml", registry.parameters(), registry.profiles(), overrides)

    return read


def ask(over: str | None = None, lowest: str | None = None, highest: str | None = None, **values: Any) -> Question:
    return capacity_question.ask(reader(**values), over, lowest, highest)


Waits = Callable[[int, int, int], float]
"""The TTFT of a turn, by the number of agents, of the run of this many, and of the turn."""


@dataclass
class MadeUp:
    """A server whose turns are written at once; `odd` are the answers, summaries and notes of single runs by name."""

    waits: Waits
    odd: dict[str, dict[str, Any]] = field(default_factory=dict)
    ordered: list[tuple[str, int, int, bool]] = field(default_factory=list)

    def run(self, scenario: str, out: Path, shared_ok: bool) -> Answer:
        asked = yaml.safe_load(scenario)
        agents = sum(entry["agents"] for entry in asked["swarm"].values())
        assert not {"duration", "sessions", "capacity", "sweep"} & asked.keys()
        self.ordered.append((out.name, agents, asked["turns"], shared_ok))
        odd = self.odd.get(out.name, {})
        out.mkdir()
        (out / "scenario.yaml").write_text(scenario)
        number = len([name for name, *_ in self.ordered if name.split("-")[0] == out.name.split("-")[0]])
        lines = (self._turn(n, agents, number, out.name, odd.get("turn", {})) for n in range(asked["turns"]))
        (out / "turns.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        (out / "summary.json").write_text(json.dumps(odd.get("summary", {})))
        (out / "cluster.jsonl").write_text(json.dumps(odd.get("note", {})))
        return Answer(odd.get("status", 0), odd.get("error"))

    def _turn(self, n: int, agents: int, number: int, run: str, odd: dict[str, Any]) -> dict[str, Any]:
        """Sessions of four turns, one turn begun every hundred seconds."""
        agent, turn = n % agents, n // agents
        wait_s = self.waits(agents, number, n) + n % 7 / 100
        who = {
            "run": run,
            "entry": "fixers",
            "agent": f"fixers/0.{agent}",
            "session": f"{agent}-{turn // 4}",
            "turn": turn,
        }
        when = {"wall_time": 100.0 * turn, "sent_s": 0.0, "first_token_s": wait_s, "end_s": wait_s + 1}
        return {"outcome": "ok", "kind": "later", **who, **when, **odd}


def series(folder: Path, server: MadeUp, question: Question | None = None) -> Series:
    return Series(question or ask(), server, folder, False, lambda _: None, lambda: None)


def search(made: Series) -> Series:
    assert [step.value for step in made.search()] == [step.value for step in made.steps]
    return made


def five_a_head(agents: int, number: int = 1, n: int = 0) -> float:
    """Four agents wait for 17.5 s, five for 22.5 s."""
    del number, n
    return 5.0 * agents - 2.5


def two_minds(n: int) -> float:
    """Half of the turns wait too long: no number of them tells of a median."""
    return 15.0 if n % 2 else 25.0


def test_the_known_number_is_found_and_said(tmp_path: Path) -> None:
    server = MadeUp(five_a_head)
    found = search(series(tmp_path, server))
    assert curve.text(found).splitlines() == [
        "agents  turns  later TTFT p95     90 % between  verdict  waiting p50  worst",
        "     1     25          2.56 s  2.55 s – 2.56 s  keeps            3 %    3 %",
        "     2     25          7.56 s  7.55 s – 7.56 s  keeps           10 %   10 %",
        "     4     25          17.6 s  17.6 s – 17.6 s  keeps           24 %   24 %",
        "     5     25          22.6 s  22.6 s – 22.6 s  breaks          32 %   32 %",
        "     6     30          27.6 s  27.6 s – 27.6 s  breaks          38 %   38 %",
        "     8     40          37.6 s  37.5 s – 37.6 s  breaks          49 %   49 %",
        "at 4 agents, waiting for a first token takes 24 % of the median agent's session,",
        "24 % of fixers/0.2's",
        "4 agents keep later TTFT p95 ≤ 20 s; 5 do not (22.6 s)",
    ]
    assert command.exit_status(found) == 0


def test_each_step_has_a_run_of_its_own_and_asks_for_others_once(tmp_path: Path) -> None:
    server = MadeUp(five_a_head)
    search(series(tmp_path, server))
    # 5 turns of each agent at least; after the first, what is open on the server is ours
    assert server.ordered == [
        ("1-1", 1, 25, False),
        ("2-1", 2, 25, True),
        ("4-1", 4, 25, True),
        ("8-1", 8, 40, True),
        ("6-1", 6, 30, True),
        ("5-1", 5, 25, True),
    ]


def test_a_noisy_step_is_repeated_and_all_of_its_turns_are_judged_together(tmp_path: Path) -> None:
    server = MadeUp(lambda _, number, n: two_minds(n) if number == 1 else 1.0)
    step = search(series(tmp_path, server, ask(highest="4", limits={"later.ttft.p50": "20s"}))).step(2)
    assert step is not None
    assert ([run.name for run in step.runs], len(step.records), step.verdict) == (["2-1", "2-2"], 40, "keeps")


def test_a_step_that_stays_too_noisy_is_undecided(tmp_path: Path) -> None:
    server = MadeUp(lambda agents, _, n: two_minds(n) if agents == 3 else 1.0 if agents < 3 else 30.0)
    found = search(series(tmp_path, server, ask(limits={"later.ttft.p50": "20s"})))
    assert [name for name, *_ in server.ordered if name[0] == "3"] == ["3-1", "3-2", "3-3"]
    assert said(found) == (
        "2 agents keep later TTFT p50 ≤ 20 s; 3 is undecided (later TTFT p50 15.1 s – 25.0 s); 4 do not (30.0 s)"
    )
    assert command.exit_status(found) == 0


def test_a_step_with_too_few_turns_is_repeated_with_more(tmp_path: Path) -> None:
    server = MadeUp(five_a_head, {"1-1": {"turn": {"kind": "first"}}})
    search(series(tmp_path, server, ask(highest="2", warm_up="3 turns")))
    # none of the first run counts for p95 of later turns; three of each run are its warm-up
    assert [turns for name, _, turns, _ in server.ordered if name[0] == "1"] == [28, 28]


def said(found: Series) -> str:
    return sentence(found, capacity.found(found.known()))


# values of the scenario, how long turns wait, what is odd about runs, the sentence, the exit status
ENDS: list[tuple[str, dict[str, Any], Waits, dict[str, dict[str, Any]], str, int]] = [
    (
        "even one is too many",
        {},
        lambda agents, *_: 25.0 * agents,
        {},
        "even 1 agent does not keep later TTFT p95 ≤ 20 s (25.1 s)",
        1,
    ),
    (
        "even those that it begins with are too many",
        {"capacity": {**SCENARIO["capacity"], "from": 2}},
        lambda *_: 25.0,
        {},
        "even 2 agents do not keep later TTFT p95 ≤ 20 s (25.1 s)",
        1,
    ),
    (
        "all of them are kept",
        {},
        lambda *_: 1.0,
        {},
        "8 agents keep later TTFT p95 ≤ 20 s; no more were tried (--to)",
        0,
    ),
    (
        "another limit than the only one that was written breaks",
        {},
        lambda *_: 1.0,
        {"2-1": {"turn": {"outcome": "reset"}}},
        "1 agent keeps later TTFT p95 ≤ 20 s; 2 do not (failures 100 %)",
        0,
    ),
    (
        "two limits",
        {"limits": {"later.ttft.p95": "20s", "ttft.max": "30s"}},
        five_a_head,
        {},
        "4 agents keep later TTFT p95 ≤ 20 s and TTFT max ≤ 30 s; 5 do not (later TTFT p95 22.6 s)",
        0,
    ),
    (
        "answers are not right",
        {},
        lambda *_: 1.0,
        {"4-1": {"turn": {"canary": "foreign_answer"}}, "3-1": {"turn": {"canary": "right"}}},
        "3 agents keep later TTFT p95 ≤ 20 s; 4 do not (0 % of its answers were right)",
        0,
    ),
    (
        "nobody is answered",
        {},
        lambda *_: 1.0,
        {"1-1": {"status": 3, "turn": {"outcome": "http_error", "first_token_s": None}}},
        "even 1 agent does not keep later TTFT p95 ≤ 20 s (failures 100 %)",
        3,
    ),
    (
        "no run can be trusted",
        {"capacity": {**SCENARIO["capacity"], "to": 2, "repeats": 0}},
        lambda *_: 1.0,
        {name: {"status": 4, "summary": {"untrusted": "the machine slept"}} for name in ("1-1", "2-1")},
        "undecided whether 1 agent keeps later TTFT p95 ≤ 20 s (not to be trusted)",
        4,
    ),
    (
        "a run that cannot be trusted is made again",
        {"capacity": {**SCENARIO["capacity"], "to": 2}},
        lambda *_: 1.0,
        {"1-1": {"status": 4, "summary": {"untrusted": "the machine slept"}}},
        "2 agents keep later TTFT p95 ≤ 20 s; no more were tried (--to)",
        0,
    ),
]


@pytest.mark.parametrize(
    ("values", "waits", "odd", "words", "status"), [pytest.param(*row[1:], id=row[0]) for row in ENDS]
)
def test_ends(
    values: dict[str, Any], waits: Waits, odd: dict[str, dict[str, Any]], words: str, status: int, tmp_path: Path
) -> None:
    found = search(series(tmp_path, MadeUp(waits, odd), ask(**values)))
    assert (said(found), command.exit_status(found)) == (words, status)
    assert all(len(line) <= 80 for line in curve.text(found).splitlines())
    written = json.loads(json.dumps(document.document(found, status)))
    assert (written["sentence"], written["exit_status"]) == (words, status)


def test_a_key_that_is_no_number_of_agents(tmp_path: Path) -> None:
    key = "swarm.fixers.with.reads"
    found = search(series(tmp_path, MadeUp(lambda *_: 1.0), ask(key, "2", "4")))
    assert said(found) == "fixers.with.reads 4 keeps later TTFT p95 ≤ 20 s; no more were tried (--to)"


# -- what ends a search: the odd run, the error, a part of its text
FATAL: list[tuple[str, dict[str, Any], type[BaseException], str]] = [
    ("the server died", {"status": 3, "error": "rank 1 has ended"}, ClusterError, "rank 1"),
    ("others use the server", {"status": 2, "error": "others use this server"}, ScenarioError, "others"),
    ("a plugin failed", {"status": 2, "summary": {"plugin_faults": ["mine.py:3: KeyError"]}}, PluginError, "mine"),
    ("the run was interrupted", {"status": 130}, KeyboardInterrupt, "^$"),
    ("another server answers than before", {"note": {"event": "launch"}}, ClusterError, "died between two steps"),
]


@pytest.mark.parametrize(("odd", "error", "words"), [pytest.param(*row[1:], id=row[0]) for row in FATAL])
def test_what_ends_a_search(odd: dict[str, Any], error: type[BaseException], words: str, tmp_path: Path) -> None:
    made = series(tmp_path, MadeUp(five_a_head, {"2-1": odd}))
    with pytest.raises(error, match=words):
        search(made)
    assert [step.value for step in made.steps] == [1]
    assert said(made) == "1 agent keeps later TTFT p95 ≤ 20 s"


def test_failures_of_a_server_that_is_gone_are_no_figures(tmp_path: Path) -> None:
    def gone() -> None:
        raise ClusterError("nothing listens")

    made = series(tmp_path, MadeUp(five_a_head, {"2-1": {"turn": {"outcome": "refused"}}}))
    made.demand_server = gone
    with pytest.raises(ClusterError, match="nothing listens"):
        search(made)
    assert [step.value for step in made.steps] == [1]


# -- what is asked

REFUSED: list[tuple[str, tuple[str | None, ...], dict[str, Any], str]] = [
    ("two entries", (None, None, None), {"capacity": None, "swarm": TWO}, "--over swarm.fixers.agents"),
    ("no such entry", ("swarm.fixer.agents", None, None), {}, "--over: .*no entry is called 'fixer'; did you mean"),
    ("a key of the server", ("server.options.decode-concurrency", None, None), {"server": {}}, "keeps one server"),
    ("no limit but failures", (None, None, None), {"limits": {"failures": "0%"}}, "--set limits.later.ttft.p95=20s"),
    ("a number that is none", (None, None, "lots"), {}, "--to: .*'lots'"),
    ("ends the wrong way round", (None, "4", "2"), {}, "--to: .*must be more than from"),
    ("stages", ("seed", None, None), {"duration": None, "stages": [{"for": "9s", "fixers": 1}]}, "stages: "),
]


@pytest.mark.parametrize(("options", "values", "words"), [pytest.param(*row[1:], id=row[0]) for row in REFUSED])
def test_what_cannot_be_asked(options: tuple[str | None, ...], values: dict[str, Any], words: str) -> None:
    with pytest.raises(LocustAgentsError, match=words):
        ask(*options, **values)


@pytest.mark.parametrize(
    ("options", "values", "over", "ends", "remark"),
    [
        ((None, None, None), {}, "swarm.fixers.agents", (1, 8), "the scenario's own"),
        ((None, None, None), {"capacity": None}, "swarm.fixers.agents", (1, 32), "the only entry"),
        (("swarm.giant.agents", "2", "3"), {"swarm": TWO}, "swarm.giant.agents", (2, 3), "options come first"),
        ((None, "2", None), {"capacity": None}, "swarm.fixers.agents", (2, 32), "an end alone"),
    ],
)
def test_what_is_asked(
    options: tuple[str | None, ...], values: dict[str, Any], over: str, ends: tuple[int, int], remark: str
) -> None:
    search = ask(*options, **values).search
    assert (search.over, (search.lowest, search.highest)) == (over, ends), remark


@pytest.mark.parametrize(
    ("values", "agents", "turns", "remark"),
    [
        ({}, 2, 25, "p95 of 20 later turns, and some to spare"),
        ({}, 10, 50, "five of each agent"),
        ({"limits": {"ttft.max": "20s"}}, 2, 20, "as the scenario says"),
        ({"limits": {"ttft.p99": "20s"}}, 2, 125, "p99 of a hundred"),
        ({"swarm": TWO}, 4, 125, "the giant takes one turn in five"),
    ],
)
def test_how_many_turns_a_step_has(values: dict[str, Any], agents: int, turns: int, remark: str) -> None:
    question = ask("swarm.fixers.agents", None, "16", **values)
    assert capacity_question.turns(question, capacity_question.step(question, agents)) == turns, remark
