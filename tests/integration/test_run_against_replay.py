"""`locust-agents run` as a command, against a replay server: exit statuses, what it prints, what it leaves."""

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from locust_agents.cluster.replay import Received, ReplayServer, Script, chat_stream
from locust_agents.plugins import registry
from locust_agents.records import TurnRecord, from_line
from locust_agents.scenarios import loader
from tests.patience import PATIENCE_S, undisturbed, was_disturbed

SCENARIO = """\
name: one fixer
duration: 60s
turns: 3
scale: 0.01
gaps: {scale: 0}
start: {apart: 0s}
drain: 5s
swarm:
  fixer: {behaviour: fix_failing_test}
"""
# One usage for all, so that every run asks the server the same number of questions before it begins.
OK = chat_stream(["so ", "it ", "is"], 0.02, 0.01, usage=(400, 100, 3))
SLOW = chat_stream(["so ", "it ", "is"], 0.05, 60.0, usage=(400, 100, 3))
REFUSAL = Script(((0.0, b'{"error": "no such model"}'),), 404)


@dataclass(frozen=True)
class Done:
    """A command that has ended: its output, and the folder of its run."""

    status: int
    stdout: str
    stderr: str
    out: Path

    def turns(self) -> list[TurnRecord]:
        return [from_line(line) for line in (self.out / "turns.jsonl").read_text().splitlines()]

    def notes(self, event: str) -> list[dict[str, Any]]:
        notes = map(json.loads, (self.out / "cluster.jsonl").read_text().splitlines())
        return [note for note in notes if note["event"] == event]

    def summary(self) -> dict[str, Any]:
        values: dict[str, Any] = json.loads((self.out / "summary.json").read_text())
        return values


def posted(server: ReplayServer) -> list[Received]:
    """The turns that it was asked; who it is was asked before."""
    return [request for request in server.requests() if request.method == "POST"]


