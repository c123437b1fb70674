"""Decides how mlx_lm's own benchmark runs on the ranks that will serve, before the server takes their memory."""

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from locust_agents.cluster import ports
from locust_agents.cluster.address import fixed_ports
from locust_agents.cluster.benchmark.job import Ask, Job
from locust_agents.cluster.benchmark.output import Result
from locust_agents.cluster.command import program_command
from locust_agents.cluster.launch_spec import LaunchSpec, served_model
from locust_agents.errors import ClusterError
from locust_agents.telling import Note, Say

FOLDER = "benchmark"
"""Below the run's folder: the server's ranks write logs of the same names."""


def benchmark_command(
    spec: LaunchSpec, model: Path | str, ask: Ask, starting_port: int, log_folder: Path
) -> tuple[str, ...]:
    """The argv of mlx.launch: the ranks, Python and environment of `launch_command`, and its errors."""
    return program_command(spec, tuple(_program(spec, model, ask)), starting_port, log_folder)


def run(
    spec: LaunchSpec,
    model: Path | str,
    ask: Ask,
    folder: Path,
    say: Say,
    note: Note,
) -> Result:
    """Runs it to its end and returns its averages; raises ClusterError. Nothing of it is left either way.

    Logs and processes.json go to `benchmark/` below `folder`. Between two of its lines (loaded, warm, each trial) it
    has `spec.ready_s`.
    """
    if isinstance(model, Path) and not (model / "config.json").is_file():
        raise ClusterError(f"there is no model in {model} (no config.json): correct the model's folder")
    starting_port = _starting_port(spec)
    place = folder / FOLDER
    argv = benchmark_command(spec, model, ask, starting_port, place)
    place.mkdir(parents=True, exist_ok=True)
    job = Job(spec, place, note)
    note("benchmark", {"argv": argv, **asdict(ask)})
    try:
        job.launch(argv)
        result = job.wait(ask, say)
        job.let_end()
    finally:  # an interrupt, or the end of our greenlet, must not leave ranks behind either
        unsure = job.stop()
        if unsure:
            note("benchmark_left", {"unsure": unsure})
            say("; ".join(unsure))
    note("benchmark_result", asdict(result))
    return result


def _program(spec: LaunchSpec, model: Path | str, ask: Ask) -> Iterator[str]:
    options = spec.options
    yield from (spec.python or sys.executable, "-m", "mlx_lm", "benchmark", "--model", served_model(model))
    yield from ("-p", str(ask.prompt_tokens), "-g", str(ask.generation_tokens))
    yield from ("-b", str(ask.batch), "-n", str(ask.trials))
    if (step := options.get("prefill-step-size")) is not None:
        yield from ("--prefill-step-size", str(step))
    if spec.pipeline or options.get("pipeline"):
        yield "--pipeline"
    if options.get("trust-remote-code"):
        yield "--trust-remote-code"


def _starting_port(spec: LaunchSpec) -> int:
    fixed = fixed_ports(spec)
    return ports.free_ports(spec.ranks) if fixed is None else fixed[1]
