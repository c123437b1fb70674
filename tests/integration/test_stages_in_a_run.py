"""Runs over time against a replay server, in one process and with two workers: who starts turns, and when."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from locust_agents import run_folder
from locust_agents.cluster import ports
from locust_agents.cluster.replay import ReplayServer, Script, chat_stream
from locust_agents.outcome import Outcome
from locust_agents.records import TurnRecord
from tests.patience import PATIENCE_S, is_sound

BIN = Path(sys.executable).parent
LOCUSTFILE = Path(__file__).parents[2] / "locustfiles" / "coding_agents.py"
# So often a run is made in which nothing is to stand still: what a machine that stalls for seconds spoils is when turns
# start and how many, never that one starts which must not.
TIMES = 3
# A start is stamped a moment after the plan was asked.
SLACK_S = 0.2
# Of one turn that lasts longer than a stage's first second, and one that is over at once.
LONG = chat_stream(["so ", "it ", "is"], 1.1, 0.01, usage=(400, 0, 3))
SHORT = chat_stream(["so ", "it ", "is"], 0.05, 0.01, usage=(400, 0, 3))
COMMON = """\
scale: 0.01
gaps: {scale: 0}
start: {apart: 0s}
curve: off
"""
PLAN = [(3, 1), (3, 4), (4, 1), (3, 4)]
STAGES = f"""\
name: one, four, one, four
stages: [{", ".join(f"{{for: {lasts_s}s, fixers: {agents}}}" for lasts_s, agents in PLAN)}]
drain: 10s
swarm:
  fixers: {{behaviour: fix_failing_test}}
{COMMON}"""


@dataclass(frozen=True)
class Run:
    """A run that has ended; `began` is when its load did, in UNIX seconds, `lasted_s` how long it went on."""

    status: int
    records: list[TurnRecord]
    summary: Mapping[str, Any]
    began: float
    lasted_s: float
    printed: str

    def start_s(self, turn: TurnRecord) -> float:
        """When it started, in seconds of the load."""
        return turn.wall_time - self.began

    def starters(self, from_s: float, until_s: float) -> set[str]:
        """The agents that started a turn in these seconds of the load."""
        return {turn.agent for turn in self.records if from_s <= self.start_s(turn) < until_s}


def outcome(status: int, out: Path, printed: str) -> Run:
    notes = [json.loads(line) for line in (out / "cluster.jsonl").read_text().splitlines()]
    began, ended = [note["time"] for note in notes if note["event"] in ("load", "drain")]
    summary = json.loads((out / "summary.json").read_text())
    return Run(status, list(run_folder.turns(out)), summary, began, ended - began, printed)


def local(folder: Path, scenario: str, server: ReplayServer) -> Run:
    (folder / "s.yaml").write_text(scenario)
    command = [str(BIN / "locust-agents"), "run", "s.yaml", "--attach", server.url, "--shared-ok", "--out", "out"]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert "Traceback" not in ended.stderr, ended.stderr
    return outcome(ended.returncode, folder / "out", ended.stdout)


def with_workers(folder: Path, scenario: str, server: ReplayServer, lost_after_turns: int | None = None) -> Run:
    """A headless master and two workers, as plain Locust has them.

    One of them may be lost; then the run ends when what is missing has been said.
    """
    (folder / "s.yaml").write_text(f"{scenario}server: {{attach: '{server.url}'}}\n")
    port = str(ports.free_ports(1))
    locust = [str(BIN / "locust"), "-f", str(LOCUSTFILE)]
    bind = ["--shared-ok", "--expect-workers", "2", "--master-bind-host", "127.0.0.1", "--master-bind-port", port]
    processes = [start([*locust, "--scenario", "s.yaml", "--headless", "--master", *bind], folder, "master.log")]
    processes += [start([*locust, "--worker", "--master-port", port], folder, f"worker-{n}.log") for n in (0, 1)]
    try:
        if lost_after_turns is not None:
            wait_for(processes[0], folder, lambda: turns_in(folder) >= lost_after_turns)
            (lost := processes.pop()).kill()
            lost.wait()
            wait_for(processes[0], folder, lambda: "agents missing" in (folder / "master.log").read_text())
            processes[0].send_signal(signal.SIGINT)
        status = end_of(processes, folder)
        assert {worker.wait(PATIENCE_S) for worker in processes[1:]} == {0}
    finally:
        for process in processes:
            process.kill()
            process.wait()
    said = "".join((folder / name).read_text() for name in ("master.log", "worker-0.log", "worker-1.log"))
    assert "Traceback" not in said, said
    [out] = (folder / "runs").iterdir()
    return outcome(status, out, said)


def end_of(processes: "Sequence[subprocess.Popen[bytes]]", folder: Path) -> int:
    """The master's status; it would wait for ever for a worker that could not begin."""
    deadline = time.monotonic() + PATIENCE_S
    while (status := processes[0].poll()) is None:
        is_well = time.monotonic() < deadline and all(worker.poll() in (None, 0) for worker in processes[1:])
        assert is_well, "".join(path.read_text() for path in sorted(folder.glob("*.log")))
        time.sleep(0.1)
    return status


