"""Plugins of others, from the outside: a package in a fresh environment, a file on a command line, and their faults."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import locust_agents
from locust_agents import run_folder
from locust_agents.cluster import ports
from locust_agents.cluster.replay import ReplayServer, chat_stream
from locust_agents.records import TurnRecord
from tests.patience import PATIENCE_S, is_sound_run, undisturbed, was_disturbed

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
BIN = Path(sys.executable).parent
COMMAND = "import sys; from locust_agents.cli import main; sys.exit(main())"
SCENARIO = """\
duration: 60s
turns: {turns}
scale: 0.01
gaps: {{scale: 0}}
start: {{apart: 0s}}
drain: 5s
{rest}
"""
BROKEN = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "broken-agents"
version = "1.0"

[project.entry-points."locust_agents.behaviours"]
hopeless = "broken_agents"
"""
# Four behaviours of which three fail, each in its own way, after one good turn.
WRONG = """\
from locust_agents.plugins.api import Agent, Session, behaviour


@behaviour
def raises(agent: Agent) -> Session:
    yield agent.user("One.")
    agent.user("Two.", tokens="many")


@behaviour
def nonsense(agent: Agent) -> Session:
    yield agent.user("One.")
    yield 5


@behaviour
def leaves(agent: Agent) -> Session:
    yield agent.user("One.")
    raise SystemExit(0)


@behaviour
def steady(agent: Agent) -> Session:
    for _ in range(4):
        yield agent.user("Next.")


class Fussy:
    def on_turn(self, record):
        raise ValueError("not this one")
"""


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str
    turns: list[TurnRecord]

    def told(self, file: str) -> list[str]:
        """What it said of a plugin's file, which no path stands before."""
        return [line for line in self.err.splitlines() if line.startswith(f"{file}:")]


@pytest.fixture(scope="module")
def server() -> Iterator[ReplayServer]:
    with ReplayServer([chat_stream(["so ", "it ", "is"], 0.02, 0.01, usage=(400, 100, 3))]) as running:
        yield running


def command(folder: Path, *arguments: str, python: Path | str = sys.executable) -> Done:
    """One command of ours in a folder, by this interpreter or another."""
    done = subprocess.run(
        [str(python), "-c", COMMAND, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    out = folder / "out"
    turns = list(run_folder.turns(out)) if (out / "turns.jsonl").exists() else []
    return Done(done.returncode, done.stdout, done.stderr, turns)


def run(folder: Path, *arguments: str, python: Path | str = sys.executable) -> Done:
    """A run into the folder's `out`, on a server that may be late; made anew where the machine was too busy."""

    def make() -> Done:
        shutil.rmtree(folder / "out", ignore_errors=True)
        return command(folder, "run", *arguments, "--shared-ok", "--out", "out", python=python)

    return undisturbed(make, lambda _: was_disturbed(folder / "out"))


# -- a package


def guide(name: str) -> str:
    """A file that the guide shows."""
    (text,) = re.findall(rf"`{re.escape(name)}`[^`\n]*:\n\n```\w+\n(.*?)```", GUIDE, re.DOTALL)
    return str(text)


def install(source: Path, site: Path) -> None:
    """Builds a wheel with what is here, and unpacks it, which is all that installing a pure one is."""
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(source / "dist"), str(source)]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    zipfile.ZipFile(next((source / "dist").glob("*.whl"))).extractall(site)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment of its own: it sees ours, and has the guide's package and a broken one."""
    folder = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder / "venv")}))
    ours = [sysconfig.get_path("purelib"), str(Path(locust_agents.__file__).parents[1])]
    (site / "ours.pth").write_text("".join(f"import site; site.addsitedir({path!r})\n" for path in ours))
    package = folder / "ours" / "our_agents"
    package.mkdir(parents=True)
    (folder / "ours" / "pyproject.toml").write_text(guide("pyproject.toml"))
    (package / "__init__.py").write_text(guide("our_agents/__init__.py"))
    for name in ("review.py", "patient.yaml", "worst.py"):
        (package / name).write_text(guide(name))
    broken = folder / "broken" / "broken_agents"
    broken.mkdir(parents=True)
    (folder / "broken" / "pyproject.toml").write_text(BROKEN)
    (broken / "__init__.py").write_text("from broken_agents import inside\n")
    (broken / "inside.py").write_text("x = 1\nbehavior\n")
    for source in (folder / "ours", folder / "broken"):
        install(source, site)
    return folder / "venv" / "bin" / "python"


def test_a_package_is_listed_and_a_broken_one_is_told_of(fresh: Path, tmp_path: Path) -> None:
    done = command(tmp_path, "plugins", python=fresh)
    assert done.status == 0
    lines = done.out.splitlines()
    for name in ("review ", "patient ", "worst_wait "):
        (line,) = [line for line in lines if line.startswith(f"  {name}")]
        assert "[our-agents]" in line
    (why,) = lines[lines.index("broken") + 1 :]
    assert why.startswith("  plugin 'hopeless' of broken-agents (group locust_agents.behaviours): ")
    assert why.endswith("broken_agents/inside.py:2: NameError: name 'behavior' is not defined")


def test_a_package_runs_beside_a_broken_one(fresh: Path, tmp_path: Path, server: ReplayServer) -> None:
    rest = "listeners: {worst_wait: {over_s: 1ms}}\nswarm: {r: {behaviour: review, profile: patient, with: {reads: 2}}}"
    (tmp_path / "s.yaml").write_text(SCENARIO.format(turns=4, rest=rest))
    done = run(tmp_path, "s.yaml", "--attach", server.url, python=fresh)
    assert done.status == 0, done.err
    assert {(turn.behaviour, turn.profile) for turn in done.turns} == {("review", "patient")}
    assert Counter(turn.kind for turn in done.turns) == {"first": 1, "sub": 1, "later": 2}
    assert re.search(r"^r/0\.0 waited \d\.\d s$", done.err, re.MULTILINE)
    assert re.search(r"^worst: \d\.\d s$", done.err, re.MULTILINE)
    assert "hopeless" not in done.out + done.err


