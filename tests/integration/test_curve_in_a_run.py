"""The timed curve and the forecast as parts of a run: when prompts are timed, and where it is written and said."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
import yaml

from locust_agents.cluster.replay import MLX_HEADERS, Received, ReplayServer, Script, chat_stream
from locust_agents.forecast import last_curve
from locust_agents.forecast.last_curve import Found
from locust_agents.forecast.prefill_curve import Speed, through
from locust_agents.plugins import registry
from locust_agents.scenarios import loader
from tests.patience import PATIENCE_S, is_sound_run, undisturbed, was_disturbed

TWICE = Path(__file__).parent / "gevent_scripts" / "drive_two_starts.py"
COMMAND = Path(sys.executable).with_name("locust-agents")
SCENARIO = "name: timed\nturns: 2\nscale: 0.01\ngaps: {scale: 0}\nswarm: {fixer: {behaviour: fix_failing_test}}\n"
HEALTH = Script(((0.0, b'{"status": "ok"}'),), headers=MLX_HEADERS, path="/health")


def answer(tokens: int) -> Script:
    return chat_stream([*"three"], 0.02, 0.01, usage=(tokens, 0, 5))


# 4,400 characters of code are 1,100 tokens, and a message is five around its text; all else has the size of a preamble.
COUNTING = (HEALTH, answer(150), answer(1250), answer(6), answer(18), answer(110))
SILENT = (HEALTH, chat_stream([*"three"], 0.02, 0.01))
QUEUE_S = 0.8  # others are being served
BUSY = (HEALTH, replace(chat_stream([*"three"], 1.0, 0.01, usage=(150, 0, 5)), headers_s=QUEUE_S), *COUNTING[2:])


@dataclass(frozen=True)
class Done:
    """A run that has ended, and the requests that it made."""

    status: int
    said: list[str]
    out: Path
    asked: list[dict[str, Any]]

    @property
    def notes(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.out / "cluster.jsonl").read_text().splitlines()]

    @property
    def timed(self) -> int:
        return sum(note["event"] == "timing" for note in self.notes)

    def of_run(self, key: str) -> Any:
        return self._summary()[key]

    def is_sound(self) -> bool:
        return is_sound_run(self._summary())

    def _summary(self) -> dict[str, Any]:
        values: dict[str, Any] = json.loads((self.out / "summary.json").read_text())
        return values


Prepare = Callable[[Path, str], None]


def run(folder: Path, answers: Sequence[Script], *options: str, prepare: Prepare = lambda *_: None) -> Done:
    """In a folder of its own, once more where the machine was too busy; `prepare` gets that folder and the URL."""

    def made() -> Done:
        own = Path(mkdtemp(dir=folder))
        with ReplayServer(answers) as server:
            prepare(own, server.url)
            return once(own, server, *options)

    return undisturbed(made, lambda done: was_disturbed(done.out, done.said[-1]))


def once(folder: Path, server: ReplayServer, *options: str) -> Done:
    (folder / "timed.yaml").write_text(SCENARIO)
    command = [str(COMMAND), "run", "timed.yaml", "--attach", server.url, "--out", "out", *options]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert "Traceback" not in ended.stderr, ended.stderr
    return Done(ended.returncode, ended.stderr.splitlines(), folder / "out", bodies(server.requests()))


def bodies(requests: Sequence[Received]) -> list[dict[str, Any]]:
    return [json.loads(request.body) for request in requests if request.method == "POST"]


@pytest.fixture(scope="module")
def cold(tmp_path_factory: pytest.TempPathFactory) -> Done:
    return run(tmp_path_factory.mktemp("cold"), COUNTING)


def test_prompts_are_timed_between_the_calibration_and_the_first_turn(cold: Done) -> None:
    assert cold.is_sound(), cold.said
    events = [note["event"] for note in cold.notes if note["event"] in ("calibration", "timing", "curve")]
    calibrated = events.count("calibration")
    assert events == ["calibration"] * calibrated + ["timing"] * cold.timed + ["curve"]
    assert cold.timed > 1
    assert len(cold.asked) == calibrated + cold.timed + 2
    assert {values["model"] for values in cold.asked} == {"default_model"}
    assert not any("seed" in values for values in cold.asked)


def test_the_curve_is_in_the_runs_folder_where_check_finds_it(cold: Done) -> None:
    curve = cold.of_run("curve")
    speed = Speed(through([(tokens, took_s) for tokens, took_s in curve["points"]]), curve["decode_tok_s"])
    server = yaml.safe_load((cold.out / "scenario.yaml").read_text())["server"]
    assert curve["run"] == "out"
    assert last_curve.find(cold.out.parent, server) == Found("out", speed)


def test_the_forecast_is_said_and_written(cold: Done) -> None:
    made = cold.of_run("forecast")
    assert (made["turns"], made["agents"], made["faults"]) == (2, 1, [])
    assert made["minutes"] > 0
    assert any(line.startswith("forecast: about 2 turns by 1 agent in about ") for line in cold.said)
    assert any(line.startswith("a lost cache costs up to ") for line in cold.said)


def test_a_second_start_does_not_time_again(tmp_path: Path) -> None:
    with ReplayServer(COUNTING) as server:
        ended = subprocess.run(
            [sys.executable, TWICE, server.url],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        result = json.loads(ended.stdout)
        one, two = (
            Done(0, said, tmp_path / name, []) for name, said in zip(("one", "two"), result["said"], strict=True)
        )
    assert result["error"] is None
    assert one.timed > 1
    assert two.timed == 0
    assert one.of_run("curve") == two.of_run("curve")
    assert two.of_run("curve")["run"] == "one"
    assert any(line.startswith("forecast: about 1 turn ") for line in two.said)


def earlier_run(folder: Path, url: str) -> None:
    """A run's folder `first`, which has timed this server."""
    keys = {"server": {"attach": url}, "turns": 1, "swarm": {"fixer": {"behaviour": "fix_failing_test"}}}
    scenario = loader.parse(json.dumps(keys), "first", registry.parameters(), registry.profiles())
    (folder / "first").mkdir()
    (folder / "first" / "scenario.yaml").write_text(loader.dump(scenario))
    (folder / "first" / "cluster.jsonl").write_text(json.dumps({"event": "curve", **EARLIER}) + "\n")