def wait_for(master: "subprocess.Popen[bytes]", folder: Path, what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < deadline, (folder / "master.log").read_text()
        assert master.poll() is None, (folder / "master.log").read_text()
        time.sleep(0.1)


def turns_in(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("runs/*/turns.jsonl"))


def start(command: Sequence[str], folder: Path, log: str) -> "subprocess.Popen[bytes]":
    with (folder / log).open("wb") as out:
        return subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)


WAYS = {"local": local, "two workers": with_workers}


def runs(folder: Path, scenario: str, way: str = "local", script: Script = LONG) -> Iterator[Run]:
    """Some runs of a scenario, one after the other as they are asked for."""
    for number in range(TIMES):
        own = folder / str(number)
        own.mkdir()
        with ReplayServer([script]) as server:
            run = WAYS[way](own, scenario, server)
        assert is_sound(run.status, run.printed), run.printed
        yield run


def at_last(made: Iterator[Run], is_so: Callable[[Run], bool]) -> Run:
    """The first that is so."""
    for run in made:
        if is_so(run):
            return run
    raise AssertionError(f"it was never so, in {TIMES} runs")


def number_of(agent: str) -> int:
    return int(agent.rpartition(".")[2])


def planned(at_s: float) -> int:
    """How many agents may start a turn then."""
    ends_s = accumulate(lasts_s for lasts_s, _ in PLAN)
    return next((agents for end_s, (_, agents) in zip(ends_s, PLAN, strict=True) if at_s < end_s), 0)


def assert_as_planned(run: Run) -> None:
    """Nobody starts a turn whom the plan does not have."""
    assert {turn.outcome for turn in run.records} == {Outcome.OK}
    for turn in run.records:
        at_s = run.start_s(turn)
        assert number_of(turn.agent) < max(planned(at_s), planned(at_s - SLACK_S)), (turn.agent, at_s)
    agents = {turn.agent for turn in run.records}
    assert len(agents) == len(set(map(number_of, agents))), "the same agents from stage to stage"
    for agent in agents - {"fixers/0.0", "fixers/1.0"}:
        turns = sorted((turn for turn in run.records if turn.agent == agent), key=lambda turn: turn.wall_time)
        assert len({turn.session for turn in turns}) == 1, "who was parked goes on where it was"
        assert [turn.turn for turn in turns] == list(range(len(turns)))
    assert run.summary["missing"] is None


def all_take_part(run: Run) -> bool:
    """Whom the plan has starts turns in each stage."""
    assert_as_planned(run)
    ends_s = list(accumulate(lasts_s for lasts_s, _ in PLAN))
    return all(
        set(map(number_of, run.starters(end_s - lasts_s + SLACK_S, end_s))) == set(range(agents))
        for end_s, (lasts_s, agents) in zip(ends_s, PLAN, strict=True)
    )


