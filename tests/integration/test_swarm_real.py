"""The product against a real two-rank mlx_lm.server: what it measures there must be what the server did."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from locust_agents import run_folder
from locust_agents.cluster import ports
from locust_agents.outcome import Outcome
from locust_agents.records import TurnRecord
from tests.patience import PATIENCE_S, is_sound

BIN = Path(sys.executable).parent
MEASURE_SIZES = Path(__file__).with_name("measure_sizes.py")
LOCUSTFILE = Path(__file__).parents[2] / "locustfiles" / "coding_agents.py"


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], Path]:
    out = tmp_path_factory.mktemp("quickstart") / "run"
    # turns end it; the duration is only what the slowest machine may take
    keys = ("turns=40", "duration=250s", "swarm.giant.after=4s")
    options = [word for key in keys for word in ("--set", key)] + ["--out", str(out)]
    ended = subprocess.run(
        [sys.executable, MEASURE_SIZES, sizes_of(out), "run", "quickstart", *options],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return ended, out


def sizes_of(out: Path) -> Path:
    return out.with_name("sizes.json")


def records_of(out: Path) -> list[TurnRecord]:
    return list(run_folder.turns(out))


def test_the_quickstart_holds_its_limits(quickstart: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    ended, out = quickstart
    assert is_sound(ended.returncode, ended.stdout), ended.stdout + ended.stderr
    records = records_of(out)
    assert len(records) == 40
    assert {record.outcome for record in records} == {Outcome.OK}
    assert {(record.entry, record.kind) for record in records} == {
        ("fixers", "first"),
        ("fixers", "later"),
        ("giant", "first"),
    }
    assert sum(record.kind == "later" for record in records) >= 20
    assert all(record.tool_calls == (1, 0) for record in records), "the tiny model ends every answer in a tool call"


def test_the_table_says_so(quickstart: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    ended, _ = quickstart
    assert "fixers later" in ended.stdout
    assert "giant  first" in ended.stdout
    word = "held" if ended.returncode == 0 else "withheld"
    assert re.search(f"^{word} ", ended.stdout, re.MULTILINE), ended.stdout
    assert "broken" not in ended.stdout
    assert max(map(len, ended.stdout.splitlines())) <= 80


def test_later_turns_reuse_all_that_came_before(quickstart: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    _, out = quickstart
    later = [record for record in records_of(out) if record.kind == "later"]
    assert sum(record.cached_tokens or 0 for record in later) >= 0.99 * sum(r.expected_tokens or 0 for r in later)
    by_turn = {(record.session, record.turn): record for record in records_of(out)}
    for record in later:
        before = by_turn[record.session, record.turn - 1]
        assert record.expected_tokens == (before.prompt_tokens or 0) + (before.completion_tokens or 0)


def test_first_turns_start_cold_and_share_the_preamble_afterwards(
    quickstart: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    _, out = quickstart
    firsts = sorted((r for r in records_of(out) if r.kind == "first"), key=lambda record: record.wall_time)
    assert (firsts[0].cached_tokens or 0) < 20, "the run's nonce keeps the first prompt out of the cache"
    assert firsts[0].expected_tokens == 0
    ready = min(record.wall_time + (record.prefill_end_s or 0.0) for record in firsts)
    shared = [record for record in firsts if record.wall_time > ready]
    assert shared
    for record in shared:
        assert record.expected_tokens
        # the server's template shares a few tokens more than the preamble: the start of the user's message
        assert 0 <= (record.cached_tokens or 0) - (record.expected_tokens or 0) <= 12


def test_prompts_have_the_size_that_was_asked_for(quickstart: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    _, out = quickstart
    giants = [record for record in records_of(out) if record.entry == "giant"]
    wanted = 65536 * 0.05
    assert giants
    assert all(abs((record.prompt_tokens or 0) - wanted) <= 0.02 * wanted for record in giants)


def test_every_message_has_the_size_that_was_drawn_for_it(
    quickstart: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    rows = json.loads(sizes_of(quickstart[1]).read_text())
    assert len(rows) == 40
    missed = [(wanted, got) for wanted, got in rows if abs(got - wanted) > max(12, 0.02 * wanted)]
    assert missed == []
    assert any(wanted > 2000 for wanted, _ in rows), "the giant is among them"


def test_the_phases_of_a_turn_follow_each_other(quickstart: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    _, out = quickstart
    for record in records_of(out):
        phases = [
            record.connect_s,
            record.sent_s,
            record.headers_s,
            record.first_progress_s,
            record.prefill_end_s,
            record.first_token_s,
            record.last_token_s,
            record.end_s,
        ]
        assert None not in phases, record
        assert phases == sorted(phases, key=lambda at_s: at_s or 0.0), record


def test_calibration_is_noted_and_is_no_turn(quickstart: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    _, out = quickstart
    noted = [json.loads(line) for line in (out / "cluster.jsonl").read_text().splitlines()]
    told = [line["event"] for line in noted if line["event"] in ("launch", "ready", "death", "error", "stop")]
    assert told == ["launch", "ready", "stop"]
    calibrations = [line for line in noted if line["event"] == "calibration"]
    assert all(line["prompt_tokens"] > 0 for line in calibrations)
    assert json.loads((out / "summary.json").read_text())["turns"] == 40


def test_what_the_ranks_say_and_use_is_kept(quickstart: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    ended, out = quickstart
    events = {json.loads(line)["event"] for line in (out / "cluster.jsonl").read_text().splitlines()}
    assert {"cache", "prefill", "memory"} <= events
    vitals = json.loads((out / "summary.json").read_text())["vitals"]
    assert set(vitals["memory"]) == {"0", "1"}
    assert vitals["cache_sequences"] > 0
    assert "memory rank 0" in ended.stdout


def test_nothing_is_left(quickstart: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    _, out = quickstart
    started = json.loads((out / "processes.json").read_text())
    assert started
    assert [entry for entry in started if is_running(entry["pid"], entry["start_time"])] == []


def is_running(pid: int, start_time: float) -> bool:
    try:
        process = psutil.Process(pid)
        return abs(process.create_time() - start_time) < 1.0 and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_interrupted_in_mid_stream_every_turn_has_its_line(tmp_path: Path) -> None:
    out = tmp_path / "run"
    options = ["--out", str(out), "--set", "server.launch.model=tiny-long", "--set", "duration=250s"]
    command = [str(BIN / "locust-agents"), "run", "quickstart", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        try:
            wait_for_lines(out / "turns.jsonl", 3, run)
            run.send_signal(signal.SIGINT)
            stdout, stderr = run.communicate(timeout=PATIENCE_S)
        finally:
            run.kill()
    assert run.returncode == 130, stderr
    records = records_of(out)
    assert {record.outcome for record in records} <= {Outcome.OK, Outcome.CUT}
    assert "Traceback" not in stdout + stderr
    assert json.loads((out / "summary.json").read_text())["exit_status"] == 130


def wait_for_lines(path: Path, lines: int, process: subprocess.Popen[str]) -> None:
    while not (path.exists() and path.read_bytes().count(b"\n") >= lines):
        assert process.poll() is None, "ended before it had its turns"
        try:
            process.wait(0.2)
        except subprocess.TimeoutExpired:
            continue


# A master gives up a worker that says nothing for three seconds, and at its end waits half a second for its counts.
PATIENT = """
import locust.runners

