"""Decides what a scenario's `server.launch` asks of mlx.launch: the spec, and the model as the ranks shall read it."""

from dataclasses import dataclass
from pathlib import Path

from locust_agents.cluster import launch_spec, ports
from locust_agents.cluster.address import fixed_ports, listen_host
from locust_agents.cluster.hosts import hostfile
from locust_agents.cluster.launch_spec import LaunchSpec
from locust_agents.cluster.options import checks, model_facts
from locust_agents.cluster.situation import Situation
from locust_agents.cluster.tiny import model as tiny_model
from locust_agents.errors import ScenarioError
from locust_agents.plugins import registry
from locust_agents.scenarios.model import Launch, Scenario, Server
from locust_agents.telling import Say


@dataclass(frozen=True, slots=True)
class Launchable:
    """`model` is a folder here, or a text that each host reads for itself; `warnings` are sentences for the user."""

    spec: LaunchSpec
    model: Path | str
    warnings: tuple[str, ...]


def launchable(scenario: Scenario, launch: Launch, say: Say) -> Launchable:
    """Reads and checks what the scenario names; raises ScenarioError, one line for each mistake.

    An embedded model is built when it is not there yet.
    """
    hosts, backend, warnings = _hosts(launch)
    spec = _spec(scenario.server, launch, hosts, backend)
    model = _model(launch, spec, say)
    found = checks.check({**spec.options, "host": listen_host(spec)}, _situation(scenario, spec, model))
    if wrong := [*launch_spec.faults(spec), *found.errors]:
        raise ScenarioError("\n".join(wrong))
    return Launchable(spec, model, (*warnings, *found.warnings))


def _spec(server: Server, launch: Launch, hosts: hostfile.Hostfile | None, backend: str) -> LaunchSpec:
    is_tiny = launch.model in tiny_model.VARIANTS
    return LaunchSpec(
        model=launch.model,
        ranks=launch.ranks or (len(hosts.hosts) if hosts else 2),
        backend=backend,
        options=server.options,
        port=server.port,
        ready_s=server.ready_s,
        python=launch.python,
        # they share the client's processors, and their speed is nobody's question
        gives_way=is_tiny and not (hosts and hosts.remote),
        hostfile=hosts,
        pipeline=launch.pipeline,
        env=launch.env,
        cwd=launch.cwd,
        starting_port=launch.starting_port,
    )


def _situation(scenario: Scenario, spec: LaunchSpec, model: Path | str) -> Situation:
    entries = scenario.swarm.values()
    profiles = {entry.profile: registry.profile(entry.profile) for entry in entries}
    hosts = spec.hostfile
    return Situation(
        ranks=spec.ranks,
        pipeline=spec.pipeline,
        model=model_facts.read(model) if isinstance(model, Path) else None,
        histories=sum(entry.agents for entry in entries),
        starts=len(profiles),
        max_tokens={name: profile.max_tokens for name, profile in profiles.items()},
        is_local=hosts is None or hosts.hosts[0].is_local,
        rank_0_address=hostfile.rank_0_address(hosts) if hosts else None,
    )


def chosen_ports(spec: LaunchSpec) -> tuple[int, int]:
    """The port for HTTP and the first between ranks: the hostfile's fixed ones, else free ones; raises ClusterError."""
    fixed = fixed_ports(spec)
    if fixed is None:
        return ports.choose(spec.port, spec.ranks)
    if spec.hostfile is not None and spec.hostfile.hosts[0].is_local:
        ports.demand_free(fixed[0])
    return fixed


def _hosts(launch: Launch) -> tuple[hostfile.Hostfile | None, str, tuple[str, ...]]:
    if launch.hostfile is None:
        return None, launch.backend or "ring", ()
    here = hostfile.this_host_names()
    hosts = hostfile.demand(Path(launch.hostfile), launch.backend, here)
    backend = hostfile.backend_of(hosts, launch.backend)
    return hosts, backend, tuple(hostfile.warnings(hosts, backend, here))


def _model(launch: Launch, spec: LaunchSpec, say: Say) -> Path | str:
    if launch.model in tiny_model.VARIANTS:
        return tiny_model.ensure(launch.model, say)
    if spec.hostfile is not None and spec.hostfile.remote:
        return launch.model
    return Path(launch.model).expanduser()