@pytest.mark.parametrize("way", WAYS)
def test_turns_start_only_as_the_plan_allows(way: str, tmp_path: Path) -> None:
    run = at_last(runs(tmp_path, STAGES, way), all_take_part)
    if way == "two workers":
        assert {turn.worker for turn in run.records} == {0, 1}


@pytest.mark.parametrize("way", WAYS)
def test_one_agent_alone_takes_all_turns(way: str, tmp_path: Path) -> None:
    """A worker without a slot neither keeps turns for itself nor keeps the run from its end."""
    scenario = f"name: one\nturns: 9\ndrain: 5s\nswarm: {{fixer: {{behaviour: fix_failing_test}}}}\n{COMMON}"
    with ReplayServer([SHORT]) as server:
        run = WAYS[way](tmp_path, scenario, server)
    assert is_sound(run.status, run.printed), run.printed
    assert len(run.records) == 9
    assert {turn.agent.rpartition(".")[2] for turn in run.records} == {"0"}


def due_s(run: Run, turn: TurnRecord) -> float:
    """When its session should have begun, in seconds of the load."""
    return run.start_s(turn) - (turn.late_s or 0.0)


def firsts(run: Run) -> list[TurnRecord]:
    return [turn for turn in run.records if turn.kind == "first"]


def is_on_the_clock(run: Run, entry: str) -> bool:
    """One session each half second; who hears of the clock late counts from when it heard."""
    due = sorted(round(due_s(run, turn) * 2) for turn in firsts(run) if turn.entry == entry)
    return due == list(range(len(due))) and len(due) >= 9


def test_two_workers_start_each_session_of_the_clock_once(tmp_path: Path) -> None:
    """Locust deals the slots of two entries so that each worker has those of one."""
    scenario = f"""\
name: on a clock
duration: 4250ms
drain: 10s
arrival: {{rate: 2/s, process: constant}}
swarm:
  a: {{behaviour: review_diff, agents: 2, with: {{reads: 1}}}}
  b: {{behaviour: review_diff, agents: 2, with: {{reads: 1}}}}
{COMMON}"""
    made = runs(tmp_path, scenario, "two workers", SHORT)
    run = at_last(made, lambda run: is_on_the_clock(run, "a") and is_on_the_clock(run, "b"))
    assert run.summary["late"]["waiting"] == 0


def test_who_is_parked_takes_no_session_of_the_clock(tmp_path: Path) -> None:
    """Or it would lie with a sleeper until the next stage, while another agent is free."""
    scenario = f"""\
name: parked
stages: [{{for: 4s, fixer: 1}}, {{for: 2s, fixer: 4}}]
drain: 10s
arrival: {{rate: 2/s, process: constant}}
swarm: {{fixer: {{behaviour: review_diff, with: {{reads: 1}}}}}}
{COMMON}"""

    def all_are_the_only_one_s(run: Run) -> bool:
        assert not {turn.agent for turn in run.records if run.start_s(turn) < 4.0} - {"fixer/0.0"}
        early = [turn for turn in firsts(run) if due_s(run, turn) < 2.9]
        return len(early) == 6 and {turn.agent for turn in early} == {"fixer/0.0"}

    at_last(runs(tmp_path, scenario, script=SHORT), all_are_the_only_one_s)


def test_who_must_go_is_cut_and_comes_back(tmp_path: Path) -> None:
    stages = "stages: [{for: 2s, fixers: 2}, {for: 2s, fixers: 1}, {for: 2s, fixers: 2}]\non_retire: cut"
    scenario = f"name: cut\n{stages}\ndrain: 10s\nswarm: {{fixers: {{behaviour: fix_failing_test}}}}\n{COMMON}"

    def is_once(run: Run) -> bool:
        cuts = [turn for turn in run.records if turn.outcome is Outcome.CUT]
        for cut in cuts:
            assert (cut.agent, cut.error) == ("fixers/0.1", "the plan had this agent no more")
            assert run.start_s(cut) < 2.0 + SLACK_S
            assert run.start_s(cut) + cut.end_s >= 2.0
        assert run.starters(2.0 + SLACK_S, 4.0) <= {"fixers/0.0"}
        return len(cuts) == 1 and run.starters(4.0, 6.0) == {"fixers/0.0", "fixers/0.1"}

    at_last(runs(tmp_path, scenario), is_once)


