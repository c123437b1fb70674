"""Launchers come through one door: the two built in, and one of a package that this test installs for itself."""

import importlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from locust_agents.cluster import launchers, launching, supervisor
from locust_agents.cluster.benchmark import raw
from locust_agents.cluster.benchmark.job import Ask
from locust_agents.cluster.benchmark.output import Result
from locust_agents.cluster.launch_spec import LaunchSpec
from locust_agents.errors import ClusterError, PluginError, ScenarioError
from locust_agents.locustfiles import backend
from locust_agents.plugins import registry
from locust_agents.scenarios import loader
from locust_agents.scenarios.model import Probe, Scenario

SWARM = "swarm: {a: {behaviour: b}}\n"
OTHER = """
from locust_agents.errors import ClusterError

CALLS = []

class Running:
    model = "org/model"

    def __init__(self, url, epoch):
        self.url, self.epoch = url, epoch

    def failure(self):
        return CALLS[-1] if CALLS else None

    def stop(self):
        CALLS.append("stopped")
        return []

class Broken(Running):
    def failure(self):
        raise KeyError("pid")

    stop = failure

class Llama:
    name = "llama_cpp"

    def start(self, scenario, folder, say, note, epoch):
        how = scenario.server.parameters.get("how")
        say(f"starting {how} below {folder.name}")
        note("launch", {"epoch": epoch})
        if how == "refuses":
            raise ClusterError("no llama-server on the PATH: install it")
        if how == "faults":
            return 1 / 0
        return (Broken if how == "broken" else Running)("http://127.0.0.1:9/", epoch)
"""


@pytest.fixture
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A package with a launcher, installed as far as Python can tell."""
    site = tmp_path / "site"
    info = site / "other_launchers-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "other_launchers.py").write_text(OTHER)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-launchers\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[locust_agents.launchers]\nllama_cpp = other_launchers:Llama\n")
    monkeypatch.syspath_prepend(str(site))
    registry.installed_launchers.cache_clear()
    yield importlib.import_module("other_launchers")
    del sys.modules["other_launchers"]
    monkeypatch.undo()
    registry.installed_launchers.cache_clear()


def scenario(server: str, rest: str = "") -> Scenario:
    return loader.parse(SWARM + f"server: {server}\n{rest}", "s.yaml", {"b": {}}, ["opencode"])


def start(chosen: Scenario, folder: Path, epoch: int = 1) -> tuple[backend.Backend, list[str]]:
    said: list[str] = []
    return backend.start(chosen, folder, said.append, lambda *_: None, epoch), said


def test_the_built_in_ones_come_through_the_door() -> None:
    found = registry.installed_launchers()
    assert (found.found["mlx_launch"], found.found["attach"]) == (launchers.mlx_launch, launchers.attach)
    assert {found.origins[name] for name in ("mlx_launch", "attach")} == {"locust-agents"}


@pytest.mark.parametrize(
    ("server", "name"),
    [("{launch: {}}", "mlx_launch"), ("{attach: mac1}", "attach"), ("{launcher: llama_cpp}", "llama_cpp")],
)
def test_which_launcher_a_scenario_picks(server: str, name: str) -> None:
    assert backend.launcher_of(scenario(server).server) == name


def test_another_package_starts_another_server(other: Any, tmp_path: Path) -> None:
    running, said = start(scenario("{launcher: llama_cpp, with: {how: well}}"), tmp_path / "run", epoch=2)
    assert said == ["starting well below run"]
    assert (running.url, running.epoch, running.model) == ("http://127.0.0.1:9", 2, "org/model")
    assert (running.failure(), running.hosts(), running.logs(), running.processes()) == (None, [], {}, [])
    assert (running.runs(), running.log_tail(0), running.benchmark, running.ranks) == ({}, (), None, None)
    assert running.stop() == []
    assert running.failure() == "stopped"


def test_its_error_is_its_own_and_its_fault_is_told_with_its_name(other: Any, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"^no llama-server on the PATH: install it$"):
        start(scenario("{launcher: llama_cpp, with: {how: refuses}}"), tmp_path)
    with pytest.raises(PluginError, match=r"^launcher llama_cpp: ZeroDivisionError: division by zero$"):
        start(scenario("{launcher: llama_cpp, with: {how: faults}}"), tmp_path)


def test_a_fault_while_it_runs_ends_the_run_and_does_not_stop_the_stopping(other: Any, tmp_path: Path) -> None:
    running, _ = start(scenario("{launcher: llama_cpp, with: {how: broken}}"), tmp_path)
    assert running.failure() == "launcher llama_cpp cannot tell whether its server lives: KeyError: 'pid'"
    assert running.stop() == ["launcher llama_cpp may have left its server running: KeyError: 'pid'"]


def test_a_name_that_nobody_has(other: Any, tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="no launcher is called 'llama'; there are attach, llama_cpp, mlx_launch"):
        start(scenario("{launcher: llama}"), tmp_path)
    with pytest.raises(ScenarioError, match=r"s.yaml:2:20: server.launcher: no .* 'llama'; did you mean 'llama_cpp'"):
        loader.parse(SWARM + "server: {launcher: llama}", "s.yaml", {"b": {}}, ["opencode"], (), registry.launchers())


# -- the benchmark that mlx_launch may run first

RESULT = Result(3000.0, 90.0, 41.0)


class Started:
    """What stands in for a cluster."""

    benchmark: Result | None = None


@pytest.mark.parametrize(
    ("probe", "epoch", "wanted"),
    [
        pytest.param("", 1, [], id="not asked for"),
        pytest.param("probe: mlx_lm_benchmark", 1, [Ask()], id="before the first start"),
        pytest.param("probe: {prompt_tokens: 64, trials: 1}", 1, [Ask(64, 128, 1, 1)], id="as it is asked"),
        pytest.param("probe: mlx_lm_benchmark", 2, [], id="not again after a death"),
    ],
)
def test_the_benchmark_goes_before_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, probe: str, epoch: int, wanted: list[Ask]
) -> None:
    done: list[Any] = []

    def run(spec: object, model: object, ask: Ask, folder: Path, say: Any, note: Any) -> Result:
        done.append((spec, model, folder, ask))
        return RESULT

    def start_server(spec: object, model: object, folder: Path, say: Any, note: Any, epoch: int) -> Started:
        done.append((spec, model, folder, epoch))
        return Started()

    monkeypatch.setattr(raw, "run", run)
    monkeypatch.setattr(supervisor, "start", start_server)
    made = launching.Launchable(LaunchSpec("m"), "m", ("a warning",))
    monkeypatch.setattr(launching, "launchable", lambda *_: made)
    said: list[str] = []
    launch = scenario("{launch: {model: m}}", probe)
    server = launchers.mlx_launch.start(launch, tmp_path, said.append, _ignore, epoch)
    *asked, (*server_of, at_epoch) = done
    assert [ask for *_, ask in asked] == wanted
    assert all(one[:3] == tuple(server_of) for one in asked), "the same launch, model and folder"
    assert at_epoch == epoch
    assert server.benchmark == (RESULT if wanted else None)
    words = ["raw benchmark: prefill 3.0k tok/s, decode 90 tok/s, peak 41 GB on rank 0"] if wanted else []
    assert said == ["a warning", *words]


def _ignore(event: str, fields: Mapping[str, Any]) -> None:
    del event, fields


def test_the_keys_of_the_scenario_have_the_benchmark_s_own_defaults() -> None:
    assert launchers.ask_of(Probe()) == Ask()
