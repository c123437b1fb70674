"""Decides the exact command line that starts one server on several ranks."""

import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from locust_agents.cluster.address import STARTING_PORT, listen_host
from locust_agents.cluster.launch_spec import LaunchSpec, Options, faults, served_model
from locust_agents.cluster.rank_script import ALONE, EXEC, LOGS, rank_script
from locust_agents.errors import ClusterError, ScenarioError

__all__ = ["LOGS", "LaunchSpec", "find_launcher", "launch_command", "plain_line", "program_command", "shell_line"]


def launch_command(
    spec: LaunchSpec, model: Path | str, port: int, starting_port: int, log_folder: Path
) -> tuple[str, ...]:
    """The argv of mlx.launch; raises ClusterError where that is not installed, ScenarioError where it cannot be said.

    The ranks take `starting_port` and those after it, one for each IP; rank 0 serves HTTP on `port`. A model given as
    text (a name on the hub, a folder of the nodes that may begin with `~`) stays as it is.
    """
    return program_command(spec, tuple(_server(spec, model, port)), starting_port, log_folder)


def program_command(spec: LaunchSpec, program: Sequence[str], starting_port: int, log_folder: Path) -> tuple[str, ...]:
    """The argv of mlx.launch for any program, the server's or another, on the ranks of this launch; raises the same."""
    if wrong := faults(spec):
        raise ScenarioError("\n".join(wrong))
    if spec.backend == "mpi" and shutil.which("mpirun") is None:
        raise ClusterError("mpirun is not on the PATH: install Open MPI, or choose the backend ring")
    script = rank_script(is_alone=spec.ranks == 1, has_folder=spec.cwd is not None)
    hosts = ("-n", str(spec.ranks))
    if spec.hostfile is not None:
        hosts = ("--hostfile", str(spec.hostfile.path.expanduser().absolute()))
    return (
        find_launcher(spec.python or sys.executable),
        *(*hosts, "--backend", spec.backend, "--starting-port", str(starting_port)),
        *("--env", f"{LOGS}={log_folder.absolute()}"),
        # python -m puts the current folder first on sys.path, where a user's mlx.py or tokenizers/ would be taken
        *("--env", "PYTHONSAFEPATH=1", "--env", "PYTHONUNBUFFERED=1"),
        *_env(spec),
        *("--", "/bin/sh", "-c", script, "sh", *((spec.cwd,) if spec.cwd is not None else ())),
        *program,
    )


def find_launcher(python: str) -> str:
    """The path of mlx.launch: beside the ranks' Python, beside ours, or on the PATH; raises ClusterError."""
    interpreters = (Path(python).expanduser(), Path(sys.executable))
    beside = (interpreter.with_name("mlx.launch") for interpreter in interpreters)
    found = next((str(path) for path in beside if path.is_file()), None) or shutil.which("mlx.launch")
    if found is None:
        raise ClusterError(
            f"mlx.launch is neither beside {python} nor on the PATH: install mlx and mlx-lm there"
            " (pip install mlx mlx-lm), or attach to a server that runs already"
        )
    return found


def shell_line(argv: tuple[str, ...]) -> str:
    """The very command, quoted for a shell: pasted there, it starts what we would start."""
    return shlex.join(argv)


def plain_line(spec: LaunchSpec, model: Path | str, port: int, starting_port: int = STARTING_PORT) -> str:
    """The same server as a person would start it by hand: without our logs, and with `~` for the shell to expand."""
    words = ["mlx.launch", *_plain_hosts(spec), "--backend", spec.backend]
    words += ["--starting-port", str(starting_port)] if starting_port != STARTING_PORT else []
    words += ["--cwd", spec.cwd] if spec.cwd is not None else []
    words += [*_env(spec), "--", *(("/bin/sh", "-c", ALONE + EXEC, "sh") if spec.ranks == 1 else ())]
    return " ".join(map(_word, [*words, *_server(spec, model, port)]))


def _plain_hosts(spec: LaunchSpec) -> tuple[str, str]:
    return ("-n", str(spec.ranks)) if spec.hostfile is None else ("--hostfile", str(spec.hostfile.path))


def _env(spec: LaunchSpec) -> Iterator[str]:
    for name, value in spec.env.items():
        yield from ("--env", f"{name}={value}")


def _server(spec: LaunchSpec, model: Path | str, port: int) -> Iterator[str]:
    yield from (spec.python or sys.executable, "-m", "mlx_lm", "server")
    yield from ("--model", served_model(model), "--host", listen_host(spec), "--port", str(port))
    rest = {name: value for name, value in spec.options.items() if name not in ("model", "host", "port")}
    yield from _flags({**rest, "pipeline": True} if spec.pipeline else rest)


def _flags(options: Options) -> Iterator[str]:
    for key, value in options.items():
        if value is None or value is False:
            continue
        yield f"--{key}"
        if value is not True:
            yield str(value)


def _word(word: str) -> str:
    if word.startswith("~/"):
        return "~/" + (shlex.quote(word[2:]) if word[2:] else "")
    return shlex.quote(word)
