"""Decides the exact command line that starts one server on several ranks."""

import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from locust_agents.errors import ClusterError

LOGS = "LOCUST_AGENTS_LOGS"
"""The environment variable that tells each rank in which folder its log lies."""

RANK_SCRIPT = f'exec >"${LOGS}/rank-$MLX_RANK.log" 2>&1; echo "pid $$"; exec "$@"'
"""Gives a rank a log of its own: mlx.launch merges what all ranks say, unlabelled. The pid stays the server's."""

ALONE = "unset MLX_HOSTFILE; "
"""For one rank mlx.launch (0.32.4) names a hostfile that is empty, over which the ring backend fails."""


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """What a scenario says of the server that it wants; without a port a free one is taken.

    `gives_way` is for ranks that share the client's machine and whose own speed is of no interest.
    """

    model: str
    ranks: int = 2
    backend: str = "ring"
    options: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)
    port: int | None = None
    ready_s: float = 900.0
    python: str = field(default_factory=lambda: sys.executable)
    gives_way: bool = False


def launch_command(
    spec: LaunchSpec, model_folder: Path, port: int, starting_port: int, log_folder: Path
) -> tuple[str, ...]:
    """The argv of mlx.launch; raises ClusterError where that is not installed.

    The ranks take `starting_port` and those after it, one each; rank 0 serves HTTP on `port`.
    """
    script = ALONE + RANK_SCRIPT if spec.ranks == 1 else RANK_SCRIPT
    return (
        find_launcher(spec.python),
        *("-n", str(spec.ranks), "--backend", spec.backend, "--starting-port", str(starting_port)),
        *("--env", f"{LOGS}={log_folder.absolute()}"),
        # python -m puts the current folder first on sys.path, where a user's mlx.py or tokenizers/ would be taken
        *("--env", "PYTHONSAFEPATH=1", "--env", "PYTHONUNBUFFERED=1"),
        *("--", "/bin/sh", "-c", script, "sh", spec.python, "-m", "mlx_lm", "server"),
        *_flags(spec.options),
        # argparse takes the last of two: these three are ours to say
        *("--model", str(model_folder.absolute()), "--host", "127.0.0.1", "--port", str(port)),
    )


def find_launcher(python: str) -> str:
    """The path of mlx.launch: beside the ranks' Python, beside ours, or on the PATH; raises ClusterError."""
    beside = (Path(interpreter).with_name("mlx.launch") for interpreter in (python, sys.executable))
    found = next((str(path) for path in beside if path.is_file()), None) or shutil.which("mlx.launch")
    if found is None:
        raise ClusterError(
            f"mlx.launch is neither beside {python} nor on the PATH: install mlx and mlx-lm there"
            " (pip install mlx mlx-lm), or attach to a server that runs already"
        )
    return found


def _flags(options: Mapping[str, str | int | float | bool | None]) -> Iterator[str]:
    for key, value in options.items():
        if value is None or value is False:
            continue
        yield f"--{key}"
        if value is not True:
            yield str(value)