locust.runners.HEARTBEAT_LIVENESS = 300
locust.runners.WORKER_REPORT_INTERVAL = 0.1
"""
ONE_SESSION_EACH = """
extends: quickstart
sessions: 1
start: {apart: 1s}
swarm: {fixers: {with: {reads: 2}}, giant: {after: 2s}}
"""


def test_plain_locust_with_two_workers_makes_one_complete_file(tmp_path: Path) -> None:
    (tmp_path / "patient.py").write_text(PATIENT)
    (tmp_path / "s.yaml").write_text(ONE_SESSION_EACH)
    port = str(ports.free_ports(1))
    common = [str(BIN / "locust"), "-f", f"{LOCUSTFILE},patient.py"]
    asked = ["--scenario", "s.yaml", "--headless", "-t", "250s", "--json-file", str(tmp_path / "stats")]
    master_options = [*asked, "--master", "--expect-workers", "2", "--master-bind-host", "127.0.0.1"]
    master = start([*common, *master_options, "--master-bind-port", port], tmp_path, "master.log")
    names = ("worker-0.log", "worker-1.log")
    workers = [start([*common, "--worker", "--master-port", port], tmp_path, name) for name in names]
    try:
        status, said = master.wait(PATIENCE_S), (tmp_path / "master.log").read_text()
        assert is_sound(status, said), said
        assert [worker.wait(PATIENCE_S) for worker in workers] == [0, 0]
    finally:
        for process in (master, *workers):
            process.kill()
            process.wait()
    [out] = (tmp_path / "runs").iterdir()
    records = records_of(out)
    assert {record.worker for record in records} == {0, 1}
    assert len({record.session for record in records}) == 5
    turns = [(record.session, record.turn, record.attempt) for record in records]
    assert len(set(turns)) == len(turns)
    assert {record.outcome for record in records} == {Outcome.OK}
    for session in {record.session for record in records}:
        numbers = sorted(record.turn for record in records if record.session == session)
        assert numbers == list(range(len(numbers))), "no turn of a session is missing"
    counted = json.loads((tmp_path / "stats.json").read_text())
    assert sum(row["num_requests"] for row in counted) == len(records)


def start(command: Sequence[str], folder: Path, log: str) -> subprocess.Popen[bytes]:
    with (folder / log).open("wb") as out:
        return subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
