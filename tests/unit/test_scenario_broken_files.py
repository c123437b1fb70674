"""Broken scenario files, given to the command: each ends with status 2, and with exactly these lines on stderr."""

import subprocess
import sys
from pathlib import Path

import pytest

from locust_agents import cli

ONE = "swarm: {a: {behaviour: explore_repo}}\n"
TWO = "swarm: {a: {behaviour: explore_repo}, b: {behaviour: explore_repo}}\n"
A_DURATION = "expected a duration such as 90s, 2m, 1m30s or 250ms"

TABLE: list[tuple[str, str, list[str]]] = [
    ("nothing at all", "", ["s.yaml:1:1: the file holds no scenario; see the shipped quickstart.yaml"]),
    (
        "no YAML",
        ONE + "stages: [{for: 1s",
        ["s.yaml:2:18: not YAML: while parsing a flow mapping, expected ',' or '}', but got '<stream end>'"],
    ),
    ("a mistyped key", ONE + "stagess: []", ["s.yaml:2:1: stagess: unknown key; did you mean 'stages'?"]),
    (
        "stages and a duration",
        ONE + "duration: 9s\nstages: [{for: 9s, a: 1}]",
        ["s.yaml:2:1: duration: excludes stages, whose times end the run; keep one of the two"],
    ),
    (
        "stages and every other end",
        ONE + "turns: 9\nsessions: 1\nstages: [{for: 9s, a: 1}]",
        [
            "s.yaml:2:1: turns: excludes stages, whose times end the run; keep one of the two",
            "s.yaml:3:1: sessions: excludes stages, whose times end the run; keep one of the two",
        ],
    ),
    (
        "no stage in stages",
        ONE + "stages: []",
        ["s.yaml:2:9: stages: needs at least one stage, such as {for: 60s, fixers: 1}"],
    ),
    ("stages that are one", ONE + "stages: {for: 9s, a: 1}", ["s.yaml:2:9: stages: expected a list, got a mapping"]),
    ("a stage that is a time", ONE + "stages: [9s]", ["s.yaml:2:10: stages[0]: expected a mapping, got '9s'"]),
    (
        "a stage without end",
        ONE + "stages:\n- {for: 9s, a: 1}\n- {a: 2}",
        ["s.yaml:4:3: stages[1].for: this key is missing"],
    ),
    ("a stage of no time", ONE + "stages: [{for: 0s, a: 1}]", ["s.yaml:2:16: stages[0].for: must be more than 0"]),
    (
        "a stage of an entry that is not there",
        TWO + "stages: [{for: 9s, a: 1, b: 2, bb: 1}]",
        ["s.yaml:2:32: stages[0].bb: no entry is called 'bb'; did you mean 'b'?"],
    ),
    (
        "half an agent",
        ONE + "stages: [{for: 9s, a: 1}, {for: 9s, a: 1.5}]",
        ["s.yaml:2:40: stages[1].a: expected a whole number, got 1.5"],
    ),
    (
        "an entry that no stage has",
        TWO + "stages: [{for: 9s, a: 1}]",
        ["s.yaml:1:39: swarm.b: no stage has an agent of it; give it a number in one, or remove it"],
    ),
    (
        "agents that the stages deny",
        "swarm: {a: {behaviour: explore_repo, agents: 8}}\nstages: [{for: 9s, a: 4}]",
        ["s.yaml:1:46: swarm.a.agents: the stages have up to 4 of them; write that, or leave it to the stages"],
    ),
    (
        "an entry called for",
        "swarm: {for: {behaviour: explore_repo}, a: {behaviour: explore_repo}}\nstages: [{for: 1, a: 1}]",
        ["s.yaml:1:9: swarm.for: 'for' is a word of the stages; choose another name for the entry"],
    ),
    (
        "retiring without stages",
        ONE + "on_retire: cut",
        [
            "s.yaml:2:1: on_retire: says what becomes of agents that a stage has no room for; write stages: too, "
            "or remove it"
        ],
    ),
    (
        "another way to retire",
        ONE + "stages: [{for: 1s, a: 1}]\non_retire: park",
        ["s.yaml:3:12: on_retire: expected 'finish' or 'cut', got 'park'"],
    ),
    (
        "a rate without a unit",
        ONE + "arrival: {rate: 2}",
        ["s.yaml:2:17: arrival.rate: expected a rate such as 0.2/s, 12/min or 40/h, got 2"],
    ),
    (
        "a rate by the day",
        ONE + "arrival: 9/day",
        ["s.yaml:2:10: arrival.rate: expected a rate such as 0.2/s, 12/min or 40/h, got '9/day'"],
    ),
    ("no rate", ONE + "arrival: {rate: 0/s}", ["s.yaml:2:17: arrival.rate: must be more than 0"]),
    ("arrivals of no rate", ONE + "arrival: {process: poisson}", ["s.yaml:2:1: arrival.rate: this key is missing"]),
    (
        "another process",
        ONE + "arrival: {rate: 1/s, process: poison}",
        [
            "s.yaml:2:31: arrival.process: expected 'poisson', 'constant' or 'burst', got 'poison'; did you mean "
            "'poisson'?"
        ],
    ),
    (
        "a burst of how many",
        ONE + "arrival: {rate: 1/s, process: burst}",
        ["s.yaml:2:31: arrival.process: needs to know how many sessions come at once, such as burst: 4"],
    ),
    (
        "a burst of no burst",
        "swarm: {a: {behaviour: explore_repo, arrival: {rate: 1/s, burst: 4}}}",
        ["s.yaml:1:59: swarm.a.arrival.burst: is only for process: burst; write that too, or remove it"],
    ),
    (
        "a warm-up of sessions",
        ONE + "warm_up: 3 sessions",
        ["s.yaml:2:10: warm_up: expected a warm-up such as 30s or 20 turns, got '3 sessions'"],
    ),
    (
        "a warm-up of both",
        ONE + "warm_up: {for: 5s, turns: 5}",
        ["s.yaml:2:20: warm_up.turns: excludes for; keep one of the two"],
    ),
    ("a warm-up of neither", ONE + "warm_up: {}", ["s.yaml:2:10: warm_up: needs for: or turns:, such as {turns: 20}"]),
    (
        "nothing but warm-up",
        ONE + "duration: 1m\nwarm_up: 60s",
        ["s.yaml:3:10: warm_up: takes the whole run of 60s; nothing would be measured"],
    ),
    (
        "nothing but warm-up turns",
        ONE + "turns: 20\nwarm_up: 20 turns",
        ["s.yaml:3:10: warm_up: takes the whole run of 20 turns; nothing would be measured"],
    ),
    (
        "nothing but warm-up in stages",
        ONE + "stages: [{for: 9s, a: 1}, {for: 1s, a: 1}]\nwarm_up: 1m",
        ["s.yaml:3:10: warm_up: takes the whole run of 10s; nothing would be measured"],
    ),
    ("a drain that is a word", ONE + "drain: cutt", [f"s.yaml:2:8: drain: {A_DURATION}, got 'cutt'"]),
    (
        "a canary every now and then",
        ONE + "canary: {every: 0}",
        ["s.yaml:2:17: canary.every: must be 1 or more, got 0"],
    ),
    ("a canary by a switch", ONE + "canary: true", ["s.yaml:2:9: canary: expected a mapping, got true"]),
    ("an identity by a word", ONE + "identity: sure", ["s.yaml:2:11: identity: expected true or false, got 'sure'"]),
    ("a breach by a number", ONE + "stop_on_breach: 1", ["s.yaml:2:17: stop_on_breach: expected true or false, got 1"]),
    (
        "a size that no machine has",
        ONE + "guard: {swap_growth: 2 elephants}",
        ["s.yaml:2:22: guard.swap_growth: expected a size in bytes such as 1GB, 500MB or 1000000, got '2 elephants'"],
    ),
    (
        "an axis of one value without brackets",
        ONE + "sweep: {seed: 1, swarm.a.agents: 4}",
        ["s.yaml:2:34: sweep.swarm.a.agents: expected a list, got 4"],
    ),
    (
        "an axis of nothing",
        ONE + "sweep: {swarm.a.agents: []}",
        ["s.yaml:2:25: sweep.swarm.a.agents: needs at least one value"],
    ),
    (
        "a value twice",
        ONE + "sweep: {swarm.a.agents: [1, 2, 1]}",
        ["s.yaml:2:32: sweep.swarm.a.agents[2]: 1 is there twice; keep one"],
    ),
    (
        "an axis that is no key",
        ONE + "sweep: {server.optoins.temp: [1, 2]}",
        ["s.yaml:2:9: sweep.server.optoins.temp: server.optoins: unknown key; did you mean 'options'?"],
    ),
    (
        "an axis of an entry that is not there",
        ONE + "sweep: {swarm.b.agents: [1, 2]}",
        ["s.yaml:2:9: sweep.swarm.b.agents: no entry is called 'b'; there are a"],
    ),
    (
        "an axis of sweeps",
        ONE + "sweep: {sweep.order: [shuffled]}",
        ["s.yaml:2:9: sweep.sweep.order: sweep is the same for all runs"],
    ),
    (
        "a wrong value among right ones",
        ONE + "sweep: {swarm.a.agents: [1, 0, 2]}",
        ["s.yaml:2:29: sweep.swarm.a.agents[1]: must be 1 or more, got 0"],
    ),
    (
        "a parameter that the behaviour does not take",
        ONE + "sweep: {swarm.a.with.reeds: [1, 2]}",
        [
            "s.yaml:2:9: sweep.swarm.a.with.reeds: unknown parameter; explore_repo takes searches, reads; did "
            "you mean 'reads'?"
        ],
    ),
    (
        "an order of its own",
        ONE + "sweep: {order: random, swarm.a.agents: [1]}",
        ["s.yaml:2:16: sweep.order: expected 'fewest_restarts' or 'shuffled', got 'random'"],
    ),
    ("a search over nothing", TWO + "capacity: {to: 8}", ["s.yaml:2:1: capacity.over: this key is missing"]),
    (
        "a search over what is not there",
        ONE + "capacity: {over: swarm.b.agents}",
        ["s.yaml:2:18: capacity.over: no entry is called 'b'; there are a"],
    ),
    (
        "a search over what is no number",
        ONE + "capacity: {over: replies}",
        ["s.yaml:2:18: capacity.over: with 1 in replies: expected 'live' or 'scripted', got 1"],
    ),
    (
        "a search that goes down",
        ONE + "capacity: {from: 8, to: 4}",
        ["s.yaml:2:25: capacity.to: must be more than from, which is 8; got 4"],
    ),
    (
        "what is extended is not there",
        "extends: quikstart\n" + ONE,
        [
            "s.yaml:1:10: extends: quikstart: no such file, and no scenario of this name ships; did you mean "
            "'quickstart'?"
        ],
    ),
    (
        "what is extended is no file",
        "extends: [base.yaml]\n" + ONE,
        ["s.yaml:1:10: extends: expected the path of a scenario file, got a list"],
    ),
    (
        "a circle",
        "extends: s.yaml\n" + ONE,
        ["s.yaml:1:10: extends: leads back to a file that extends this one: s.yaml → s.yaml; remove one of them"],
    ),
    (
        "a variable that is not set",
        ONE + "name: run of ${NOBODY_SET_THIS}",
        ["s.yaml:2:7: name: the environment variable NOBODY_SET_THIS is not set; export NOBODY_SET_THIS=… first"],
    ),
    (
        "a variable that is none",
        ONE + "name: ${1ST}",
        ["s.yaml:2:7: name: '${1ST}' names no environment variable; for the text itself write $${1ST}"],
    ),
    (
        "a secret that is not set",
        ONE + "server: {attach: {url: 'mac1:8080', api_key: '${NOBODY_SET_THIS}'}}",
        [
            "s.yaml:2:46: server.attach.api_key: the environment variable NOBODY_SET_THIS is not set; export "
            "NOBODY_SET_THIS=… first"
        ],
    ),
]