def start(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    """Starts the command in a folder of its own."""
    folder.mkdir(exist_ok=True)
    command = [str(Path(sys.executable).with_name("locust-agents")), "run", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def finish(process: "subprocess.Popen[str]", out: Path) -> Done:
    try:
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
    assert "Traceback" not in stdout + stderr, stdout + stderr
    return Done(process.returncode, stdout, stderr, out)


def ended(folder: Path, out: Path, *arguments: str) -> Done:
    """A run to its end; made anew where the machine was too busy to be trusted."""

    def make() -> Done:
        shutil.rmtree(out, ignore_errors=True)
        return finish(start(folder, *arguments), out)

    return undisturbed(make, lambda done: was_disturbed(done.out, done.stderr))


def run(folder: Path, *arguments: str, scenario: str = SCENARIO) -> Done:
    """Runs the scenario to its end, on a server that may be late."""
    (folder / "scenario.yaml").write_text(scenario)
    return ended(folder, folder / "out", "scenario.yaml", "--out", "out", "--shared-ok", *arguments)


@pytest.fixture(scope="module")
def server() -> Iterator[ReplayServer]:
    with ReplayServer([OK]) as running:
        yield running


@dataclass(frozen=True)
class Held:
    done: Done
    requests: list[Received]


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Held:
    """A run that held, with a server of its own."""

    def make() -> Held:
        with ReplayServer([OK]) as server:
            folder = tmp_path_factory.mktemp("held")
            (folder / "scenario.yaml").write_text(SCENARIO)
            done = finish(start(folder, "scenario.yaml", "--out", "out", "--attach", server.url), folder / "out")
        return Held(done, posted(server))

    return undisturbed(make, lambda held: was_disturbed(held.done.out, held.done.stderr))


@pytest.fixture(scope="module")
def questions(held: Held) -> int:
    """How many requests a run makes before its first turn."""
    return len(held.done.notes("calibration"))


# -- a run that held


def test_status_0_and_a_table(held: Held) -> None:
    assert held.done.status == 0
    lines = held.done.stdout.splitlines()
    assert lines[0].startswith("one fixer")
    assert any(line.startswith("fixer  ") or line.startswith("fixer ") for line in lines)
    assert any(line.startswith("held") for line in lines)
    assert all(len(line) <= 80 or str(held.done.out) in line or "http" in line for line in lines)


def test_turns_are_the_requests_without_the_calibration(held: Held, questions: int) -> None:
    turns = held.done.turns()
    assert [(turn.turn, turn.kind, turn.outcome) for turn in turns] == [
        (0, "first", "ok"),
        (1, "later", "ok"),
        (2, "later", "ok"),
    ]
    assert questions > 0
    assert len(held.requests) == questions + len(turns)
    assert [turn.request_bytes for turn in turns] == [len(request.body) for request in held.requests[questions:]]
    assert {turn.run for turn in turns} == {held.done.out.name}


def test_the_calibration_asks_for_one_token_and_is_in_cluster_jsonl(held: Held, questions: int) -> None:
    asked = [json.loads(request.body) for request in held.requests]
    assert {values["max_tokens"] for values in asked[:questions]} == {1}
    assert all(values["max_tokens"] > 1 for values in asked[questions:])
    assert [note["bytes"] for note in held.done.notes("calibration")] == [
        len(request.body) for request in held.requests[:questions]
    ]
    assert {note["prompt_tokens"] for note in held.done.notes("calibration")} == {400}


def test_one_model_and_no_seed_in_all_that_is_asked(held: Held) -> None:
    asked = [json.loads(request.body) for request in held.requests]
    assert {values["model"] for values in asked} == {"default_model"}
    assert not any("seed" in values for values in asked)


def test_the_scenario_is_kept_as_resolved_and_loads_again(held: Held) -> None:
    kept = loader.load(held.done.out / "scenario.yaml", registry.parameters(), registry.profiles())
    assert (kept.name, kept.turns, kept.scale) == ("one fixer", 3, 0.01)
    assert kept.server.attach is not None
    assert loader.dump(kept) == (held.done.out / "scenario.yaml").read_text()


def test_the_summary_is_of_the_turns(held: Held) -> None:
    summary = held.done.summary()
    assert (summary["exit_status"], summary["error"]) == (0, None)
    assert (summary["turns"], summary["outcomes"]) == (3, {"ok": 3})


# -- options


def test_json_prints_one_object_and_nothing_else(server: ReplayServer, tmp_path: Path) -> None:
    done = run(tmp_path, "--attach", server.url, "--json", "--agents", "2", "--profile", "opencode", "--set", "turns=4")
    printed = json.loads(done.stdout)
    assert done.status == printed["exit_status"] == 0
    assert printed["turns"] == 4
    assert {turn.agent for turn in done.turns()} == {"fixer/0.0", "fixer/0.1"}
    assert {turn.profile for turn in done.turns()} == {"opencode"}


def test_without_a_scenario_four_opencode_agents(server: ReplayServer, tmp_path: Path) -> None:
    options = ["--attach", server.url, "--set", "turns=4", "--set", "start.apart=0s", "--out", "out"]
    done = ended(tmp_path, tmp_path / "out", *options)
    assert done.status == 0, done.stderr
    assert {turn.profile for turn in done.turns()} == {"opencode"}
    assert 1 < len({turn.agent for turn in done.turns()}) <= 4


def test_without_out_the_folder_is_named_after_time_and_scenario(server: ReplayServer, tmp_path: Path) -> None:
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    done = finish(start(tmp_path, "scenario.yaml", "--shared-ok", "--attach", server.url), tmp_path)
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.endswith("-one-fixer")
    assert {path.name for path in folder.iterdir()} >= {"scenario.yaml", "turns.jsonl", "cluster.jsonl", "summary.json"}
    assert str(Path("runs") / folder.name) in done.stdout


# -- status 1


def test_a_broken_limit(server: ReplayServer, tmp_path: Path) -> None:
    done = run(tmp_path, "--attach", server.url, "--set", "limits.ttft.max=1ms")
    assert done.status == 1
    assert any(line.startswith("broken") and "ttft.max" in line for line in done.stdout.splitlines())
    assert done.summary()["exit_status"] == 1


# -- status 2: nothing is started, and every mistake is told


def attached(text: str) -> str:
    return f"server: {{attach: 127.0.0.1:9}}\n{text}"


# arguments (the scenario is written to s.yaml), the scenario, words of the complaint, number of its lines
WRONG: list[tuple[str, list[str], str | bytes, list[str], int]] = [
    (
        "two mistakes at once, each with its place",
        ["s.yaml"],
        "duraton: 60s\nswarm:\n  fixer: {behaviour: fix_failing_test, agents: lots}\n",
        ["s.yaml:1:1: duraton: ", "'duration'", "s.yaml:3:48: swarm.fixer.agents: ", "'lots'"],
        2,
    ),
    (
        "an unknown behaviour",
        ["s.yaml"],
        "swarm: {fixer: {behaviour: fix_failing_tests}}\n",
        ["s.yaml:1:28: swarm.fixer.behaviour: ", "'fix_failing_test'"],
        1,
    ),
    (
        "a parameter that it does not take",
        ["s.yaml"],
        "swarm: {fixer: {behaviour: fix_failing_test, with: {read: 8}}}\n",
        ["swarm.fixer.with.read: ", "'reads'"],
        1,
    ),
    ("an unknown option", ["s.yaml", "--agent-count", "2"], attached(SCENARIO), ["--agent-count"], 0),
    (
        "an unknown key of --set",
        ["s.yaml", "--set", "duratoin=5s"],
        attached(SCENARIO),
        ["--set duratoin", "'duration'"],
        1,
    ),
    (
        "--set without a value",
        ["s.yaml", "--set", "duration"],
        attached(SCENARIO),
        ["--set duration: ", "key=value"],
        1,
    ),
    ("--agents that is no number", ["s.yaml", "--agents", "lots"], attached(SCENARIO), ["--agents: ", "'lots'"], 1),
    ("--agents 0", ["s.yaml", "--agents", "0"], attached(SCENARIO), ["--agents: ", "1 or more"], 1),
    ("an unknown profile", ["s.yaml", "--profile", "opncode"], attached(SCENARIO), ["--profile: ", "opencode"], 1),
    ("no address", ["s.yaml", "--attach", "ftp://mac1"], SCENARIO, ["--attach: ", "http://mac1:8080"], 1),
    ("no such scenario", ["quickstat"], "", ["quickstat: no such file", "quickstart"], 1),
    ("a folder", ["."], "", [".: is a folder"], 1),
    ("not YAML", ["s.yaml"], "swarm: {fixer: [\n", ["s.yaml:"], 1),
    ("empty", ["s.yaml"], "", ["s.yaml:1:1: ", "no scenario"], 1),
]


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    """All of them, a few at a time."""

    def one(name: str, arguments: Sequence[str], scenario: str | bytes) -> Done:
        folder = tmp_path_factory.mktemp("wrong")
        (folder / "s.yaml").write_bytes(scenario if isinstance(scenario, bytes) else scenario.encode())
        return finish(start(folder, *arguments), folder)

    with ThreadPoolExecutor(3) as pool:
        running = {row[0]: pool.submit(one, *row[:3]) for row in WRONG}
        return {name: future.result() for name, future in running.items()}


@pytest.mark.parametrize(("name", "words", "lines"), [pytest.param(row[0], *row[3:], id=row[0]) for row in WRONG])
def test_status_2(refused: dict[str, Done], name: str, words: list[str], lines: int) -> None:
    done = refused[name]
    assert "Traceback" not in done.stderr
    assert (done.status, done.stdout) == (2, ""), done.stderr
    assert all(word in done.stderr for word in words), done.stderr
    assert len(done.stderr.splitlines()) == lines or not lines, done.stderr
    assert not (done.out / "runs").exists()


def test_a_scenario_that_is_not_utf_8(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_bytes("name: café\n".encode("latin-1"))
    done = finish(start(tmp_path, "s.yaml"), tmp_path)
    assert done.status == 2
    assert "s.yaml: not UTF-8" in done.stderr


# -- status 3


def test_nothing_listens(tmp_path: Path) -> None:
    with ReplayServer([OK]) as gone:
        url = gone.url
    done = run(tmp_path, "--attach", url)
    assert done.status == 3
    assert done.stderr.count("nothing listens on 127.0.0.1:") == 1
    assert done.summary()["exit_status"] == 3
    assert "nothing listens" in done.summary()["error"]
    assert done.turns() == []


def test_no_turn_was_ok(questions: int, tmp_path: Path) -> None:
    with ReplayServer([*[OK] * questions, REFUSAL]) as server:
        done = run(tmp_path, "--attach", server.url)
    assert done.status == 3
    assert [turn.outcome for turn in done.turns()] == ["http_error"] * 3
    assert "no turn was ok" in done.stderr
    assert "http_error" in done.stdout


# what the server answers to everything, a word of what is said
USELESS: list[tuple[str, Script, str]] = [
    ("a refusal", REFUSAL, "no such model"),
    ("an error with status 200", Script(((0.0, b'{"error": "still loading"}'),)), "still loading"),
    ("a reset", Script((), framing="raw", ending="reset"), "reset"),
]


@pytest.fixture(scope="module")
def useless(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Held]:
    """All of them at once."""

    def one(script: Script) -> Held:
        with ReplayServer([script]) as server:
            done = run(tmp_path_factory.mktemp("useless"), "--attach", server.url)
        return Held(done, posted(server))

    with ThreadPoolExecutor(len(USELESS)) as pool:
        running = {name: pool.submit(one, script) for name, script, _ in USELESS}
        return {name: future.result() for name, future in running.items()}


@pytest.mark.parametrize(("name", "word"), [pytest.param(*row[::2], id=row[0]) for row in USELESS])
def test_a_server_that_cannot_even_be_measured(useless: dict[str, Held], name: str, word: str) -> None:
    done = useless[name].done
    assert done.status == 3
    assert word in done.stderr
    assert done.turns() == []
    assert len(useless[name].requests) == 1


def test_an_out_folder_that_cannot_be_made(server: ReplayServer, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    before = len(posted(server))
    done = finish(start(tmp_path, "scenario.yaml", "--attach", server.url, "--out", "out"), tmp_path)
    assert done.status in (2, 3)
    assert "out" in done.stderr
    assert len(posted(server)) == before


def test_a_folder_never_holds_the_turns_of_two_runs(held: Held, server: ReplayServer) -> None:
    before = held.done.turns()
    folder = held.done.out.parent
    done = finish(start(folder, "scenario.yaml", "--out", "out", "--attach", server.url), held.done.out)
    assert (done.status, done.stdout) == (2, "")
    assert "out holds the turns of another run" in done.stderr
    assert done.turns() == before


# -- status 130, and what a killed run leaves


def wait_for(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.05)


def interrupted(folder: Path, server: ReplayServer, at: int, number: int, scenario: str = SCENARIO) -> Done:
    """A run that gets a signal when the server has `at` requests, and the last of them has had time to begin."""
    (folder / "scenario.yaml").write_text(scenario)
    process = start(folder, "scenario.yaml", "--out", "out", "--shared-ok", "--attach", server.url)
    try:
        wait_for(lambda: len(posted(server)) >= at or process.poll() is not None)
        time.sleep(0.5)
        process.send_signal(number)
        return finish(process, folder / "out")
    finally:
        process.kill()


TWO = SCENARIO.replace("fix_failing_test}", "fix_failing_test, agents: 2}").replace("turns: 3", "turns: 30")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_mid_stream(number: int, questions: int, tmp_path: Path) -> None:
    with ReplayServer([*[OK] * (questions + 2), SLOW]) as server:
        done = interrupted(tmp_path, server, questions + 4, number, TWO)
    assert done.status == 130
    assert sorted(turn.outcome for turn in done.turns()) == ["cut", "cut", "ok", "ok"]
    assert all(turn.chunks == 1 for turn in done.turns() if turn.outcome == "cut")
    assert len(posted(server)) == questions + 4
    summary = done.summary()
    assert (summary["exit_status"], summary["turns"], summary["outcomes"]) == (130, 4, {"ok": 2, "cut": 2})
    assert "cut" in done.stdout


def test_a_signal_before_the_first_turn(tmp_path: Path) -> None:
    with ReplayServer([Script((), framing="raw", ending="hang")]) as server:
        done = interrupted(tmp_path, server, 1, signal.SIGINT)
    assert done.status == 130
    assert done.turns() == []


def test_a_killed_run_leaves_whole_lines(questions: int, tmp_path: Path) -> None:
    with ReplayServer([*[OK] * (questions + 2), SLOW]) as server:
        done = interrupted(tmp_path, server, questions + 4, signal.SIGKILL, TWO)
    assert done.status == -signal.SIGKILL
    assert [turn.outcome for turn in done.turns()] == ["ok", "ok"]
    assert len(done.notes("calibration")) == questions
    assert loader.load(done.out / "scenario.yaml", registry.parameters(), registry.profiles()).name == "one fixer"