def test_a_slow_server_cannot_hide_its_queue(tmp_path: Path) -> None:
    """One agent has a session of five long turns, while one a second is due."""
    scenario = f"""\
name: too slow
duration: 4s
drain: cut
arrival: {{rate: 1/s, process: constant}}
swarm: {{asker: {{behaviour: review_diff, with: {{reads: 4}}}}}}
{COMMON}"""
    with ReplayServer([LONG]) as server:
        run = local(tmp_path, scenario, server)
    late = run.summary["late"]
    assert late["sessions"] == late["waiting"] + 1 >= 4
    assert late["max"]["is_more"]
    assert late["max"]["value"] > 2
    assert "never started" in run.printed


def test_a_duration_is_kept_to_the_moment(tmp_path: Path) -> None:
    """Not to the next second, at which the run is looked at."""
    scenario = f"name: d\nduration: 2100ms\nswarm: {{fixer: {{behaviour: fix_failing_test}}}}\n{COMMON}"

    def is_kept(run: Run) -> bool:
        assert max(map(run.start_s, run.records)) < run.lasted_s
        return bool(run.starters(1.5, 2.1)) and 2.1 <= run.lasted_s < 2.4

    at_last(runs(tmp_path, scenario, script=SHORT), is_kept)


def test_nor_behind_the_call_that_a_session_begins_with(tmp_path: Path) -> None:
    """Before each session's own first turn are a call for a title and more than a second; two a second are due."""
    scenario = f"""\
name: titles
duration: 4s
drain: 10s
arrival: {{rate: 2/s, process: constant}}
swarm: {{asker: {{behaviour: title_call}}}}
{COMMON}"""
    made = runs(tmp_path, scenario, script=SHORT)
    run = at_last(made, lambda run: sum(turn.kind == "first" for turn in run.records) >= 2)
    for kind in ("side", "first"):
        turns = sorted((turn for turn in run.records if turn.kind == kind), key=lambda turn: turn.wall_time)
        assert len(turns) >= 2
        late_s = [turn.late_s or 0.0 for turn in turns]
        assert late_s == sorted(late_s), "ever later"
        assert late_s[1] > 0.6
    due = sorted((t.wall_time - (t.late_s or 0.0) - run.began) * 2 for t in run.records if t.kind == "side")
    assert [round(place) for place in due] == list(range(len(due)))
    assert run.summary["late"]["max"]["value"] > 0.6


def test_warm_up_is_recorded_and_not_counted(tmp_path: Path) -> None:
    scenario = f"name: w\nturns: 7\nwarm_up: 3 turns\nswarm: {{fixer: {{behaviour: fix_failing_test}}}}\n{COMMON}"
    with ReplayServer([SHORT]) as server:
        run = local(tmp_path, scenario, server)
        assert len(run.records) == 7
        assert (run.summary["turns"], run.summary["window"]["warm_up_turns"]) == (4, 3)
        assert "3 turns of warm-up left out" in run.printed
        shown = subprocess.run(
            [str(BIN / "locust-agents"), "show", str(tmp_path / "out")], capture_output=True, text=True, check=True
        )
    assert shown.stdout.splitlines()[:-1] == run.printed.splitlines()[:-1]


def test_the_agents_of_a_lost_worker_are_missing(tmp_path: Path) -> None:
    """Locust notices after some four seconds; what is missing is said from the tenth on."""
    swarm = "swarm: {a: {behaviour: fix_failing_test, agents: 4}}"
    scenario = f"name: lost\nduration: 300s\ndrain: cut\n{swarm}\n{COMMON}"
    with ReplayServer([LONG]) as server:
        run = with_workers(tmp_path, scenario, server, lost_after_turns=4)
    assert run.summary["missing"] == [2, 4]
    assert "agents missing 2 of 4" in run.printed