def lines_of(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("NOBODY_SET_THIS", raising=False)
    Path("s.yaml").write_text(text, encoding="utf-8")
    assert cli.main(["check", "s.yaml"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    return printed.err.splitlines()


@pytest.mark.parametrize(("text", "lines"), [pytest.param(*row[1:], id=row[0]) for row in TABLE])
def test_says_what_is_wrong_and_ends_with_2(
    text: str, lines: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lines_of(text, tmp_path, monkeypatch, capsys) == lines


def test_there_are_thirty_of_them_and_none_is_there_twice() -> None:
    assert len(TABLE) >= 30
    assert len({text for _, text, _ in TABLE}) == len({name for name, *_ in TABLE}) == len(TABLE)


def test_a_run_of_a_broken_file_ends_before_it_begins(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(ONE + "duration: 9s\nstages: [{for: 9s, a: 1}]\nwarm_up: 3 laps")
    done = subprocess.run(
        [sys.executable, "-m", "locust_agents", "run", "s.yaml"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-2:] == [
        "s.yaml:2:1: duration: excludes stages, whose times end the run; keep one of the two",
        "s.yaml:4:10: warm_up: expected a warm-up such as 30s or 20 turns, got '3 laps'",
    ]
    assert not (tmp_path / "runs").exists()