def test_who_names_the_broken_one_is_told_its_line(fresh: Path, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("swarm: {r: {behaviour: hopeless}}")
    done = command(tmp_path, "run", "s.yaml", python=fresh)
    assert done.status == 2
    assert done.err.startswith("s.yaml:1:24: swarm.r.behaviour: no behaviour is called 'hopeless'; ")
    assert "broken_agents/inside.py:2: NameError: name 'behavior' is not defined" in done.err


# -- a file


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory, server: ReplayServer) -> Done:
    folder = tmp_path_factory.mktemp("faults")
    (folder / "wrong.py").write_text(WRONG)
    swarm = ", ".join(f"{name}: {{behaviour: {name}}}" for name in ("raises", "nonsense", "leaves", "steady"))
    (folder / "s.yaml").write_text(SCENARIO.format(turns=40, rest=f"sessions: 1\nswarm: {{{swarm}}}"))
    return run(folder, "s.yaml", "--attach", server.url, "--plugin", "wrong.py")


def test_a_fault_is_named_with_its_own_line(faults: Done) -> None:
    assert faults.status == 2
    assert sorted(faults.told("wrong.py")) == [
        "wrong.py:13: behaviour 'nonsense' yielded 5, which is no step",
        "wrong.py:19: SystemExit: 0 (behaviour 'leaves')",
        "wrong.py:30: ValueError: not this one (listener 'Fussy', which heard nothing more of this run)",
        "wrong.py:7: TypeError: tokens is a number, not 'many' (behaviour 'raises')",
    ]


def test_a_fault_costs_its_own_agent_only(faults: Done) -> None:
    ended = Counter((turn.entry, str(turn.outcome)) for turn in faults.turns)
    assert ended == {("raises", "ok"): 1, ("nonsense", "ok"): 1, ("leaves", "ok"): 1, ("steady", "ok"): 4}


def test_a_file_that_cannot_be_loaded_ends_the_command_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("x = 1\nbehavior\n")
    for name in ("run", "check", "plugins"):
        done = command(tmp_path, name, "--plugin", "bad.py")
        assert (done.status, done.err) == (2, "bad.py:2: NameError: name 'behavior' is not defined\n"), name
    assert [path.name for path in tmp_path.iterdir() if path.name != "__pycache__"] == ["bad.py"]


def test_a_parameter_that_it_does_not_take_is_a_mistake_of_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "review.py").write_text(guide("review.py"))
    (tmp_path / "s.yaml").write_text("plugins: review.py\nswarm: {r: {behaviour: review, with: {read: 1}}}")
    done = command(tmp_path, "check", "s.yaml")
    assert done.status == 2
    assert done.err.startswith("s.yaml:2:39: swarm.r.with.read: unknown parameter; review takes diff_tokens, reads")


def test_what_init_writes_runs(tmp_path: Path, server: ReplayServer) -> None:
    assert command(tmp_path, "init").status == 0
    checked = command(tmp_path, "check", "swarm.yaml", "--set", f"server={{attach: '{server.url}'}}")
    assert checked.status == 0, checked.err
    done = run(tmp_path, "swarm.yaml", "--attach", server.url, "--set", "turns=4")
    assert done.status == 0, done.err
    assert {turn.behaviour for turn in done.turns} == {"my_agent"}
    again = command(tmp_path, "check", "out/scenario.yaml")
    assert again.status == 0, again.err


# -- plain Locust


def test_workers_load_the_file_too(tmp_path: Path, server: ReplayServer) -> None:
    """The master by its option; a worker, in another folder, by the variable and its own copy."""
    masters, workers = tmp_path / "master", tmp_path / "worker"
    for folder in (masters, workers):
        folder.mkdir()
        (folder / "review.py").write_text(guide("review.py"))
    rest = f"server: {{attach: '{server.url}'}}\nswarm: {{r: {{behaviour: review, with: {{reads: 2}}}}}}"
    (masters / "s.yaml").write_text(SCENARIO.format(turns=4, rest=rest))
    port = str(ports.free_ports(1))
    locust = [str(BIN / "locust"), "-f", str(ROOT / "locustfiles" / "coding_agents.py")]
    master = ["--headless", "--master", "--expect-workers", "1", "--master-bind-host", "127.0.0.1"]
    given = ["--master-bind-port", port, "--scenario", "s.yaml", "--plugin", "review.py", "--shared-ok"]
    worker = ["--worker", "--master-host", "127.0.0.1", "--master-port", port]
    helper = subprocess.Popen(
        [*locust, *worker],
        cwd=workers,
        env={**os.environ, "LOCUST_AGENTS_PLUGINS": "review.py"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        done = subprocess.run(
            [*locust, *master, *given], cwd=masters, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        helper.wait(PATIENCE_S)
    finally:
        helper.kill()
        helper.wait()
    (out,) = (masters / "runs").iterdir()
    summary = json.loads((out / "summary.json").read_text())
    assert done.returncode == summary["exit_status"], done.stdout + done.stderr
    assert is_sound_run(summary)
    turns = list(run_folder.turns(out))
    assert Counter((turn.behaviour, turn.kind) for turn in turns) == {
        ("review", "first"): 1,
        ("review", "sub"): 1,
        ("review", "later"): 2,
    }