EARLIER = {"points": [[100, 0.5], [300, 2.0]], "decode_tok_s": 20.0}
# remark, the server's answers, options of the run
NOT_TIMED: list[tuple[str, tuple[Script, ...], list[str]]] = [
    ("a warm cache must stay as it is", COUNTING, ["--set", "cache=warm"]),
    ("not wanted", COUNTING, ["--set", "curve=off"]),
    ("others are using it", BUSY, ["--shared-ok"]),
    ("it counts no tokens", SILENT, []),
]


@pytest.mark.parametrize(("answers", "options"), [pytest.param(*row[1:], id=row[0]) for row in NOT_TIMED])
def test_what_is_not_timed_is_taken_from_the_last_run(
    answers: tuple[Script, ...], options: list[str], tmp_path: Path
) -> None:
    done = run(tmp_path, answers, *options, prepare=earlier_run)
    assert done.is_sound(), done.said
    assert done.timed == 0
    assert done.of_run("curve") == {"run": "first", **EARLIER}
    assert "the server's speed is taken from first" in done.said
    assert any(line.startswith("forecast: about 2 turns by 1 agent in about ") for line in done.said)


def test_without_an_earlier_run_the_forecast_has_no_times(tmp_path: Path) -> None:
    done = run(tmp_path, COUNTING, "--set", "curve=off")
    assert done.is_sound(), done.said
    assert (done.timed, done.of_run("curve")) == (0, None)
    assert done.of_run("forecast")["minutes"] is None
    assert "forecast: about 2 turns by 1 agent (no run has timed this server)" in done.said


def test_nobody_is_timed_who_is_busy_with_others(tmp_path: Path) -> None:
    with ReplayServer(BUSY) as server:
        done = once(tmp_path, server)
    assert done.status == 2
    assert "others use this server" in done.said[-1]
    assert len(done.asked) == 1
