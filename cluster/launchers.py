"""Decides how the two built-in launchers come to a server: by mlx.launch, or by attaching to one that runs."""

from dataclasses import dataclass
from pathlib import Path

from locust_agents.cluster import attach as attaching
from locust_agents.cluster import launching, supervisor
from locust_agents.cluster.attach import Attached
from locust_agents.cluster.benchmark import output, raw
from locust_agents.cluster.benchmark.job import Ask
from locust_agents.cluster.benchmark.output import Result
from locust_agents.cluster.launching import Launchable
from locust_agents.cluster.remote import attached_hosts
from locust_agents.cluster.remote.attached_hosts import AttachedHost
from locust_agents.cluster.supervisor import Cluster
from locust_agents.scenarios import model
from locust_agents.scenarios.model import Probe, Scenario
from locust_agents.telling import Note, Say


@dataclass(frozen=True, slots=True)
class MlxLaunch:
    """`server.launch`: starts mlx_lm.server on the ranks, after the raw benchmark where the scenario asks for one."""

    name: str = "mlx_launch"

    def start(self, scenario: Scenario, folder: Path, say: Say, note: Note, epoch: int) -> Cluster:
        """Returns when the server has answered a turn; raises ClusterError or ScenarioError, and leaves nothing then.

        The benchmark runs before the first start only: after a death there are figures already.
        """
        launch = scenario.server.launch
        assert launch is not None
        made = launching.launchable(scenario, launch, say)
        for warning in made.warnings:
            say(warning)
        benchmark = None
        if scenario.probe is not None and epoch == 1:
            benchmark = _measure(made, scenario.probe, folder, say, note)
        cluster = supervisor.start(made.spec, made.model, folder, say, note, epoch)
        cluster.benchmark = benchmark
        return cluster


@dataclass(frozen=True, slots=True)
class Attach:
    """`server.attach`: a server that somebody else started and will stop."""

    name: str = "attach"

    def start(self, scenario: Scenario, folder: Path, say: Say, note: Note, epoch: int) -> Attached:
        """Returns when somebody accepts connections there; raises ClusterError or ScenarioError."""
        del folder, epoch  # it writes nothing, and is not started again
        keys = scenario.server.attach
        assert keys is not None
        log = None if keys.log is None else Path(keys.log).expanduser()
        return attaching.attach(keys.url, say, note, log=log, hosts=hosts_of(keys), model=keys.model)


mlx_launch = MlxLaunch()
attach = Attach()


def hosts_of(keys: model.Attach) -> tuple[AttachedHost, ...]:
    """Those of its hostfile, none without one; raises ScenarioError."""
    return () if keys.hostfile is None else attached_hosts.read(Path(keys.hostfile), attaching.base_url(keys.url))


def ask_of(probe: Probe) -> Ask:
    """What the scenario's `probe:` asks of the benchmark."""
    return Ask(probe.prompt_tokens, probe.generation_tokens, probe.batch, probe.trials)


def _measure(made: Launchable, probe: Probe, folder: Path, say: Say, note: Note) -> Result:
    result = raw.run(made.spec, made.model, ask_of(probe), folder, say, note)
    say(output.described(result))
    return result
